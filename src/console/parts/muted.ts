import { MUTE_MS, mutedOf, stillMuted, type Muted } from '../lib/muted.js';
import { atom, useAtom } from '../state.js';
import { store, stored } from '../storage.js';

const KEY = 'rerank-console-muted';

const muted = atom<Muted>(stillMuted(mutedOf(stored('localStorage', KEY)), Date.now()));

function keep(next: Muted): void {
  muted.set(next);
  store('localStorage', KEY, next);
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
