import { useEffect, useState } from 'preact/hooks';
import { seesAll } from '../../about.js';
import { useRead } from '../../api/query.js';
import { Button } from '../../parts/buttons.js';
import { hasModifier, isTyping, usePageKeys } from '../../parts/keys.js';
import { settings } from '../../settings.js';
import { wp } from '../../words.js';

export const LIVE_MS = 3_000;
const MANY_NEW = 100;

const SCROLLED_PX = 200;

/** Rows do not move away from somebody who reads them further down. */
export function usePaused(live: boolean): {
  readonly paused: boolean;
  readonly resume: () => void;
} {
  const [paused, setPaused] = useState(false);
  useEffect(() => {
    const onScroll = (): void => setPaused(live && scrollY > SCROLLED_PX);
    onScroll();
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, [live]);
  return { paused, resume: () => scrollTo(0, 0) };
}

/** How many rows came while the list stood still. */
export function NewOnes({
  query,
  shown,
  onShow,
}: {
  readonly query: object;
  readonly shown: readonly { readonly created_at: number }[];
  readonly onShow: () => void;
}) {
  const id: 'listRequests' | 'listOwnRequests' = seesAll() ? 'listRequests' : 'listOwnRequests';
  // Those of the second of the newest row that are shown already are no news.
  const newest = shown[0]?.created_at ?? 0;
  const known = shown.filter((row) => row.created_at === newest).length;
  const since = { start_timestamp: newest, page_size: MANY_NEW, count: false };
  const { data } = useRead(id, { query: { ...query, ...since } }, { everyMs: LIVE_MS });
  const count = (data?.total ?? known) - known;
  return count <= 0 ? null : (
    <p class="newones">
      <Button kind="main" onClick={onShow}>
        {wp().requests.newOnes(count)}
      </Button>
    </p>
  );
}

/** `l` switches reading on and off. */
export function useLiveKey(toggle: () => void): void {
  usePageKeys((event) => {
    const inDialog = (event.target as Element).closest('dialog') !== null;
    if (event.key !== 'l' || inDialog || isTyping(event) || hasModifier(event)) return;
    if (settings.get().letterKeys) toggle();
  });
}
