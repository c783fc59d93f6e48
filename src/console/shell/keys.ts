import { useRef } from 'preact/hooks';
import { seesAll } from '../about.js';
import { reread } from '../api/query.js';
import { PAGES, type Page } from '../pages.js';
import { copyText } from '../parts/buttons.js';
import { hasModifier, isTyping, usePageKeys } from '../parts/keys.js';
import { navigate } from '../router.js';
import { settings } from '../settings.js';
import { atom } from '../state.js';

export const searching = atom(false);
export const showingKeys = atom(false);

const CHORD_MS = 1_200;
/** Letters that mean the same on every page, whether or not it is there. */
const SHELL_KEYS = 'g/?ry';
/** What was pressed while the page was not there yet, which is told it once it is. */
let missed: { readonly page: Page; readonly keys: string[] } | undefined;

/** Keeps what is pressed until `coming` is there; tells `page`, which is, what was pressed before. */
export function missKeys(coming: Page | undefined, page: Page | undefined): void {
  const keys = missed !== undefined && missed.page === page ? missed.keys : [];
  missed = coming && { page: coming, keys: [] };
  for (const key of keys)
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}

/** Goes to the page of a letter, if there is one. */
function goTo(key: string, event: KeyboardEvent): void {
  const page = PAGES.find((entry) => entry.key === key && (!entry.admin || seesAll()));
  if (page === undefined) return;
  event.preventDefault();
  navigate(page.path === '' ? './' : page.path);
}

/** What letters do on every page. */
const LETTERS: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  '/': (event) => {
    event.preventDefault();
    searching.set(true);
  },
  '?': () => showingKeys.set(true),
  r: () => void reread(),
  y: () => void copyText(location.href),
  n: (event) => {
    const button = document.querySelector<HTMLElement>('[data-new]');
    if (button === null) return;
    event.preventDefault();
    button.click();
  },
};

/** Whether a letter is meant for the page, and not for a field, a dialog or the browser. */
function isCommand(event: KeyboardEvent): boolean {
  if (hasModifier(event) || event.defaultPrevented || !settings.get().letterKeys) return false;
  const isCovered = searching.get() || document.querySelector('dialog[open]') !== null;
  return !isCovered && !isTyping(event);
}

/** The keys that work on every page. */
export function useKeys(): void {
  const chordUntilMs = useRef(0);
  usePageKeys((event) => {
    const { key } = event;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
      event.preventDefault();
      searching.set(!searching.get());
      return;
    }
    if (!isCommand(event)) return;
    // When the key was pressed, not when a busy page came to hear of it.
    if (event.timeStamp < chordUntilMs.current) {
      chordUntilMs.current = 0;
      goTo(key, event);
    } else if (missed !== undefined && key.length === 1 && !SHELL_KEYS.includes(key)) {
      missed.keys.push(key);
    } else if (key === 'g') {
      chordUntilMs.current = event.timeStamp + CHORD_MS;
    } else if (Object.hasOwn(LETTERS, key)) LETTERS[key]?.(event);
  });
}
