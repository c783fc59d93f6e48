import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gluedMistake, lookalikeMistake } from './layout.js';
import { linesOf, parseYaml, pathKey, type SettingPath } from './yaml.js';
import { isRecord } from '../core/records.js';

export type { SettingPath } from './yaml.js';

/** A mistake in one setting: where it was written, its path in the file, and what would be right. */
export interface ConfigMistake {
  /** A file and line, an environment variable, or empty if it was written nowhere. */
  readonly where: string;
  readonly path: SettingPath;
  readonly message: string;
}

/** Settings as they were written, before they are checked. */
export interface RawSettings {
  readonly values: Record<string, unknown>;
  readonly mistakes: ConfigMistake[];
  /** The environment variables that values name. */
  readonly variables: ReadonlySet<string>;
  readonly emptyFiles: readonly string[];
  /** Where a setting was written, or else the nearest setting above it that was. */
  readonly whereIs: (path: SettingPath) => string;
  /** Sets one value that was not written in a file. */
  readonly put: (path: readonly string[], value: unknown, where: string) => void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Lists of these keys grow from file to file; a later file replaces every other setting. */
const GROWING_LISTS: ReadonlySet<string> = new Set(['channels', 'tags']);
const MAX_DEPTH = 32;
const VARIABLE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g;

/** Files of settings with what they hold, in the order in which they are read. */
export type SettingTexts = readonly (readonly [file: string, text: string])[];

/**
 * One YAML file, or all YAML files in a folder in the order of their names, except `*.example.yaml`. A folder without any is
 * like an empty file.
 * @throws the error of the file system if `path` does not exist or cannot be read.
 */
export function textsOf(path: string): SettingTexts {
  const files = filesOf(path);
  return files.length === 0
    ? [[path, '']]
    : files.map((file) => [file, readFileSync(file, 'utf8')]);
}

/**
 * The settings of some files.
 * `${NAME}` and `${NAME:-default}` in values stand for environment variables; `$${` is a plain `${`.
 */
export function readSettings(texts: SettingTexts, env: Environment): RawSettings {
  const mistakes: ConfigMistake[] = [];
  const values: Record<string, unknown> = {};
  const variables = new Set<string>();
  const emptyFiles: string[] = [];
  /** The last file first: what it says replaces what others say. */
  const readers: FileReader[] = [];
  for (const [file, text] of texts) {
    const reader = new FileReader(file, text, env, values, mistakes, variables);
    if (!reader.read()) emptyFiles.push(file);
    readers.unshift(reader);
  }
  const placed = new Map<string, string>();
  return {
    ...{ values, mistakes, variables, emptyFiles },
    whereIs: (setting) => {
      for (let length = setting.length; length > 0; length -= 1) {
        const path = setting.slice(0, length);
        let where = placed.get(pathKey(path));
        for (const reader of readers) where ??= reader.find(path);
        if (where !== undefined) return where;
      }
      return '';
    },
    put: (setting, value, where) => {
      let group = values;
      for (const name of setting.slice(0, -1)) {
        const inner = group[name];
        group = isRecord(inner) ? inner : (group[name] = {});
      }
      group[setting.at(-1) ?? ''] = value;
      placed.set(pathKey(setting), where);
    },
  };
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name) && !/\.example\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

/** Reads the settings of one file into those of the files before it. */
class FileReader {
  readonly #file: string;
  readonly #text: string;
  readonly #env: Environment;
  readonly #values: Record<string, unknown>;
  readonly #mistakes: ConfigMistake[];
  readonly #variables: Set<string>;
  /** How many entries the lists that grow had before this file. */
  readonly #first: Record<string, number> = {};
  #lines: ReadonlyMap<string, number> | undefined;

  constructor(
    file: string,
    text: string,
    env: Environment,
    values: Record<string, unknown>,
    mistakes: ConfigMistake[],
    variables: Set<string>,
  ) {
    this.#file = file;
    this.#text = text;
    this.#env = env;
    this.#values = values;
    this.#mistakes = mistakes;
    this.#variables = variables;
    for (const list of GROWING_LISTS) {
      const earlier = values[list];
      this.#first[list] = Array.isArray(earlier) ? earlier.length : 0;
    }
  }

