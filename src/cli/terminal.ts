import { styleText } from 'node:util';
import type { Environment } from '../config/files.js';

/** Whether to write in colour: FORCE_COLOR and NO_COLOR decide, otherwise only a terminal has it. */
export function wantsColour(env: Environment, isTerminal: boolean): boolean {
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return isTerminal && env.TERM !== 'dumb';
}

/** Longest first: what it takes of a unit, its name, and whether the name has a plural. */
const UNITS: readonly (readonly [seconds: number, name: string, hasPlural?: true])[] = [
  [365 * 86_400, 'year', true],
  [30 * 86_400, 'month', true],
  [86_400, 'day', true],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** A moment as people say it: "3 h ago", "in 12 days". */
export function relative(seconds: number, nowMs: number): string {
  const away = seconds - Math.floor(nowMs / 1_000);
  const size = Math.abs(away);
  const length = UNITS.find(([least]) => size >= least)?.[0] ?? 1;
  const rounded = Math.round(size / length) * length;
  // What rounds up to the next unit is one of it: "1 h ago", and not "60 min ago".
  const [unit, name, hasPlural] = UNITS.find(([least]) => rounded >= least) ?? [];
  if (unit === undefined || name === undefined) return 'now';
  const count = Math.round(size / unit);
  const span = `${count} ${name}${hasPlural === true && count > 1 ? 's' : ''}`;
  return away < 0 ? `${span} ago` : `in ${span}`;
}

/** What a state looks like, by how its text begins. */
const COLOURS: readonly (readonly ['green' | 'yellow' | 'red', RegExp])[] = [
  ['yellow', /^(live, |behind|waiting|unused)/],
  ['green', /^(live|enabled|on|ok|sent|current|accepted|2\d\d)\b/],
  ['red', /^(off|disabled|expired|exhausted|dead|silent|failed|[45]\d\d)\b/],
];
const STATES = /^(status|in-effect|switch|state|standing|outcome)$/;

/** The heading, or a cell of a column that has states, in colour; lengths are those of the plain text. */
export function coloured(field: string, text: string, isHeading: boolean): string {
  if (isHeading) return styleText('bold', text, { validateStream: false });
  const colour = STATES.test(field) ? COLOURS.find(([, one]) => one.test(text))?.[0] : undefined;
  return colour === undefined ? text : styleText(colour, text, { validateStream: false });
}

/** A column that has become as narrow as this is not made narrower, but left out. */
export const NARROWEST = 12;
export const GAP = 2;

/**
 * The widths that make columns fit: the widest shrink first, and if that is not enough, the last ones are left out
 * (`undefined`), but for the first column and for those that hold a state, which go last.
 */
export function fittingWidths(
  natural: readonly number[],
  room: number,
  names: readonly string[] = [],
): (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural];
  const shown = (): number[] => widths.filter((width) => width !== undefined);
  const sum = (): number => shown().reduce((all, width) => all + width + GAP, -GAP);
  while (shown().length > 1 && sum() > room) {
    const widest = Math.max(...shown());
    if (widest <= NARROWEST) {
      const left = [...widths.keys()].filter((at) => widths[at] !== undefined);
      const spare = left.slice(1).findLast((at) => !STATES.test(names[at] ?? '')) ?? left.at(-1);
      widths[spare ?? 0] = undefined;
      continue;
    }
    const next = Math.max(NARROWEST, ...shown().filter((width) => width < widest));
    const count = shown().filter((width) => width === widest).length;
    const less = Math.min(widest - next, Math.ceil((sum() - room) / count));
    for (const [at, width] of widths.entries()) if (width === widest) widths[at] = width - less;
  }
  return widths;
}

/** A text cut to a width, as `widthOf` measures it. */
export function cut(text: string, width: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** A text in lines of a width, 12 at least, broken between words, and within those that are longer. */
export function wrapped(text: string, width: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  for (let word of text.split(' ')) {
    if (line !== '' && widthOf(`${line} ${word}`) > width) {
      lines.push(line);
      line = '';
    }
    while (widthOf(word) > width) {
      const part = cut(word, width, widthOf).slice(0, -1);
      lines.push(part);
      word = word.slice(part.length);
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
