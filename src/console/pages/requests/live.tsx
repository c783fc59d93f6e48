import { useEffect, useState } from 'preact/hooks';
import { seesAll } from '../../about.js';
import { useRead } from '../../api/query.js';
import { Button } from '../../parts/basic.js';
import { usePageKeys } from '../../parts/keys.js';
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
  refused,
  query,
  shown,
  onShow,
}: {
  readonly refused: boolean;
  readonly query: object;
  readonly shown: readonly { readonly created_at: number }[];
  readonly onShow: () => void;
}) {
  const admin = seesAll();
  const [log, refusals] = admin
    ? (['listUsage', 'listRefusals'] as const)
    : (['listOwnUsage', 'listOwnRefusals'] as const);
  const id: 'listOwnUsage' | 'listUsage' | 'listRefusals' | 'listOwnRefusals' = refused
    ? refusals
    : log;
  // Those of the second of the newest row that are shown already are no news.
  const newest = shown[0]?.created_at ?? 0;
  const known = shown.filter((row) => row.created_at === newest).length;
  const since = { start_timestamp: newest, p: 1, page_size: MANY_NEW, count: false };
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
    const isTyping = (event.target as Element).closest('input, textarea, select, dialog') !== null;
    if (event.key !== 'l' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (settings.get().letterKeys) toggle();
  });
}
