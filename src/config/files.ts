import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import { gluedMistake, layoutMistakes, lookalikeMistake } from './layout.js';
import { isRecord } from '../core/records.js';

export type SettingPath = readonly (string | number)[];

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
 * One YAML file, or all YAML files in a folder in the order of their names, except `*.example.yaml`.
 * @throws the error of the file system if `path` does not exist or cannot be read.
 */
export function textsOf(path: string): SettingTexts {
  return filesOf(path).map((file) => [file, readFileSync(file, 'utf8')]);
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
  for (const [file, text] of texts) {
    const reader = new FileReader(file, env, values, undefined, mistakes, variables);
    if (!reader.read(text)) emptyFiles.push(file);
  }
  const placed = new Map<string, string>();
  let written: Map<string, string> | undefined;
  // The lines of thousands of channels take more memory than all else, and only mistakes need them.
  const find = (key: string): string | undefined =>
    placed.get(key) ?? (written ??= originsOf(texts, env)).get(key);
  return {
    ...{ values, mistakes, variables, emptyFiles },
    whereIs: (setting) => {
      for (let length = setting.length; length > 0; length -= 1) {
        const where = find(pathKey(setting.slice(0, length)));
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

/** Where each setting of some files was written, by `pathKey`. */
function originsOf(texts: SettingTexts, env: Environment): Map<string, string> {
  const origins = new Map<string, string>();
  const values: Record<string, unknown> = {};
  for (const [file, text] of texts) {
    new FileReader(file, env, values, origins, [], new Set()).read(text);
  }
  return origins;
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name) && !/\.example\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

/** Turns one file into plain values and remembers the line of each. */
class FileReader {
  readonly #file: string;
  readonly #env: Environment;
  readonly #values: Record<string, unknown>;
  readonly #origins: Map<string, string> | undefined;
  readonly #mistakes: ConfigMistake[];
  readonly #variables: Set<string>;
  readonly #lines = new LineCounter();
  #document: Document | undefined;

  constructor(
    file: string,
    env: Environment,
    values: Record<string, unknown>,
    origins: Map<string, string> | undefined,
    mistakes: ConfigMistake[],
    variables: Set<string>,
  ) {
    this.#file = file;
    this.#env = env;
    this.#values = values;
    this.#origins = origins;
    this.#mistakes = mistakes;
    this.#variables = variables;
  }

  /** Whether it holds anything, right or wrong. */
  read(text: string): boolean {
    const document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    this.#document = document;
    const unreadable = text.indexOf('\uFFFD');
    if (unreadable !== -1) {
      this.#mistake(unreadable, [], 'is not UTF-8; save the file as UTF-8');
      return true;
    }
    for (const { offset, message } of layoutMistakes(document, text)) {
      this.#mistake(offset, [], message);
    }
    if (document.errors.length > 0) return true;
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) return false;
    if (!isMap(contents)) {
      const glued = isScalar(contents) ? gluedMistake(contents.value) : undefined;
      this.#mistake(0, [], glued ?? 'the file must hold settings by name, such as "server:"');
      return true;
    }
    for (const pair of contents.items) this.#readPair(pair, this.#values, []);
    return true;
  }

  #readPair(pair: Pair, into: Record<string, unknown>, path: SettingPath): void {
    const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
    const offset = (pair.key as Node | null)?.range?.[0] ?? 0;
    if (key === undefined || key === '__proto__') {
      this.#mistake(
        offset,
        path,
        'a setting must have a plain name; put a text that begins with { or [ in quotes',
      );
      return;
    }
    const lookalike = key === key.trim() ? undefined : lookalikeMistake(key);
    if (lookalike !== undefined) {
      this.#mistake(offset, path, lookalike);
      return;
    }
    if (key === '<<') {
      const message =
        'is a merge key, which is not read; repeat the settings, or give a whole value a name (&name) and refer to it (*name)';
      this.#mistake(offset, [...path, key], message);
      return;
    }
    const at = [...path, key];
    const earlier = into[key];
    const node = pair.value as Node | null;
    const grows = path.length === 0 && GROWING_LISTS.has(key);
    const first = grows && Array.isArray(earlier) ? earlier.length : 0;
    const text = isScalar(node) && node.value !== null ? node.range?.[0] : undefined;
    this.#origins?.set(pathKey(at), this.#where(text ?? offset));
    const value = this.#readNode(node, at, isRecord(earlier) ? earlier : {}, first);
    // "channels:" with nothing below it declares that there are none.
    if (value === undefined && grows) into[key] = earlier ?? [];
    else if (grows && Array.isArray(earlier) && Array.isArray(value)) {
      into[key] = [...(earlier as unknown[]), ...(value as unknown[])];
    } else if (value !== undefined) into[key] = value;
  }

  /** `earlier` is the same setting from the files before; a list is numbered from `first`. */
  #readNode(
    node: Node | null,
    path: SettingPath,
    earlier: Record<string, unknown>,
    first: number,
  ): unknown {
    const offset = node?.range?.[0] ?? 0;
    if (path.length > MAX_DEPTH) {
      this.#mistake(offset, path, 'settings are nested too deeply');
      return undefined;
    }
    if (isAlias(node)) {
      const target = this.#document === undefined ? undefined : node.resolve(this.#document);
      if (target === undefined) {
        const message =
          'refers to a value (*name) that nothing before it has named (&name); put a text that begins with * in quotes';
        this.#mistake(offset, path, message);
      }
      return this.#readNode(target ?? null, path, earlier, first);
    }
    if (isMap(node)) {
      const values = { ...earlier };
      for (const pair of node.items) this.#readPair(pair, values, path);
      return values;
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const at = [...path, first + index];
        const itemOffset = (item as Node).range?.[0] ?? offset;
        this.#origins?.set(pathKey(at), this.#where(itemOffset));
        return this.#readNode(item as Node, at, {}, 0);
      });
    }
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value !== 'string') return value ?? undefined;
    return this.#substitute(value, offset, path);
  }

  /** A value that its variables leave empty counts as a setting that is not there. */
  #substitute(text: string, offset: number, path: SettingPath): string | undefined {
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
      const message = `the environment variable ${name} is not set; set it, or write \${${name}:-default}`;
      this.#mistake(offset, path, message);
    }
    if (malformed.length > 0) {
      this.#mistake(
        offset,
        path,
        'has a ${ that does not start a variable; write ${NAME} or ${NAME:-default}, with a name of letters, digits and underscores, or $${ for a literal ${',
      );
    }
    return value === '' ? undefined : value;
  }

  #mistake(offset: number, path: SettingPath, message: string): void {
    this.#mistakes.push({ where: this.#where(offset), path, message });
  }

  #where(offset: number): string {
    return `${this.#file}:${this.#lines.linePos(offset).line}`;
  }
}

function pathKey(path: SettingPath): string {
  return JSON.stringify(path);
}
