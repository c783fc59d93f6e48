import { encodeJson, JsonFragment, quotedInSteps } from './json/json.js';
import { elementRanges, searchElements } from './json/elements.js';
import { ROW, type FoundList } from './json/scanner.js';
import { atOnce, inSteps, Pace, type Steps } from './steps.js';

/** One document of a parsed request: the text to rank, and what the caller sent. */
export interface DocumentPart {
  /** The text to rank; absent if the document is only an image. */
  readonly text?: string;
  /** An image as the caller named it: an http(s) or `data:` URL, or base64. */
  readonly image?: string;
  /** What the caller sent: a string, or the object. */
  readonly source: unknown;
}

/**
 * The documents of one request, in the caller's order. Converters receive them as JSON to splice into a body, so that the
 * usual case (strings in, strings out) copies the caller's bytes and never builds a string per document.
 */
export interface Documents {
  readonly count: number;
  /** UTF-8 bytes of all texts as JSON; token estimates and byte limits are based on it. */
  readonly sizeBytes: number;
  /** Whether any document has an image, with or without text. */
  readonly hasImages: boolean;
  /** Whether any document is only an image, which only a model that takes images can rank. */
  readonly hasLoneImages: boolean;
  /** A JSON array of strings. */
  texts(): JsonFragment;
  /** The text of one document; an image without text reads as an empty string. */
  text(index: number): string;
  /** The same in pieces, so that nobody has to wait while megabytes are decoded. */
  pieces(index: number): Iterable<string>;
  /** The text of one document, or its beginning: at least so many UTF-16 units of it. */
  beginning(index: number, units: number): string;
  /** The same as JSON, without making a string of it where it came as bytes. */
  textJson(index: number): JsonFragment;
  /** A JSON array of objects, each with the text under `key`, plus the image if there is one. */
  objects(key?: string): JsonFragment;
  /**
   * A JSON array of elements that wrap the text: `before`, the text as a JSON string, `after`. Together the three must be
   * valid JSON.
   */
  around(before: string | ((index: number) => string), after: string): JsonFragment;
  /** A JSON array of what the caller sent: strings and whole objects, in the caller's own bytes. */
  sources(): JsonFragment;
  /** Text and image of each document, for APIs that take them as separate objects. */
  parts(): readonly DocumentPart[];
  /** The document as a reply shows it: `{"text": …}` for a string, otherwise the caller's own object. */
  echo(index: number): JsonFragment;
  /** Indexes of the documents that contain only white space. */
  blanks(): readonly number[];
  /** The same documents reduced to those at `indexes`, numbered from 0 again. */
  pick(indexes: readonly number[]): Documents;
  /** UTF-8 bytes of one text, at least: as JSON if it arrived as JSON. */
  textBytes(index: number): number;
  /** The same documents with `text` replacing the blank ones. */
  fillBlanks(text: string): Documents;
  /** The same documents with some texts replaced, by index; images and the caller's originals stay. */
  withTexts(texts: ReadonlyMap<number, string>): Documents;
  /** The same, for texts that may be megabytes. */
  withTextsInSteps(texts: ReadonlyMap<number, string>): Steps<Documents>;
  /** The same documents as texts only, for models that take nothing else; the caller's originals stay. */
  withoutImages(): Documents;
  /**
   * Does in advance, with a pause after every step, the work that would hold up others if documents are large; `areEchoed`
   * also what `echo` needs.
   */
  prepare(pause: () => Promise<void>, areEchoed?: boolean): Promise<void>;
}

const EMPTY_ARRAY = Buffer.from('[]');
const ECHO_HEAD = Buffer.from('{"text":');
const ECHO_TAIL = Buffer.from('}');
const QUOTE = 0x22;
/** Where in a row of a list the document and its text are. */
const SOURCE = 0;
const TEXT = 2;

/**
 * Documents kept as the bytes that arrived: strings, and objects with a text. A row says where in `bytes` a document and its
 * text start and end.
 */
