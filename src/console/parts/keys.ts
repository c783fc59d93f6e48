import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Hears the keys of the whole page. They meet what is drawn: the next press may come before the frame in which effects run,
 * and would else meet the rows or the range of before.
 */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  useLayoutEffect(() => {
    latest.current = onKey;
  });
  useLayoutEffect(() => {
    const hear = (event: KeyboardEvent): void => latest.current(event);
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, []);
}

/** Inputs that a letter changes nothing in. */
const UNTYPED: ReadonlySet<string> = new Set(['radio', 'checkbox', 'button', 'submit', 'file']);

/** Whether a key goes into a field: then it is a letter of a text, or picks an option, and no command. */
export function isTyping({ target }: KeyboardEvent): boolean {
  if (target instanceof HTMLInputElement) return !UNTYPED.has(target.type);
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

type Modifiers = Pick<KeyboardEvent, 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Whether a key or button is pressed with another that gives it a meaning of the browser’s. */
export function hasModifier({ ctrlKey, metaKey, altKey }: Modifiers): boolean {
  return ctrlKey || metaKey || altKey;
}
