import type { Command } from 'commander';
import { csvOf, csvRows } from '../core/csv.js';
import { dollars } from '../core/quota.js';
import { isRecord } from '../core/records.js';
import { NEVER_EXPIRES } from '../core/token.js';
import { UsageError } from './errors.js';
import { coloured, cut, fittingWidths, GAP, NARROWEST, relative, wrapped } from './terminal.js';
import { amount, moment, withoutControls } from './text.js';
import { listOf } from './values.js';

/** A cell of a list. A moment (in unix seconds) and an amount look different to people, in a pipe and in CSV. */
export type Cell =
  | string
  | number
  | null
  | { readonly at: number; readonly none?: string }
  | { readonly units: number };

/** The columns of a list, by the names that --fields takes. */
export type Columns<T> = Readonly<Record<string, (row: T) => Cell>>;

/** A list that is printed. */
export interface Listed<T> {
  readonly columns: Columns<T>;
  readonly rows: readonly T[];
  /** What it says if there are no rows. */
  readonly none: string;
  /** What --json prints; --fields chooses members of its entries. */
  readonly json: object;
  /** Where the entries are in that, if not in `items`. */
  readonly entries?: string;
  /** How long the whole list is, and where this part of it begins. */
  readonly part?: { readonly total: number; readonly offset: number };
  /** A line below the table. */
  readonly below?: string;
  /** A last row, which CSV has not. */
  readonly sum?: T;
  /** One column without a heading: lines that a script reads. */
  readonly isPlain?: true;
  /** Columns that are shown on request, and in CSV. */
  readonly extra?: readonly string[];
}

/** A page of a list, whose entries are its rows. */
export function pageAsRows<T>(
  { items, total }: { readonly items: readonly T[]; readonly total: number },
  { offset }: { readonly offset: number },
): Pick<Listed<T>, 'rows' | 'json' | 'part'> {
  return { rows: items, json: { items, total }, part: { total, offset } };
}

/** Where it is printed. */
export interface Screen {
  readonly now: () => number;
  readonly writeOut: (text: string) => void;
  /** The terminal that standard output is; absent in a pipe or a file. */
  readonly terminal?: { readonly columns: number } | undefined;
  /** Whether to write in colour. */
  readonly colour?: boolean;
}

interface ListingOptions {
  readonly json?: boolean;
  readonly fields?: readonly string[];
  readonly csv?: true;
}

/** Adds the options that every list has. */
export function asList(command: Command, columns: Columns<never>): Command {
  return command
    .option(
      '--fields <names>',
      `only these, in this order: ${Object.keys(columns).join(', ')}; with --json, members of its entries`,
      listOf,
    )
    .option('--csv', 'print CSV, with times in ISO 8601 and amounts in units');
}

/** Prints lists in the form that the command asks for. */
export function listing(io: Screen, options: ListingOptions) {
  const { json, csv, fields } = oneForm(options);
  return async <T>(list: Listed<T>): Promise<void> => {
    if (json === true) {
      io.writeOut(
        `${JSON.stringify(withFields(list.json, list.entries ?? 'items', fields), null, 2)}\n`,
      );
      return;
    }
    const { columns, rows, extra = [] } = list;
    const known = Object.keys(columns);
    const usual = csv === true ? known : known.filter((name) => !extra.includes(name));
    const names = fields === undefined ? usual : checked(fields, known);
    const cells = (row: T): Cell[] => names.map((name) => columns[name]?.(row) ?? null);
    if (csv === true) {
      io.writeOut(
        csvOf(
          names,
          rows.map((row) => cells(row).map(plain)),
        ),
      );
      return;
    }
    if (list.isPlain === true && rows.length > 0) {
      io.writeOut(rows.map((row) => `${cells(row).map(plain).join('  ')}\n`).join(''));
      return;
    }
    const shown = list.sum === undefined ? rows : [...rows, list.sum];
    const text =
      rows.length === 0 ? list.none : await tableOf(io, names, shown.map(cells), list.part);
    io.writeOut(`${list.below === undefined ? text : `${text}\n${list.below}`}\n`);
  };
}

