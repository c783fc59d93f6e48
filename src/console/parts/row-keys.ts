import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { settings } from '../settings.js';
import { hasModifier, isTyping, usePageKeys } from './keys.js';

type Id = string | number;

/** What of a table keys need to know. */
export interface RowsProps<T> {
  readonly rows: readonly T[];
  readonly idOf: (row: T) => Id;
  readonly onOpen?: (row: T) => void;
  readonly openId?: Id | undefined;
  readonly selection?: {
    readonly ids: ReadonlySet<Id>;
    readonly onChange: (ids: ReadonlySet<Id>) => void;
  };
  /** Takes the filter of a cell that is clicked with Alt. */
  readonly onFilter?: (filter: Readonly<Record<string, string>>) => void;
}

/** The row to which a key moves, as a step; 0 if it moves to none. */
function stepOf({ key, target }: KeyboardEvent, letters: boolean): -1 | 0 | 1 {
  // Arrows pick one of a group of radio buttons.
  const arrows = !(target instanceof HTMLInputElement && target.type === 'radio');
  if ((arrows && key === 'ArrowDown') || (letters && key === 'j')) return 1;
  return (arrows && key === 'ArrowUp') || (letters && key === 'k') ? -1 : 0;
}

/** The keys of a table; returns what a row tells that gets the focus. */
export function useRowKeys<T>(
  { rows, idOf, openId, onOpen, selection, onFilter }: RowsProps<T>,
  body: RefObject<HTMLTableSectionElement | null>,
  toggle: (id: Id) => void,
): (id: Id, index: number) => void {
  // Its id, because rows that come and go move it.
  const at = useRef<{ readonly id: Id; readonly index: number }>(undefined);
  const itemAt = (index: number): HTMLElement | undefined =>
    body.current?.querySelectorAll<HTMLElement>('tr.item')[index];

  function moveBy(step: -1 | 1, event: KeyboardEvent, here: number): void {
    const open = rows.findIndex((row) => idOf(row) === openId);
    const gone = (at.current?.index ?? 0) - 1;
    const from = open >= 0 ? open : here >= 0 ? here : gone;
    const next = Math.max(0, Math.min(rows.length - 1, from + step));
    const row = rows[next];
    if (row === undefined) return;
    event.preventDefault();
    at.current = { id: idOf(row), index: next };
    if (open >= 0) onOpen?.(row);
    else itemAt(next)?.focus();
  }

  usePageKeys((event) => {
    if (isTyping(event) || hasModifier(event)) return;
    if (document.querySelector('dialog[open]:not(.drawer), [popover].menu') !== null) return;
    const { letterKeys } = settings.get();
    const here = rows.findIndex((row) => idOf(row) === at.current?.id);
    const step = stepOf(event, letterKeys);
    if (step !== 0) {
      moveBy(step, event, here);
      return;
    }
    const row = rows[here];
    if (row === undefined || !letterKeys) return;
    if (event.key === 'x' && selection !== undefined) toggle(idOf(row));
    if (event.key === '.' || (event.key === 'f' && onFilter !== undefined)) {
      event.preventDefault();
      itemAt(here)?.querySelector<HTMLElement>('[aria-haspopup]')?.click();
    }
  });
  return (id, index) => {
    at.current = { id, index };
  };
}
