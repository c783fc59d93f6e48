import { encodeJson, JsonFragment } from './json.js';
import { elementRanges } from './json-elements.js';
import { mayBeginBlank, stringRanges } from './json-scan.js';

/** One document of a request that was parsed: what is ranked, and what the caller sent. */
export interface DocumentPart {
  /** The text to rank; absent where the document is an image alone. */
  readonly text?: string;
  /** An image as the caller named it: an http(s) or `data:` URL, or base64. */
  readonly image?: string;
  /** What the caller sent: a string, or the object. */
  readonly source: unknown;
}

/**
 * The documents of one request, in the caller's order. Converters take them as JSON that is spliced into a body, so that
 * the usual case (strings in, strings out) copies the caller's bytes and never makes a string of a document.
 */
export interface Documents {
  readonly count: number;
  /** UTF-8 bytes of all texts as JSON; the base of token estimates and byte limits. */
  readonly sizeBytes: number;
  /** Whether any has an image, beside its text or alone. */
  readonly hasImages: boolean;
  /** Whether any is an image alone, which nothing but a model that takes images can rank. */
  readonly hasLoneImages: boolean;
  /** A JSON array of strings. */
  texts(): JsonFragment;
  /** The text of one document; an image without text reads as the empty string. */
  text(index: number): string;
  /** A JSON array of objects, each with the text under `key`, and the image beside it where there is one. */
  objects(key?: string): JsonFragment;
  /**
   * A JSON array of elements that carry more than the text: `before`, the text as a JSON string, `after`. Both are JSON
   * that makes a value of the three.
   */
  around(before: string | ((index: number) => string), after: string): JsonFragment;
  /** A JSON array of what the caller sent: strings, and whole objects, in the caller's own kinds and bytes. */
  sources(): JsonFragment;
  /** Text and image of each document, for dialects whose parts are objects of their own. */
  parts(): readonly DocumentPart[];
  /** The document as a reply shows it: `{"text": …}` for a string, else the caller's own object. */
  echo(index: number): Buffer;
  /** Indexes of the documents with nothing but white space. */
  blanks(): readonly number[];
  /** The same documents with only those at `indexes`, numbered anew from 0. */
  pick(indexes: readonly number[]): Documents;
  /** The same documents with `text` in place of the blank ones. */
  fillBlanks(text: string): Documents;
  /** The same documents by their texts, for models that take nothing else; what the caller sent stays. */
  withoutImages(): Documents;
}

const EMPTY_ARRAY = Buffer.from('[]');

/** Documents that were sent as an array of strings and are kept as the bytes that came. */
class StringDocuments implements Documents {
  readonly count: number;
  readonly sizeBytes: number;
  readonly hasImages = false;
  readonly hasLoneImages = false;
  readonly #array: Buffer;
  readonly #mayHaveBlanks: boolean;
  #ranges: Uint32Array | undefined;

  constructor(array: Buffer, count: number, mayHaveBlanks: boolean) {
    this.#array = array;
    this.count = count;
    this.sizeBytes = array.length;
    this.#mayHaveBlanks = mayHaveBlanks;
  }