/** Prints rows as they come, one line each; JSON has one object a line. */
export function streaming(io: Screen, options: ListingOptions) {
  const { json, csv, fields } = oneForm(options);
  return <T extends object>(columns: Columns<T>): ((rows: readonly T[]) => void) => {
    const names = fields ?? Object.keys(columns);
    if (json !== true) checked(names, Object.keys(columns));
    const cells = (row: T): (string | number | null)[] =>
      names.map((name) => plain(columns[name]?.(row) ?? null));
    if (csv === true) io.writeOut(csvOf(names, []));
    const widths = names.map(() => 0);
    const line = (row: T): string =>
      cells(row)
        .map((cell, at) => {
          const text = withoutControls(String(cell ?? ''));
          // A column is as wide as what it has had to show so far.
          const width = (widths[at] = Math.max(widths[at] ?? 0, text.length));
          const isLast = at === names.length - 1;
          const shown = io.colour === true ? coloured(names[at] ?? '', text, false) : text;
          return isLast ? shown : shown + ' '.repeat(width - text.length);
        })
        .join('  ');
    return (rows) => {
      if (json === true) {
        const { items } = withFields({ items: rows }, 'items', fields) as { items: readonly T[] };
        for (const row of items) io.writeOut(`${JSON.stringify(row)}\n`);
      } else if (csv === true) io.writeOut(csvRows(rows.map(cells)));
      else for (const row of rows) io.writeOut(`${line(row)}\n`);
    };
  };
}

function oneForm(options: ListingOptions): ListingOptions {
  if (options.json === true && options.csv === true) throw new UsageError('Give --json or --csv.');
  return options;
}

/** The names, if all exist. */
function checked(fields: readonly string[], known: readonly string[]): readonly string[] {
  const wrong = fields.find((name) => !known.includes(name));
  if (wrong === undefined) return fields;
  throw new UsageError(`There is no field "${wrong}". The fields are ${known.join(', ')}.`);
}

/** JSON whose entries have these members alone. */
function withFields(json: object, name: string, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return json;
  const whole = json as Readonly<Record<string, unknown>>;
  const entries: unknown = Array.isArray(json) ? json : whole[name];
  if (!Array.isArray(entries) || !entries.every(isRecord)) {
    throw new UsageError(
      'Leave out --fields or --json: this is not a list of entries with members.',
    );
  }
  const known = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
  if (entries.length > 0) checked(fields, known);
  const chosen = entries.map((entry) =>
    Object.fromEntries(fields.map((field) => [field, entry[field] ?? null])),
  );
  return Array.isArray(json) ? chosen : { ...whole, [name]: chosen };
}

/** A cell as programs read it. */
function plain(cell: Cell): string | number | null {
  if (cell === null || typeof cell !== 'object') return cell;
  if ('units' in cell) return cell.units;
  return cell.none ?? moment(cell.at);
}

