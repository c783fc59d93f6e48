import { InvalidArgumentError, Option, type Command } from 'commander';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { own } from '../core/records.js';
import { NEVER_EXPIRES } from '../core/token.js';
import type { Slice } from '../store/store.js';
import { UsageError } from './errors.js';

const SECONDS: Readonly<Record<string, number>> = {
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 7 * 86_400,
  y: 365 * 86_400,
};

/** Quota in units, or in dollars if it ends in `usd`. */
export function units(text: string): number {
  const match = /^([+-]?)(\d[\d_]*(?:\.\d+)?)(usd)?$/i.exec(text.trim());
  const [, sign = '', digits = '', dollars] = match ?? [];
  const amount =
    Number(digits.replaceAll('_', '')) * (dollars === undefined ? 1 : UNITS_PER_DOLLAR);
  const rounded = Math.round(amount);
  // Only amounts written in dollars may need rounding, and only by the error of a double.
  if (match === null || Math.abs(rounded - amount) > 1e-6) {
    throw new InvalidArgumentError('Give whole units such as 500000, or dollars such as 1.50usd.');
  }
  return sign === '-' ? -rounded : rounded;
}

export function wholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

/** A time from now such as `30d`, a date, or `never`; in unix seconds. */
export function expiry(now: () => number): (text: string) => number {
  return (text) => {
    if (text === 'never') return NEVER_EXPIRES;
    const seconds = timeOf(text, now);
    if (seconds === undefined) {
      throw new InvalidArgumentError(
        'Give a time from now such as 12h, 30d or 1y, a date such as 2030-01-31 or 2030-01-31T12:00:00Z, or never.',
      );
    }
    return seconds;
  };
}

/** A time from now such as `30d`, or a date, in unix seconds; undefined for anything else. */
function timeOf(text: string, now: () => number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhdwy])$/.exec(text) ?? [];
  if (count !== undefined) return Math.floor(now() / 1000) + Number(count) * (SECONDS[unit] ?? 0);
  const [, day, time, zone] = DATE.exec(text) ?? [];
  // 31 February would be read as 3 March.
  if (day === undefined || !isDay(day)) return undefined;
  // A date alone begins in UTC, in which times are shown: so is a time without a zone, whatever the machine has.
  const atMs = Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text);
  return Number.isNaN(atMs) ? undefined : Math.floor(atMs / 1000);
}

/** Whatever else stands behind a date would be guessed at: `junk` as June. */
const DATE = /^(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

function isDay(day: string): boolean {
  const atMs = Date.parse(day);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day);
}

/** A span such as `12h`, in milliseconds. */
export function duration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdwy])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Give a time such as 30m, 1h or 7d.');
  return Number(count) * (SECONDS[unit] ?? 0) * 1_000;
}

/** A date, or a time before now such as `7d`; in unix seconds. */
export function past(now: () => number): (text: string) => number {
  return (text) => {
    const seconds = timeOf(text, now);
    if (seconds === undefined) {
      throw new InvalidArgumentError(
        'Give a time before now such as 12h or 7d, or a date such as 2026-01-31 or 2026-01-31T12:00:00Z.',
      );
    }
    const nowSeconds = Math.floor(now() / 1000);
    return /^\d+[mhdwy]$/.test(text) ? 2 * nowSeconds - seconds : seconds;
  };
}

/** The part of a list to show. */
export interface PageOptions {
  readonly limit: number;
  readonly offset: number;
}

const MAX_LIMIT = 1_000;

export function withPage(command: Command): Command {
  return withLimit(command).option('--offset <count>', 'how many to skip', wholeNumber, 0);
}

export function withLimit(command: Command): Command {
  return command.option('--limit <count>', `how many, ${MAX_LIMIT} at most`, wholeNumber, 100);
}

export function pageOf({ limit, offset }: PageOptions): Slice {
  if (limit >= 1 && limit <= MAX_LIMIT && offset >= 0) return { limit, offset };
  throw new UsageError(
    `--limit must be from 1 to ${MAX_LIMIT}, and --offset must not be negative.`,
  );
}

/**
 * What a list is sorted by: one of the names, the least first or, with a minus before it, the greatest first. The API's own names
 * are understood too.
 */
export function withSort(command: Command, names: Readonly<Record<string, string>>): Command {
  const choices = Object.keys(names);
  return command.addOption(
    new Option(
      '--sort <field>',
      `by ${choices.join(', ')}; --sort=-${choices[0] ?? ''}: the largest first`,
    ).argParser((text) => {
      const [, sign = '', name = ''] = /^(-?)(.*)$/.exec(text) ?? [];
      const wire = own(names, name) ?? Object.values(names).find((one) => one === name);
      if (wire !== undefined) return sign + wire;
      throw new InvalidArgumentError(`Give one of ${choices.join(', ')}, or -${choices[0] ?? ''}.`);
    }),
  );
}

/** Names separated by commas. */
export function listOf(text: string): string[] {
  return listAs(text, 'Give names separated by commas.');
}

/** Names separated by commas, or the word for no limit. */
export function listOr<W extends string>(word: W): (text: string) => string[] | W {
  return (text) => {
    const items = listAs(text, `Give names separated by commas, or ${word} for no limit.`);
    return items.length === 1 && items[0] === word ? word : items;
  };
}

/** Like `listOr`, but no limit is an empty list. */
export function listOrAny(text: string): string[] {
  const items = listOr('any')(text);
  return items === 'any' ? [] : items;
}

/** Names separated by commas, or `none`. */
export function listOrNone(text: string): string[] {
  const items = listAs(text, 'Give names separated by commas, or none.');
  return items.length === 1 && items[0] === 'none' ? [] : items;
}

/** At least one name: an empty text is an unset variable, not a wish. */
function listAs(text: string, usage: string): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidArgumentError(usage);
  return items;
}

/** `a,b=c`: the name that callers use, and the upstream's if it differs. */
export function models(text: string): Record<string, string> {
  return Object.fromEntries(
    listOf(text).map((item) => {
      const at = item.indexOf('=');
      return at < 0 ? [item, item] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
    }),
  );
}

/** `alias=model` pairs separated by commas, or `none`. */
export function aliasesOrNone(text: string): Record<string, string> {
  const usage = 'Give alias=model pairs separated by commas, or none.';
  const items = listAs(text, usage);
  if (items.length === 1 && items[0] === 'none') return {};
  return items.reduce<Record<string, string>>((before, item) => {
    if (!/^[^=]+=[^=]+$/.test(item)) throw new InvalidArgumentError(usage);
    return pair(item, before);
  }, {});
}

/** Collects `name=value` from an option that may be repeated. */
export function pair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as name=value.');
  return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1) };
}

/** The provider's spelling of a name, which may be written as in a file or as in code. */
export function nameIn(specs: Readonly<Record<string, unknown>> = {}, written: string): string {
  const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();
  return Object.keys(specs).find((name) => plain(name) === plain(written)) ?? written;
}
