import type Joi from 'joi';
import type { ConfigMistake, RawSettings, SettingPath } from './files.js';
import { closest } from '../core/closest.js';
import { isRecord } from '../core/records.js';

/** The exit code of a process that cannot start because of its settings (`EX_CONFIG` of sysexits). */
export const CONFIG_EXIT_CODE = 78;

/** A name that YAML files give to what another group brings; `files.ts` reads none. */
export const MERGE_KEY = '<<';

/** Everything that is wrong with the settings, at once. The message is for people and quotes no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly ConfigMistake[];

  constructor(mistakes: readonly ConfigMistake[]) {
    const count = mistakes.length === 1 ? 'is 1 mistake' : `are ${mistakes.length} mistakes`;
    const sorted = mistakes.toSorted(byPlace);
    super(
      [
        `There ${count} in the settings:`,
        ...sorted.map((mistake) => `  ${describeMistake(mistake)}`),
      ].join('\n'),
    );
    this.mistakes = sorted;
  }
}

/**
 * Drops what only follows: a group with a misspelled member also lacks the member that was meant, and one with a merge key
 * lacks what that would bring.
 */
export function foremost(
  details: readonly Joi.ValidationErrorItem[],
  mistakes: readonly ConfigMistake[],
): Joi.ValidationErrorItem[] {
  const isBelow = (path: SettingPath, above: SettingPath): boolean =>
    path.length > above.length && samePath(path.slice(0, above.length), above);
  return details.filter(({ type, path }) => {
    if (type === 'object.missing') return !details.some((other) => isBelow(other.path, path));
    if (type !== 'any.required') return true;
    const group = path.slice(0, -1);
    const name = String(path.at(-1));
    const isMeant = (other: Joi.ValidationErrorItem): boolean =>
      other.type === 'object.unknown' &&
      samePath(other.path.slice(0, -1), group) &&
      closest(String(other.path.at(-1)), [name]) !== undefined;
    const merge = [...group, MERGE_KEY];
    return !mistakes.some((other) => samePath(other.path, merge)) && !details.some(isMeant);
  });
}

/** Mistakes in the order they are found, one per setting: what follows from the first is not news. */
export class MistakeList {
  readonly #raw: RawSettings;
  readonly all: ConfigMistake[];

  constructor(raw: RawSettings) {
    this.#raw = raw;
    this.all = [...raw.mistakes];
  }

  add(path: SettingPath, message: string): void {
    if (this.all.some((mistake) => mistake.path.length > 0 && samePath(mistake.path, path))) return;
    this.all.push({ where: this.#raw.whereIs(path), path, message });
  }

  /** Like `add`, for mistakes that one setting may have several of. */
  addMore(path: SettingPath, message: string): void {
    this.all.push({ where: this.#raw.whereIs(path), path, message });
  }

  whereIs(path: SettingPath): string {
    return this.#raw.whereIs(path);
  }

  /** The members of `path` that have mistakes. */
  namesBelow(path: SettingPath): ReadonlySet<unknown> {
    const below = this.all.filter((mistake) => samePath(mistake.path.slice(0, path.length), path));
    return new Set(below.map((mistake) => mistake.path[path.length]));
  }
}

function samePath(a: SettingPath, b: SettingPath): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** Says where a name was used before; looks at what was written, since the schema drops what it refuses. */
export function checkDuplicates(
  raw: unknown,
  list: string,
  key: string,
  mistakes: MistakeList,
): void {
  if (!Array.isArray(raw)) return;
  const first = new Map<string, number>();
  for (const [index, item] of (raw as unknown[]).entries()) {
    const name = isRecord(item) ? item[key] : undefined;
    if (typeof name !== 'string') continue;
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    else {
      const where = mistakes.whereIs([list, before, key]);
      mistakes.add([list, index, key], `"${name}" exists already (${where}); names must be unique`);
    }
  }
}

/** By file, then by line; what was written in no file comes last, and what was written nowhere comes first. */
function byPlace(one: ConfigMistake, other: ConfigMistake): number {
  const place = ({ where }: ConfigMistake): readonly [file: string, line: number] => {
    const [, file = where, line = '0'] = /^(.*):(\d+)$/s.exec(where) ?? [];
    return [file.startsWith('environment ') ? `\uffff${file}` : file, Number(line)];
  };
  const [file, line] = place(one);
  const [otherFile, otherLine] = place(other);
  return file === otherFile ? line - otherLine : file < otherFile ? -1 : 1;
}

/** Where a mistake is, and what it is, on one line. */
export function describeMistake({ where, path, message }: ConfigMistake): string {
  return [where, settingName(path), message].filter((part) => part !== '').join(': ');
}

/** A mistake as scripts read it. */
export function mistakeWire({ where, path, message }: ConfigMistake) {
  const [, file = where, line] = /^(.*):(\d+)$/s.exec(where) ?? [];
  const [, variable] = /^environment (\w+)$/.exec(where) ?? [];
  const place = line === undefined ? { file } : { file, line: Number(line) };
  return {
    ...(variable === undefined ? place : { variable }),
    ...{ path: settingName(path), message },
  };
}

function settingName(path: SettingPath): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`,
    '',
  );
}