/** A table as scripts have always read it, and on a terminal one that fits. */
async function tableOf(
  io: Screen,
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  part: Listed<unknown>['part'],
): Promise<string> {
  const { terminal, colour = false } = io;
  const heading = names.map((name) => name.replaceAll('-', ' ').toUpperCase());
  const text = (cell: Cell, isShort: boolean): string => {
    if (cell === null) return '';
    if (typeof cell !== 'object') return String(cell);
    if ('units' in cell) return isShort ? dollars(cell.units) : amount(cell.units);
    if (cell.none !== undefined) return cell.none;
    const isRelative = terminal !== undefined && cell.at !== NEVER_EXPIRES;
    return isRelative ? relative(cell.at, io.now()) : moment(cell.at);
  };
  const texts = (isShort: boolean): string[][] =>
    rows.map((row) => row.map((cell) => text(cell, isShort)));
  const widthOf = await widthIn(io);
  const natural = (lines: Lines): number[] => naturalWidths(lines, widthOf);
  const room = terminal?.columns ?? Infinity;
  const full = [heading, ...texts(false).map((row) => row.map(withoutControls))];
  const isWide = natural(full).reduce((sum, width) => sum + width + GAP, -GAP) > room;
  const lines = isWide ? [heading, ...texts(true).map((row) => row.map(withoutControls))] : full;
  const widths = fittingWidths(natural(lines), room, names);
  const drawn = draw(lines, widths, { names, colour, widthOf });
  const hidden = names.filter((_, at) => widths[at] === undefined);
  if (hidden.length > 0) drawn.push(`Too wide to show: ${hidden.join(', ')}; see --fields.`);
  const { total, offset } = part ?? { total: rows.length, offset: 0 };
  if (total > offset + rows.length) drawn.push(`${rows.length} of ${total}; see --offset.`);
  return drawn.join('\n');
}

/**
 * A table of a few rows, such as the attempts of a request. On a terminal it fits, and nothing of its last column is cut: that
 * goes on in the next line.
 */
export async function fitted(
  io: Pick<Screen, 'terminal' | 'colour'>,
  heading: readonly string[],
  rows: Lines,
): Promise<string> {
  const { terminal, colour = false } = io;
  const widthOf = await widthIn(io);
  const lines = [heading, ...rows.map((row) => row.map(withoutControls))];
  const natural = naturalWidths(lines, widthOf);
  const longest = natural.pop() ?? 0;
  const room = terminal?.columns ?? Infinity;
  const names = heading.map((name) => name.toLowerCase());
  const others = fittingWidths(
    natural,
    Math.max(room - GAP - Math.min(longest, LAST_COLUMN), room / 2),
    names,
  );
  const taken = others.reduce<number>(
    (sum, width) => sum + (width === undefined ? 0 : width + GAP),
    0,
  );
  const left = Math.max(room - taken, NARROWEST);
  const folded = lines.flatMap((line) => {
    const cells = line.slice(0, others.length);
    const last = wrapped(line.at(-1) ?? '', left, widthOf);
    return last.map((part, at) => [...cells.map((cell) => (at === 0 ? cell : '')), part]);
  });
  const drawn = draw(folded, [...others, left], { names, colour, widthOf });
  const hidden = names.filter((_, at) => at < others.length && others[at] === undefined);
  if (hidden.length > 0) drawn.push(`Too wide to show: ${hidden.join(', ')}; see --json.`);
  return drawn.join('\n');
}

/** How wide texts are: a script counts letters, as it always has. */
async function widthIn({ terminal, colour = false }: Pick<Screen, 'terminal' | 'colour'>) {
  if (terminal === undefined && !colour) return ({ length }: string): number => length;
  return (await import('string-width')).default;
}

type Lines = readonly (readonly string[])[];

/** What the last column of a table keeps when the others shrink. */
const LAST_COLUMN = 30;

function naturalWidths(lines: Lines, widthOf: (text: string) => number): number[] {
  return (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => widthOf(line[at] ?? ''))));
}

interface Drawing {
  readonly names: readonly string[];
  readonly colour: boolean;
  readonly widthOf: (text: string) => number;
}

/** Lines of cells that are as wide as their columns, without those that have no width; the first is the heading. */
function draw(
  lines: Lines,
  widths: readonly (number | undefined)[],
  { names, colour, widthOf }: Drawing,
): string[] {
  return lines.map((line, row) =>
    widths
      .flatMap((width, at) => {
        if (width === undefined) return [];
        const cell = cut(line[at] ?? '', width, widthOf);
        const padding = at === widths.length - 1 ? '' : ' '.repeat(width - widthOf(cell));
        return [(colour ? coloured(names[at] ?? '', cell, row === 0) : cell) + padding];
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}
