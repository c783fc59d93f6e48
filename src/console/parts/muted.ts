import { MUTE_MS, mutedOf, stillMuted, type Muted } from '../lib/muted.js';
import { atom, useAtom } from '../state.js';

const KEY = 'rerank-console-muted';

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch (error) {
    console.info('nothing is kept in this browser:', error);
    return null;
  }
}

const muted = atom<Muted>(stillMuted(mutedOf(kept()), Date.now()));

function keep(next: Muted): void {
  muted.set(next);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch (error) {
    console.info('muted until the page is closed:', error);
  }
}

/** What somebody does not want to be told again today, in this browser. */
export function useMuted(): {
  readonly isMuted: (key: string) => boolean;
  readonly mute: (key: string) => void;
  readonly unmuteAll: () => void;
} {
  const now = stillMuted(useAtom(muted), Date.now());
  return {
    isMuted: (key) => Object.hasOwn(now, key),
    mute: (key) => keep({ ...now, [key]: Date.now() + MUTE_MS }),
    unmuteAll: () => keep({}),
  };
}