class SentDocuments implements Documents {
  readonly count: number;
  readonly hasImages = false;
  readonly hasLoneImages = false;
  readonly #bytes: Buffer;
  readonly #rows: Uint32Array;
  readonly #hasObjects: boolean;
  readonly #blanks: readonly number[];
  /** Everything that was sent, from `[` to `]`, if it is all included. */
  readonly #whole: Buffer | undefined;
  #texts: JsonFragment | undefined;

  constructor(
    bytes: Buffer,
    { rows, hasObjects, blanks }: Pick<FoundList, 'rows' | 'hasObjects' | 'blanks'>,
    whole?: Buffer,
  ) {
    this.#bytes = bytes;
    this.#rows = rows;
    this.#hasObjects = hasObjects;
    this.#blanks = blanks;
    this.#whole = whole;
    this.count = rows.length / ROW;
  }

  get sizeBytes(): number {
    const isList = this.#whole !== undefined && !this.#hasObjects;
    return isList ? this.#whole.length : 2 + this.#bytesOf(TEXT) + Math.max(0, this.count - 1);
  }

  texts(): JsonFragment {
    this.#texts ??=
      this.#whole === undefined || this.#hasObjects
        ? this.#join('', TEXT, '')
        : new JsonFragment(this.#whole, true);
    return this.#texts;
  }

  text(index: number): string {
    return JSON.parse(this.#raw(index, TEXT).toString('utf8')) as string;
  }

  pieces(index: number): Iterable<string> {
    const raw = this.#raw(index, TEXT);
    return raw.length > PIECE_BYTES ? stringPieces(raw) : [this.text(index)];
  }

  beginning(index: number, units: number): string {
    const raw = this.#raw(index, TEXT);
    return decoded(raw, 1, partedAt(raw, 1, 1 + MOST_BYTES * (units + 2)));
  }

  textJson(index: number): JsonFragment {
    return new JsonFragment(this.#raw(index, TEXT));
  }

  objects(key = 'text'): JsonFragment {
    return this.#join(`{${JSON.stringify(key)}:`, TEXT, '}');
  }

  around(before: string | ((index: number) => string), after: string): JsonFragment {
    return typeof before === 'string'
      ? this.#join(before, TEXT, after)
      : wrapEach(this.count, before, (index) => this.#raw(index, TEXT), after);
  }

  sources(): JsonFragment {
    return this.#whole === undefined
      ? this.#join('', SOURCE, '')
      : new JsonFragment(this.#whole, true);
  }

  parts(): readonly DocumentPart[] {
    const sources = JSON.parse(this.sources().bytes.toString('utf8')) as unknown[];
    const texts = this.#hasObjects
      ? (JSON.parse(this.texts().bytes.toString('utf8')) as string[])
      : (sources as string[]);
    return sources.map((source, index) => ({ text: texts[index] ?? '', source }));
  }

  echo(index: number): JsonFragment {
    const source = this.#raw(index, SOURCE);
    return echoOf(source, source[0] === QUOTE);
  }

  blanks(): readonly number[] {
    return this.#blanks;
  }

  pick(indexes: readonly number[]): Documents {
    const rows = new Uint32Array(indexes.length * ROW);
    const left = new Set(this.#blanks);
    const blanks: number[] = [];
    for (const [at, index] of indexes.entries()) {
      rows.set(this.#rows.subarray(index * ROW, (index + 1) * ROW), at * ROW);
      if (left.has(index)) blanks.push(at);
    }
    return new SentDocuments(this.#bytes, { rows, hasObjects: this.#hasObjects, blanks });
  }

  fillBlanks(text: string): Documents {
    return this.withTexts(new Map(this.#blanks.map((index) => [index, text])));
  }

  withTexts(texts: ReadonlyMap<number, string>): Documents {
    return atOnce(this.withTextsInSteps(texts));
  }

  *withTextsInSteps(texts: ReadonlyMap<number, string>): Steps<Documents> {
    if (texts.size === 0) return this;
    const pace = new Pace();
    const rows = this.#rows.slice();
    const pieces = [this.#bytes];
    let end = this.#bytes.length;
    for (const [index, text] of texts) {
      const piece = Buffer.from(JSON.stringify(text));
      pieces.push(piece);
      rows[index * ROW + TEXT] = end;
      end += piece.length;
      rows[index * ROW + TEXT + 1] = end;
      if (pace.fills(piece.length)) yield;
    }
    const bytes = yield* joined(pieces, end);
    const blanks = this.#blanks.filter((index) => !texts.has(index));
    return new SentDocuments(bytes, { rows, hasObjects: true, blanks });
  }

  textBytes(index: number): number {
    const at = index * ROW + TEXT;
    return (this.#rows[at + 1] ?? 0) - (this.#rows[at] ?? 0);
  }

  withoutImages(): Documents {
    return this;
  }

  async prepare(): Promise<void> {
    // They already lie there in the form needed.
  }

  /** One document's bytes at `place` in the rows. */
  #raw(index: number, place: number): Buffer {
    const at = index * ROW + place;
    return this.#bytes.subarray(this.#rows[at], this.#rows[at + 1]);
  }

  #bytesOf(place: number): number {
    let bytes = 0;
    for (let at = place; at < this.#rows.length; at += ROW) {
      bytes += (this.#rows[at + 1] ?? 0) - (this.#rows[at] ?? 0);
    }
    return bytes;
  }

  /** The same for all documents, each between `before` and `after`; copied when the list is written. */
  #join(before: string, place: number, after: string): JsonFragment {
    if (this.count === 0) return new JsonFragment(EMPTY_ARRAY);
    const [bytes, rows] = [this.#bytes, this.#rows];
    const head = Buffer.from(`[${before}`);
    const between = Buffer.from(`${after},${before}`);
    const tail = Buffer.from(`${after}]`);
    const glued = head.length + tail.length + between.length * (this.count - 1);
    function* iterate(): Iterable<Buffer> {
      for (let at = place; at < rows.length; at += ROW) {
        yield at === place ? head : between;
        yield bytes.subarray(rows[at], rows[at + 1]);
      }
      yield tail;
    }
    return new JsonFragment({
      size: glued + this.#bytesOf(place),
      iterate,
      copy: (target: Buffer, start: number) => {
        let end = start;
        for (let at = place; at < rows.length; at += ROW) {
          const glue = at === place ? head : between;
          for (let index = 0; index < glue.length; index += 1)
            target[end + index] = glue[index] ?? 0;
          end += glue.length;
          end += bytes.copy(target, end, rows[at], rows[at + 1]);
        }
        tail.copy(target, end);
      },
    });
  }
}

/** How much is copied in one go. */
const COPY_BYTES = 1_048_576;

function* joined(pieces: readonly Buffer[], size: number): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  let paused = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += COPY_BYTES) {
      at += piece.copy(whole, at, from, from + COPY_BYTES);
      if (at - paused < COPY_BYTES) continue;
      paused = at;
      yield;
    }
  }
  return whole;
}

/** How much of a text is decoded in one go. */
const PIECE_BYTES = 65_536;
/** Of one UTF-16 unit as JSON: an escape. */
const MOST_BYTES = 6;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The text of a JSON string, piece by piece. */
function* stringPieces(raw: Buffer): Generator<string> {
  for (let at = 1; at < raw.length - 1;) {
    const end = partedAt(raw, at, at + PIECE_BYTES);
    yield decoded(raw, at, end);
    at = end;
  }
}

function decoded(raw: Buffer, start: number, end: number): string {
  return JSON.parse(`"${raw.toString('utf8', start, end)}"`) as string;
}

/**
 * Where a JSON string may be parted, at `most` or a little before it: between characters and escapes, or at its end. `from`
 * is such a place, some bytes before.
 */
function partedAt(raw: Buffer, from: number, most: number): number {
  const last = raw.length - 1;
  if (most >= last) return last;
  let end = most;
  while (((raw[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const near = Math.max(from, end - MOST_BYTES);
  const slash = near + raw.subarray(near, end).lastIndexOf(BACKSLASH);
  if (slash < near) return end;
  let first = slash;
  while (first > from && raw[first - 1] === BACKSLASH) first -= 1;
  // Every other one of a row stands for itself.
  const opens = (slash - first) % 2 === 0;
  const length = raw[slash + 1] === LETTER_U ? MOST_BYTES : 2;
  return opens && slash + length > end ? slash : end;
}

/**
 * The body that documents were parsed from. It is searched only when a document's bytes are asked for, which few requests
 * do.
 */
class SentBody {
  readonly #body: Buffer;
  readonly #name: string;
  readonly #count: number;
  /** Empty if they were not found. */
  #ranges: Uint32Array | undefined;

  constructor(body: Buffer, name: string, count: number) {
    this.#body = body;
    this.#name = name;
    this.#count = count;
  }

  /** Looks for them ahead of time. */
  async locate(pause: () => Promise<void>): Promise<void> {
    this.#ranges ??=
      (await inSteps(searchElements(this.#body, this.#name, this.#count), pause)) ??
      new Uint32Array();
  }

  raw(index: number): Buffer | undefined {
    this.#ranges ??= elementRanges(this.#body, this.#name, this.#count) ?? new Uint32Array();
    const start = this.#ranges[index * 2];
    return start === undefined
      ? undefined
      : this.#body.subarray(start, this.#ranges[index * 2 + 1]);
  }
}

/** Parsed documents: mixed kinds, objects, images, or strings with unusual content. */
class PartDocuments implements Documents {
  readonly count: number;
  readonly hasImages: boolean;
  readonly hasLoneImages: boolean;
  readonly #parts: readonly DocumentPart[];
  readonly #sent: SentBody | undefined;
  /** Which of the documents sent these are; absent if all of them. */
  readonly #picked: readonly number[] | undefined;
  /** Their texts and images as JSON, if prepared in advance. */
  #written: readonly WrittenPart[] | undefined;
  #texts: JsonFragment | undefined;

  constructor(
    parts: readonly DocumentPart[],
    sent?: SentBody,
    picked?: readonly number[],
    written?: readonly WrittenPart[],
  ) {
    this.#parts = parts;
    this.#sent = sent;
    this.#picked = picked;
    this.#written = written;
    this.count = parts.length;
    this.hasImages = parts.some(({ image }) => image !== undefined);
    this.hasLoneImages =
      this.hasImages && parts.some(({ text, image }) => text === undefined && image !== undefined);
  }

  get sizeBytes(): number {
    return this.texts().size;
  }

  texts(): JsonFragment {
    this.#texts ??=
      this.#written === undefined
        ? new JsonFragment(
            Buffer.from(JSON.stringify(this.#parts.map(({ text }) => (text ?? '').toWellFormed()))),
          )
        : inList(this.#written.map(({ text }) => [text]));
    return this.#texts;
  }

  async prepare(pause: () => Promise<void>, areEchoed = false): Promise<void> {
    if (areEchoed) await this.#sent?.locate(pause);
    const written: WrittenPart[] = [];
    let units = 0;
    for (const { text = '', image } of this.#parts) {
      const isLong = text.length > PREPARED_UNITS;
      written.push({
        text: isLong
          ? await quotedInSteps(text, pause)
          : Buffer.from(JSON.stringify(text.toWellFormed())),
        image: image === undefined ? undefined : Buffer.from(JSON.stringify(image)),
      });
      units += text.length + (image?.length ?? 0);
      if (units < PREPARED_UNITS) continue;
      units = 0;
      await pause();
    }
    this.#written = written;
  }

  text(index: number): string {
    return this.#parts[index]?.text ?? '';
  }

  pieces(index: number): Iterable<string> {
    return [this.text(index)];
  }

  beginning(index: number, units: number): string {
    return this.text(index).slice(0, units);
  }

  textJson(index: number): JsonFragment {
    return new JsonFragment(
      this.#written?.[index]?.text ?? Buffer.from(JSON.stringify(this.text(index).toWellFormed())),
    );
  }

  objects(key = 'text'): JsonFragment {
    if (this.#written === undefined) {
      return new JsonFragment(
        encodeJson(this.#parts.map(({ text, image }) => ({ [key]: text?.toWellFormed(), image }))),
      );
    }
    const [named, alone] = [Buffer.from(`{${JSON.stringify(key)}:`), Buffer.from('{"image":')];
    return inList(
      this.#written.map(({ text, image }, index) => {
        if (image === undefined) return [named, text, CLOSE];
        const isAlone = this.#parts[index]?.text === undefined;
        return isAlone ? [alone, image, CLOSE] : [named, text, BESIDE, image, CLOSE];
      }),
    );
  }

  around(before: string | ((index: number) => string), after: string): JsonFragment {
    const text = (index: number): Buffer => this.textJson(index).bytes;
    return wrapEach(this.count, before, text, after);
  }

  sources(): JsonFragment {
    return wrapEach(this.count, '', (index) => this.#source(index), '');
  }

  parts(): readonly DocumentPart[] {
    return this.#parts;
  }

  echo(index: number): JsonFragment {
    return echoOf(this.#source(index), typeof this.#parts[index]?.source === 'string');
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
      this.#written && indexes.flatMap((index) => this.#written?.[index] ?? []),
    );
  }

  fillBlanks(text: string): Documents {
    return this.withTexts(new Map(this.blanks().map((index) => [index, text])));
  }

  withTexts(texts: ReadonlyMap<number, string>): Documents {
    return atOnce(this.withTextsInSteps(texts));
  }

  *withTextsInSteps(texts: ReadonlyMap<number, string>): Steps<Documents> {
    if (texts.size === 0) return this;
    const pace = new Pace();
    const parts = this.#parts.slice();
    const written = this.#written?.slice();
    for (const [index, text] of texts) {
      const part = parts[index];
      if (part === undefined) continue;
      parts[index] = { ...part, text };
      if (written === undefined) continue;
      const json = Buffer.from(JSON.stringify(text.toWellFormed()));
      written[index] = { text: json, image: written[index]?.image };
      if (pace.fills(json.length)) yield;
    }
    return new PartDocuments(parts, this.#sent, this.#picked, written);
  }

  textBytes(index: number): number {
    return this.#written?.[index]?.text.length ?? Buffer.byteLength(this.text(index));
  }

  withoutImages(): Documents {
    if (!this.hasImages) return this;
    return new PartDocuments(
      this.#parts.map(({ text = '', source }) => ({ text, source })),
      this.#sent,
      this.#picked,
      this.#written?.map(({ text }) => ({ text, image: undefined })),
    );
  }

  /** Serialized again only if the caller's bytes are not available: its numbers might not survive. */
  #source(index: number): Buffer {
    const sent = this.#sent?.raw(this.#picked?.[index] ?? index);
    if (sent !== undefined) return sent;
    const { source, text } = this.#parts[index] ?? {};
    const written = this.#written?.[index]?.text;
    return written !== undefined && source === text ? written : Buffer.from(JSON.stringify(source));
  }
}

/** A document as a reply shows it, copied when the reply is written. */
function echoOf(source: Buffer, isText: boolean): JsonFragment {
  if (!isText) return new JsonFragment(source);
  return new JsonFragment({
    size: ECHO_HEAD.length + source.length + ECHO_TAIL.length,
    iterate: () => [ECHO_HEAD, source, ECHO_TAIL],
    copy: (target: Buffer, start: number) => {
      const at = start + ECHO_HEAD.copy(target, start);
      ECHO_TAIL.copy(target, at + source.copy(target, at));
    },
  });
}

/** How much text is serialized in one step. */
const PREPARED_UNITS = 262_144;

/** A document's text (empty if it has none) and its image, both as JSON. */
interface WrittenPart {
  readonly text: Buffer;
  readonly image: Buffer | undefined;
}

const OPEN_LIST = Buffer.from('[');
const CLOSE_LIST = Buffer.from(']');
const NEXT = Buffer.from(',');
const BESIDE = Buffer.from(',"image":');
const CLOSE = Buffer.from('}');

/** An array whose elements are in pieces; they are joined when it is written. */
function inList(elements: readonly (readonly Buffer[])[]): JsonFragment {
  const pieces = elements.flatMap((element, index) => [index === 0 ? OPEN_LIST : NEXT, ...element]);
  if (pieces.length === 0) pieces.push(OPEN_LIST);
  pieces.push(CLOSE_LIST);
  return new JsonFragment({
    size: pieces.reduce((bytes, { length }) => bytes + length, 0),
    iterate: () => pieces,
    copy: (target: Buffer, start: number) => {
      let end = start;
      for (const piece of pieces) end += piece.copy(target, end);
    },
  });
}

/**
 * Documents from a body and the list that `scanBody` found in it. The bytes around the list may be overwritten, so whoever
 * needs them must have read them before.
 */
export function sentDocuments(body: Buffer, list: FoundList): Documents {
  return new SentDocuments(body, list, body.subarray(list.start, list.end));
}

/** The same of the texts alone, where they are all that is ranked of the elements. */
export function sentTexts(body: Buffer, { rows, blanks }: FoundList): Documents {
  return new SentDocuments(body, { rows: textsAlone(rows), hasObjects: false, blanks });
}

/**
 * The same with `heads` in front of some texts, by index. They are written over the bytes of the element there, so that each
 * is one string with its text. `undefined`, and nothing is written, if they do not all fit.
 */
export function headedTexts(
  body: Buffer,
  { rows, blanks }: FoundList,
  heads: ReadonlyMap<number, string>,
): Documents | undefined {
  const headed = rows.slice();
  const written: { readonly at: number; readonly head: Buffer }[] = [];
  for (const [index, head] of heads) {
    const quoted = Buffer.from(JSON.stringify(head)).subarray(0, -1);
    const row = index * ROW;
    const at = (rows[row + TEXT] ?? 0) + 1 - quoted.length;
    if (at < (rows[row + SOURCE] ?? 0)) return undefined;
    headed[row + TEXT] = at;
    written.push({ at, head: quoted });
  }
  for (const { at, head } of written) head.copy(body, at);
  const left = blanks.filter((index) => (heads.get(index) ?? '').trim() === '');
  return new SentDocuments(body, { rows: textsAlone(headed), hasObjects: false, blanks: left });
}

/** Rows of documents that are only the texts of those of `rows`. */
function textsAlone(rows: Uint32Array): Uint32Array {
  const texts = rows.slice();
  for (let row = 0; row < texts.length; row += ROW) {
    texts.copyWithin(row + SOURCE, row + TEXT, row + ROW);
  }
  return texts;
}

/**
 * Documents from parsed values. `body` is the valid UTF-8 request that contains them as the list `name`, for returning what
 * the caller sent.
 */
export function partDocuments(
  parts: readonly DocumentPart[],
  body?: Buffer,
  name = 'documents',
): Documents {
  return new PartDocuments(
    parts,
    body === undefined ? undefined : new SentBody(body, name, parts.length),
  );
}

/** Documents from plain strings, for tests, channel checks and anything else that starts from text. */
export function textDocuments(texts: readonly string[]): Documents {
  return new PartDocuments(texts.map((text) => ({ text, source: text })));
}

function wrapEach(
  count: number,
  prefix: string | ((index: number) => string),
  raw: (index: number) => Buffer,
  suffix: string,
): JsonFragment {
  const [before, after] = [
    Buffer.from(typeof prefix === 'string' ? prefix : ''),
    Buffer.from(suffix),
  ];
  return inList(
    Array.from({ length: count }, (_, index) => [
      typeof prefix === 'string' ? before : Buffer.from(prefix(index)),
      raw(index),
      after,
    ]),
  );
}
