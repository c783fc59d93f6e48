const MASK = '[secret]';

/** A value that cannot be printed by accident: string conversion, JSON and inspection all show a mask. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where the bytes leave the process. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return MASK;
  }
}

/**
 * Keys of this gateway and of most providers, and access tokens; in JSON too, where a line break ends in a letter. Names like
 * `sk-reranker-v2` have no sixteen letters and digits in a row. After a hyphen or an underscore only what looks like this
 * gateway's own, and after a letter or a digit, as in `key%3Dsk-…`, only what has exactly its length.
 */
const KEYS =
  /(?:(?<![\w-])|(?<=\\[bfnrt]))(?:(?:sk|at)-(?=[\w-]*[A-Za-z0-9]{16})[\w-]+|at-[\w-]{40,})|(?<=[-_])(?:sk-[A-Za-z0-9]{16}[\w-]*|at-[\w-]{43}(?![\w-]))|(?<=[A-Za-z0-9])(?:sk-[A-Za-z0-9]{48}|at-(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}\d)[\w-]{43})(?![\w-])/g;
const SHOWN_CHARACTERS = 7;

/**
 * A text without the API keys and access tokens that somebody has pasted into it: of each, only its beginning is left. Everything
 * that callers write passes here before it is logged or kept.
 */
export function withoutKeys(text: string): string {
  if (!text.includes('sk-') && !text.includes('at-')) return text;
  return text.replace(KEYS, (key) => `${key.slice(0, SHOWN_CHARACTERS)}…`);
}
