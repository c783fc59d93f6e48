import { UNITS_PER_DOLLAR } from '../../core/figures.js';
import type { MEMBERS } from '../api/members.js';
import { unitsOf } from './format.js';

export type MemberKind = keyof typeof MEMBERS;
/** A row of a table of members, as forms need it. */
export type MemberRow = (typeof MEMBERS)[MemberKind][number];
export type MemberName = MemberRow['name'];
/** What is typed, by member; an empty text stands for the default. */
export type MemberTexts = Readonly<Partial<Record<MemberName, string>>>;
/** What forms and lists call a member and its values. */
export type MemberWords = Readonly<
  Record<
    MemberName,
    {
      readonly label: string;
      readonly help: string;
      readonly choices?: Readonly<Record<string, string>>;
    }
  >
>;
type MemberValue = string | number | boolean | null;
type Known = Readonly<Record<string, unknown>>;

/** The texts of the members of a thing as it is; amounts of quota in dollars. */
export function textsOf(rows: readonly MemberRow[], known: Known): MemberTexts {
  return Object.fromEntries(
    rows.map((row) => {
      const value = known[row.name];
      if (value === row.preset && row.type !== 'boolean' && row.type !== 'choice') {
        return [row.name, ''];
      }
      return [row.name, textOf(row, value)];
    }),
  );
}

function textOf({ type }: MemberRow, value: unknown): string {
  if (typeof value === 'number') return String(type === 'units' ? value / UNITS_PER_DOLLAR : value);
  return typeof value === 'boolean' || typeof value === 'string' ? String(value) : '';
}

/** What was typed as the API takes it; the default where nothing was typed. */
function valueOf(row: MemberRow, text: string): MemberValue {
  const typed = text.trim();
  if (typed === '') return row.preset;
  switch (row.type) {
    case 'boolean':
      return typed === 'true';
    case 'units':
      return unitsOf(typed);
    case 'integer':
    case 'number':
      return Number(typed);
    case 'choice':
    case 'time_zone':
    case 'labels':
      return typed;
  }
}

/** Members that differ from `known`, or from the defaults of a thing that is new. */
export function changedMembers(
  rows: readonly MemberRow[],
  texts: MemberTexts,
  known?: Known,
): Record<string, MemberValue> {
  return Object.fromEntries(
    rows
      .map((row) => ({ row, value: valueOf(row, texts[row.name] ?? '') }))
      .filter(({ row, value }) => value !== (known === undefined ? row.preset : known[row.name]))
      .map(({ row, value }) => [row.name, value]),
  );
}

/** The options of the command line that give the same members to a new thing. */
export function memberFlags(
  rows: readonly MemberRow[],
  texts: MemberTexts,
): readonly (readonly [flag: string, value: string])[] {
  const given = changedMembers(rows, texts);
  return rows.flatMap(({ name, flag }) =>
    Object.hasOwn(given, name) ? [[flag, String(given[name])] as const] : [],
  );
}
