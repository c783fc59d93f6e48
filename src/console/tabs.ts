/** Messages between the tabs of one browser. */
export type TabNews =
  { readonly kind: 'login'; readonly userId: number } | { readonly kind: 'logout' };

const channel = new BroadcastChannel('rerank-console');

export function tellTabs(news: TabNews): void {
  channel.postMessage(news);
}

export function hearTabs(listener: (news: TabNews) => void): () => void {
  const heard = (event: MessageEvent<TabNews>): void => listener(event.data);
  channel.addEventListener('message', heard);
  return () => channel.removeEventListener('message', heard);
}
