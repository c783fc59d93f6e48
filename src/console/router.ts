import { useEffect, useState } from 'preact/hooks';
import { atom, useAtom } from './state.js';

/** The console's root, whatever prefix a proxy adds: the address that the server wrote into the page. */
const ROOT = new URL(document.baseURI);

export interface Route {
  /** The path below the console's root, in parts: `keys/7` is `['keys', '7']`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function read(): Route {
  const below = location.pathname.slice(ROOT.pathname.length);
  const path = below
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  return { path, query: new URLSearchParams(location.search) };
}

const route = atom<Route>(read());
addEventListener('popstate', () => route.set(read()));

export function useRoute(): Route {
  return useAtom(route);
}

/** The address of a page, such as `keys?status=off`. */
export function hrefOf(to: string): string {
  return new URL(to, ROOT).pathname + new URL(to, ROOT).search;
}

/** On the way to the login and back, the part after `#` stays, which no server may see. */
export const KEEPING = { replace: true, keepFragment: true } as const;

export function navigate(to: string, { replace = false, keepFragment = false } = {}): void {
  const href = hrefOf(to);
  if (href === location.pathname + location.search) return;
  const samePage = new URL(href, ROOT).pathname === location.pathname;
  if (replace) history.replaceState(null, '', keepFragment ? href + location.hash : href);
  else history.pushState(null, '', href);
  route.set(read());
  if (!samePage) scrollTo(0, 0);
}

/** The current address with some of its query changed; empty values are removed. */
function withQuery(change: Readonly<Record<string, string | number | undefined>>): string {
  const { path, query } = route.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, String(value));
  }
  const text = next.toString();
  return path.map(encodeURIComponent).join('/') + (text === '' ? '?' : `?${text}`);
}

export function setQuery(
  change: Readonly<Record<string, string | number | undefined>>,
  options: { replace?: boolean } = {},
): void {
  const to = withQuery(change);
  navigate(to === '?' ? './' : to.replace(/\?$/, ''), options);
}

/** The address of an API operation; the API is next to the console. */
export function apiAddress(path: string): URL {
  return new URL(`../${path}`, ROOT);
}

/** The address to which callers send their requests. */
export function gatewayAddress(): string {
  return new URL('..', ROOT).href.replace(/\/$/, '');
}

/** The part of the address after `#`, which is not sent to any server. */
export function useFragment(): string {
  const [fragment, setFragment] = useState(location.hash.slice(1));
  useEffect(() => {
    const changed = (): void => setFragment(location.hash.slice(1));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return fragment;
}
