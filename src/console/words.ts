import { atom } from './state.js';
import { settings } from './settings.js';
import type { Words } from './words/en.js';
import type { PageWords } from './words/en-pages.js';

const loaded = atom<Words | undefined>(undefined);

/** The words of the current language. Loaded before anything is rendered. */
export function w(): Words {
  const words = loaded.get();
  if (words === undefined) throw new Error('the words are not there yet');
  return words;
}

export async function loadWords(): Promise<void> {
  loaded.set(
    settings.get().language === 'zh'
      ? (await import('./words/zh.js')).zh
      : (await import('./words/en.js')).en,
  );
}

let ofPages: PageWords | undefined;

/** The words that only some pages need. */
export function wp(): PageWords {
  if (ofPages === undefined) throw new Error('the words of this page are not there yet');
  return ofPages;
}

/** What the API calls a fault, in words; whatever is not such a name is words already. */
export function faultWords(kind: string): string {
  const { faultKinds } = wp();
  return (faultKinds as Readonly<Record<string, string | undefined>>)[kind] ?? kind;
}

let styles: Promise<unknown> | undefined;

/** Turns on the style sheet of the pages, which `index.html` names as disabled; resolves once it is there. */
function pageStyles(): Promise<unknown> {
  return (styles ??= new Promise((resolve, reject) => {
    const sheet = document.querySelector<HTMLLinkElement>('link[disabled]');
    if (sheet === null) throw new Error('the page names no style sheet of the pages');
    sheet.onload = resolve;
    sheet.onerror = reject;
    sheet.disabled = false;
  }));
}

/** Loads a page together with the words and styles that it needs in addition to those of the shell. */
export async function withWords<T>(page: Promise<T>): Promise<T> {
  const [loaded, words] = await Promise.all([
    page,
    settings.get().language === 'zh'
      ? import('./words/zh-pages.js').then(({ zhPages }) => zhPages)
      : import('./words/en-pages.js').then(({ enPages }) => enPages),
    pageStyles(),
  ]);
  ofPages = words;
  return loaded;
}
