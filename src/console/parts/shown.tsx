import type { ComponentChildren } from 'preact';
import { w } from '../words.js';
import type { Column } from './table.js';
import { Ago, Moment } from './values.js';

/** Something to show of a record: as a column of the list, as a fact beside it, or as both. */
export interface Shown<Row, One extends Row = Row> extends Column<Row> {
  /** How one record shows it, if not as its row does; `false`: not at all. */
  readonly fact?: ((one: One) => ComponentChildren) | false;
  readonly factOnly?: boolean;
  /** What one record calls it, if not as the column is called. */
  readonly label?: (one: One) => string;
}

/** A fact that the list has no column for. */
export function factOf<One>(title: string, fact: (one: One) => ComponentChildren): Shown<One> {
  return { title, fact, factOnly: true, cell: () => null };
}

/** A moment: its age in the list, date and time beside it; `none` is shown for a moment that there is not. */
export function momentOf<Row>(
  title: string,
  secondsOf: (row: Row) => number,
  none: string = w().never,
): Pick<Shown<Row>, 'title' | 'cell' | 'fact'> {
  const shown = (Time: typeof Ago) => (row: Row) =>
    secondsOf(row) <= 0 ? none : <Time seconds={secondsOf(row)} />;
  return { title, cell: shown(Ago), fact: shown(Moment) };
}

/** When it was created, as the last column of a list. */
export function createdOf<T extends { readonly created_time: number }>(): Shown<T> {
  return {
    ...momentOf<T>(w().created, ({ created_time: at }) => at),
    ...{ minor: true, sort: '-created_time' },
  };
}