  /** Whether it holds anything, right or wrong. */
  read(): boolean {
    const unreadable = this.#text.indexOf('\uFFFD');
    if (unreadable !== -1) {
      this.#misplaced(unreadable, 'is not UTF-8; save the file as UTF-8');
      return true;
    }
    const parsed = parseYaml(this.#text);
    if ('mistakes' in parsed) {
      for (const { offset, message, path } of parsed.mistakes) {
        this.#misplaced(offset, message, path);
      }
      return true;
    }
    const { value } = parsed;
    if (value === null) return false;
    if (!isRecord(value)) {
      const message =
        gluedMistake(value) ?? 'the file must hold settings by name, such as "server:"';
      this.#misplaced(0, message);
      return true;
    }
    this.#readGroup(value, this.#values, []);
    return true;
  }

  /** Where a setting was written in this file. */
  find(path: SettingPath): string | undefined {
    // The lines of thousands of channels take more memory than all else, and only mistakes need them.
    this.#lines ??= linesOf(this.#text, this.#first);
    const line = this.#lines.get(pathKey(path));
    return line === undefined ? undefined : `${this.#file}:${line}`;
  }

  #readGroup(
    group: Readonly<Record<string, unknown>>,
    into: Record<string, unknown>,
    path: SettingPath,
  ): void {
    for (const [key, value] of Object.entries(group)) {
      if (this.#isName(key, path)) this.#readSetting(key, value, into, path);
    }
  }

  #isName(key: string, path: SettingPath): boolean {
    const at = [...path, key];
    if (key === '__proto__') {
      this.#mistake(path, 'a setting must have a plain name', at);
      return false;
    }
    const lookalike = key === key.trim() ? undefined : lookalikeMistake(key);
    if (lookalike !== undefined) {
      this.#mistake(path, lookalike, at);
      return false;
    }
    if (key === '<<') {
      const message =
        'is a merge key, which is not read; repeat the settings, or give a whole value a name (&name) and refer to it (*name)';
      this.#mistake(at, message);
      return false;
    }
    return true;
  }

  #readSetting(
    key: string,
    written: unknown,
    into: Record<string, unknown>,
    path: SettingPath,
  ): void {
    const earlier = into[key];
    const grows = path.length === 0 && GROWING_LISTS.has(key);
    const first = grows ? (this.#first[key] ?? 0) : 0;
    const value = this.#readValue(written, [...path, key], isRecord(earlier) ? earlier : {}, first);
    // "channels:" with nothing below it declares that there are none.
    if (value === undefined && grows) into[key] = earlier ?? [];
    else if (grows && Array.isArray(earlier) && Array.isArray(value)) {
      into[key] = [...(earlier as unknown[]), ...(value as unknown[])];
    } else if (value !== undefined) into[key] = value;
  }

  /** `earlier` is the same setting from the files before; a list is numbered from `first`. */
  #readValue(
    value: unknown,
    path: SettingPath,
    earlier: Record<string, unknown>,
    first: number,
  ): unknown {
    if (path.length > MAX_DEPTH) {
      this.#mistake(path, 'settings are nested too deeply');
      return undefined;
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => this.#readValue(item, [...path, first + index], {}, 0));
    }
    if (isRecord(value)) {
      const values = { ...earlier };
      this.#readGroup(value, values, path);
      return values;
    }
    if (typeof value !== 'string') return value ?? undefined;
    return this.#substitute(value, path);
  }

  /** A value that its variables leave empty counts as a setting that is not there. */
  #substitute(text: string, path: SettingPath): string | undefined {
    if (!text.includes('${')) return text;
    const unset: string[] = [];
    const malformed: string[] = [];
    const substitute = (written: string, name?: string, fallback?: string): string => {
      if (written === '${') malformed.push(written);
      if (name === undefined) return '${';
      this.#variables.add(name);
      const found = this.#env[name];
      if (found !== undefined && found !== '') return found;
      if (fallback === undefined) unset.push(name);
      return fallback ?? written;
    };
    const value = text.replace(VARIABLE, substitute);
    for (const name of unset) {
      const message = `the environment variable ${name} is ${this.#env[name] === '' ? 'empty' : 'not set'}; set it, or write \${${name}:-default}`;
      this.#mistake(path, message);
    }
    if (malformed.length > 0) {
      this.#mistake(
        path,
        'has a ${ that does not start a variable; write ${NAME} or ${NAME:-default}, with a name of letters, digits and underscores, or $${ for a literal ${',
      );
    }
    return value === '' ? undefined : value;
  }

  /** A mistake at one setting, or else at the nearest one above it. */
  #mistake(path: SettingPath, message: string, at = path): void {
    let where: string | undefined;
    for (let length = at.length; length > 0 && where === undefined; length -= 1) {
      where = this.find(at.slice(0, length));
    }
    this.#mistakes.push({ where: where ?? `${this.#file}:1`, path, message });
  }

  /** A mistake so far into the text. */
  #misplaced(offset: number, message: string, path: SettingPath = []): void {
    const line = this.#text.slice(0, offset).split('\n').length;
    this.#mistakes.push({ where: `${this.#file}:${line}`, path, message });
  }
}
