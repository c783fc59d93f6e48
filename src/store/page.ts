export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** An order other than the newest first. */
export interface Order<By extends string> {
  readonly by: By;
  readonly descending: boolean;
}

/** What a list can be ordered by: texts in lower case, and what has no end as infinity. */
export type OrderValues<T> = Readonly<Record<string, (item: T) => number | string>>;

/** Compares by such a value; of equal ones the newest comes first. */
export function comparing<T extends { readonly id: number }, By extends string>(
  values: Readonly<Record<By, (item: T) => number | string>>,
  { by, descending }: Order<By>,
): (one: T, other: T) => number {
  const valueOf = values[by];
  const sign = descending ? -1 : 1;
  return (one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (a === b) return other.id - one.id;
    return isBefore(a, b) ? -sign : sign;
  };
}

/** Texts are in the order of their code points, as SQLite has them; JavaScript's own has emoji before some letters. */
function isBefore(one: number | string, other: number | string): boolean {
  const areTexts = typeof one === 'string' && typeof other === 'string';
  if (!areTexts || !(LAST_UNITS.test(one) && LAST_UNITS.test(other))) return one < other;
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}

/** Halves of pairs, and the characters behind them. */
const LAST_UNITS = /[\ud800-\uffff]/;

/** A slice of a list, newest first; `offset` from 0. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}