  texts(): JsonFragment {
    return new JsonFragment(this.#array);
  }

  text(index: number): string {
    return JSON.parse(this.#raw(index).toString('utf8')) as string;
  }

  objects(key = 'text'): JsonFragment {
    return wrapEach(this.count, `{${JSON.stringify(key)}:`, (index) => this.#raw(index), '}');
  }

  around(before: string | ((index: number) => string), after: string): JsonFragment {
    return wrapEach(this.count, before, (index) => this.#raw(index), after);
  }

  sources(): JsonFragment {
    return this.texts();
  }

  parts(): readonly DocumentPart[] {
    const texts = JSON.parse(this.#array.toString('utf8')) as string[];
    return texts.map((text) => ({ text, source: text }));
  }

  echo(index: number): Buffer {
    return Buffer.concat([Buffer.from('{"text":'), this.#raw(index), Buffer.from('}')]);
  }

  blanks(): readonly number[] {
    const blanks: number[] = [];
    if (!this.#mayHaveBlanks) return blanks;
    const ranges = this.#located();
    for (let index = 0; index < this.count; index += 1) {
      const first = this.#array[(ranges[index * 2] ?? 0) + 1] ?? 0;
      if (mayBeginBlank(first) && this.text(index).trim() === '') blanks.push(index);
    }
    return blanks;
  }

  pick(indexes: readonly number[]): Documents {
    const { bytes } = wrapEach(indexes.length, '', (at) => this.#raw(indexes[at] ?? 0), '');
    return new StringDocuments(bytes, indexes.length, this.#mayHaveBlanks);
  }

  fillBlanks(text: string): Documents {
    if (!this.#mayHaveBlanks) return this;
    const blanks = new Set(this.blanks());
    if (blanks.size === 0) return this;
    const filler = Buffer.from(JSON.stringify(text));
    const { bytes } = wrapEach(
      this.count,
      '',
      (index) => (blanks.has(index) ? filler : this.#raw(index)),
      '',
    );
    return new StringDocuments(bytes, this.count, false);
  }

  withoutImages(): Documents {
    return this;
  }

  #located(): Uint32Array {
    this.#ranges ??= stringRanges(this.#array, this.count);
    return this.#ranges;
  }

  #raw(index: number): Buffer {
    const ranges = this.#located();
    return this.#array.subarray(ranges[index * 2], ranges[index * 2 + 1]);
  }
}

/** The body that documents were parsed from; they are looked for in it when one is asked for, as few requests do. */
class SentDocuments {
  readonly #body: Buffer;
  readonly #count: number;
  /** Empty where they were not found. */
  #ranges: Uint32Array | undefined;

  constructor(body: Buffer, count: number) {
    this.#body = body;
    this.#count = count;
  }

  raw(index: number): Buffer | undefined {
    this.#ranges ??= elementRanges(this.#body, 'documents', this.#count) ?? new Uint32Array();
    const start = this.#ranges[index * 2];
    return start === undefined
      ? undefined
      : this.#body.subarray(start, this.#ranges[index * 2 + 1]);
  }
}

/** Documents that were parsed: mixed kinds, objects, images, or strings with unusual content. */
class PartDocuments implements Documents {
  readonly count: number;
  readonly hasImages: boolean;
  readonly hasLoneImages: boolean;
  readonly #parts: readonly DocumentPart[];
  readonly #sent: SentDocuments | undefined;
  /** Which of those that were sent these are; absent where they are all of them. */
  readonly #picked: readonly number[] | undefined;
  #texts: JsonFragment | undefined;

  constructor(parts: readonly DocumentPart[], sent?: SentDocuments, picked?: readonly number[]) {
    this.#parts = parts;
    this.#sent = sent;
    this.#picked = picked;
    this.count = parts.length;
    this.hasImages = parts.some(({ image }) => image !== undefined);
    this.hasLoneImages =
      this.hasImages && parts.some(({ text, image }) => text === undefined && image !== undefined);
  }

  get sizeBytes(): number {
    return this.texts().bytes.length;
  }

  texts(): JsonFragment {
    this.#texts ??= new JsonFragment(
      Buffer.from(JSON.stringify(this.#parts.map(({ text }) => (text ?? '').toWellFormed()))),
    );
    return this.#texts;
  }

  text(index: number): string {
    return this.#parts[index]?.text ?? '';
  }

  objects(key = 'text'): JsonFragment {
    return new JsonFragment(
      encodeJson(this.#parts.map(({ text, image }) => ({ [key]: text?.toWellFormed(), image }))),
    );
  }

  around(before: string | ((index: number) => string), after: string): JsonFragment {
    const text = (index: number): Buffer =>
      Buffer.from(JSON.stringify(this.text(index).toWellFormed()));
    return wrapEach(this.count, before, text, after);
  }

  sources(): JsonFragment {
    return wrapEach(this.count, '', (index) => this.#source(index), '');
  }

  parts(): readonly DocumentPart[] {
    return this.#parts;
  }

  echo(index: number): Buffer {
    const source = this.#source(index);
    return typeof this.#parts[index]?.source === 'string'
      ? Buffer.concat([Buffer.from('{"text":'), source, Buffer.from('}')])
      : source;
  }

  blanks(): readonly number[] {
    return this.#parts.flatMap(({ text, image }, index) =>
      image === undefined && (text ?? '').trim() === '' ? [index] : [],
    );
  }

  pick(indexes: readonly number[]): Documents {
    return new PartDocuments(
      indexes.flatMap((index) => this.#parts[index] ?? []),
      this.#sent,
      indexes.map((index) => this.#picked?.[index] ?? index),
    );
  }

  fillBlanks(text: string): Documents {
    const blanks = new Set(this.blanks());
    if (blanks.size === 0) return this;
    return new PartDocuments(
      this.#parts.map((part, index) => (blanks.has(index) ? { ...part, text } : part)),
      this.#sent,
      this.#picked,
    );
  }

  withoutImages(): Documents {
    if (!this.hasImages) return this;
    return new PartDocuments(
      this.#parts.map(({ text = '', source }) => ({ text, source })),
      this.#sent,
      this.#picked,
    );
  }

  /** Written anew only where the caller's bytes are not at hand: numbers would not survive it. */
  #source(index: number): Buffer {
    return (
      this.#sent?.raw(this.#picked?.[index] ?? index) ??
      Buffer.from(JSON.stringify(this.#parts[index]?.source))
    );
  }
}

/**
 * Documents from the bytes of a JSON array of strings, which `scanBody` has validated. `mayHaveBlanks`: whether any begins
 * as one with nothing but white space does.
 */
export function stringDocuments(array: Buffer, count: number, mayHaveBlanks = true): Documents {
  return new StringDocuments(array, count, mayHaveBlanks);
}

/** Documents from parsed values. `body`: the request whose `documents` they are, valid UTF-8, for what the caller sent. */
export function partDocuments(parts: readonly DocumentPart[], body?: Buffer): Documents {
  return new PartDocuments(
    parts,
    body === undefined ? undefined : new SentDocuments(body, parts.length),
  );
}

/** Documents from plain strings: for tests, channel checks and everything else that starts from text. */
export function textDocuments(texts: readonly string[]): Documents {
  return new PartDocuments(texts.map((text) => ({ text, source: text })));
}

function wrapEach(
  count: number,
  prefix: string | ((index: number) => string),
  raw: (index: number) => Buffer,
  suffix: string,
): JsonFragment {
  if (count === 0) return new JsonFragment(EMPTY_ARRAY);
  const pieces: Buffer[] = [];
  const prefixOf = typeof prefix === 'string' ? undefined : prefix;
  const fixed = typeof prefix === 'string' ? prefix : '';
  const open = Buffer.from(`[${fixed}`);
  const between = Buffer.from(`${suffix},${fixed}`);
  for (let index = 0; index < count; index += 1) {
    pieces.push(index === 0 ? open : between);
    if (prefixOf !== undefined) pieces.push(Buffer.from(prefixOf(index)));
    pieces.push(raw(index));
  }
  pieces.push(Buffer.from(`${suffix}]`));
  return new JsonFragment(Buffer.concat(pieces));
}
