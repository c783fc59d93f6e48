import { type JsonBody, JsonFragment } from './fragment.js';
import { encodeJson, quotedInSteps } from './encode.js';
import { elementRanges, searchElements } from './elements.js';
import { locatedList, ROW, Walk } from './scanner.js';
import { NewTexts, WrittenTexts, type WrittenText } from './written-texts.js';
import { atOnce, inSteps, Pace, type Steps } from './steps.js';
import { leastTokensOf } from '../core/tokens.js';
import {
  AS_DOCUMENT,
  ECHO_HEAD,
  ECHO_TAIL,
  echoOf,
  headsOf,
  inList,
  inTurn,
  listBytes,
  pickStrings,
  ROW_END,
  wrapEach,
} from './document-json.js';
import type { Content, DocumentPart, Documents, Shown } from './document-list.js';

/** How much of a body is walked over in one go. */
const STEP_BYTES = 1_048_576;

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
    if (this.#ranges !== undefined) return;
    const walk = new Walk(this.#body, locatedList(this.#name));
    try {
      while (!walk.go(STEP_BYTES)) await pause();
    } finally {
      walk.end();
    }
    this.#ranges =
      this.#rangesOf(walk) ??
      (await inSteps(searchElements(this.#body, this.#name, this.#count), pause)) ??
      NOT_FOUND;
  }

  raw(index: number): Buffer | undefined {
    this.#ranges ??=
      this.#walkOver() ?? elementRanges(this.#body, this.#name, this.#count) ?? NOT_FOUND;
    const start = this.#ranges[index * 2];
    return start === undefined
      ? undefined
      : this.#body.subarray(start, this.#ranges[index * 2 + 1]);
  }

  #walkOver(): Uint32Array | undefined {
    const walk = new Walk(this.#body, locatedList(this.#name));
    walk.go();
    return this.#rangesOf(walk);
  }

  /** `undefined` if the walk has left the body to the plain way, as where there are two lists of the name. */
  #rangesOf({ list }: Walk): Uint32Array | undefined {
    if (list?.count !== this.#count) return undefined;
    const ranges = new Uint32Array(this.#count * 2);
    for (let index = 0; index < this.#count; index += 1) {
      ranges[index * 2] = list.rows[index * ROW] ?? 0;
      ranges[index * 2 + 1] = list.rows[index * ROW + 1] ?? 0;
    }
    return ranges;
  }
}

const NOT_FOUND = new Uint32Array();

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
  #meantBytes: number | undefined;

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

  get meantBytes(): number {
    if (this.#meantBytes === undefined) {
      let texts = 0;
      for (const [index, { text = '' }] of this.#parts.entries()) {
        texts += this.#written?.[index]?.meantBytes ?? Buffer.byteLength(text);
      }
      this.#meantBytes = listBytes(this.count, texts);
    }
    return this.#meantBytes;
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
    const pace = new Pace(PREPARED_UNITS);
    const texts = new WrittenTexts();
    const quoted = (text: string): WrittenText | Promise<WrittenText> =>
      text.length > PREPARED_UNITS ? quotedInSteps(text, pause) : texts.addMeant(text);
    for (const { text = '', image } of this.#parts) {
      const ofText = quoted(text);
      const { json, meantBytes } = 'then' in ofText ? await ofText : ofText;
      const ofImage = image === undefined ? undefined : await quoted(image);
      written.push({ text: json, meantBytes, image: ofImage?.json });
      if (pace.fills(text.length + (image?.length ?? 0))) await pause();
    }
    this.#written = written;
  }

  text(index: number): string {
    return this.#parts[index]?.text ?? '';
  }

  pieces(index: number): Iterable<string> {
    return [this.text(index)];
  }

  leastTokens(index: number, upTo: number, pace: Pace): Steps<number> {
    return leastTokensOf(this.text(index), upTo, pace);
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

  picked(fields: readonly string[]): JsonFragment | undefined {
    return pickStrings(
      this.#parts.map(({ source }) => source),
      fields,
    );
  }

  contents(): readonly Content[] {
    return this.#parts.map(({ text, image }, index) => ({
      ...(text !== undefined && { text: this.textJson(index) }),
      ...(image !== undefined && {
        image: new JsonFragment(
          this.#written?.[index]?.image ?? Buffer.from(JSON.stringify(image.toWellFormed())),
        ),
      }),
    }));
  }

  parts(): readonly DocumentPart[] {
    return this.#parts;
  }

  echo(index: number): JsonBody {
    return echoOf(this.#source(index), typeof this.#parts[index]?.source === 'string');
  }

  echoes(
    indexes: readonly number[],
    rows: Buffer,
    { name, areTexts }: Shown = AS_DOCUMENT,
  ): JsonFragment {
    const heads = headsOf(rows.toString('latin1'), name);
    // What stands around the documents, in one text: to write each piece by itself takes longer.
    let text = '';
    const ends: number[] = [];
    for (const [at, index] of indexes.entries()) {
      const isText = !areTexts && typeof this.#parts[index]?.source === 'string';
      text += isText ? (heads[at] ?? '') + ECHO_HEAD : (heads[at] ?? '');
      ends.push(text.length);
      if (isText) text += ECHO_TAIL;
    }
    const around = Buffer.from(text + ROW_END, 'latin1');
    const pieces: Buffer[] = [];
    for (const [at, index] of indexes.entries()) {
      const document = areTexts ? this.textJson(index).bytes : this.#source(index);
      pieces.push(around.subarray(ends[at - 1] ?? 0, ends[at]), document);
    }
    pieces.push(around.subarray(ends[ends.length - 1] ?? 0));
    return inTurn(pieces);
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
    const texts = new NewTexts();
    for (const index of this.blanks()) texts.set(index, text);
    return atOnce(this.withTextsInSteps(texts));
  }

  *withTextsInSteps(texts: NewTexts): Steps<Documents> {
    if (texts.size === 0) return this;
    const pace = new Pace();
    const parts = this.#parts.slice();
    const written = this.#written?.slice();
    for (const [index, { json, meantBytes }] of texts) {
      const part = parts[index];
      if (part === undefined) continue;
      parts[index] = { ...part, text: JSON.parse(json.toString()) as string };
      if (written !== undefined)
        written[index] = { text: json, meantBytes, image: written[index]?.image };
      if (pace.fills(json.length)) yield;
    }
    return new PartDocuments(parts, this.#sent, this.#picked, written);
  }

  textBytes(index: number): number {
    return this.#written?.[index]?.text.length ?? Buffer.byteLength(this.text(index));
  }

  longestBytes(): number {
    let longest = 0;
    for (let index = 0; index < this.count; index += 1) {
      longest = Math.max(longest, this.textBytes(index));
    }
    return longest;
  }

  withoutImages(): Documents {
    if (!this.hasImages) return this;
    return new PartDocuments(
      this.#parts.map(({ text = '', source }) => ({ text, source })),
      this.#sent,
      this.#picked,
      this.#written?.map((part) => ({ ...part, image: undefined })),
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

/** How much text is serialized in one step. */
const PREPARED_UNITS = 262_144;

/** A document's text (empty if it has none) and its image, both as JSON. */
interface WrittenPart {
  readonly text: Buffer;
  /** How many bytes of UTF-8 the text has by itself. */
  readonly meantBytes: number;
  readonly image: Buffer | undefined;
}

const BESIDE = Buffer.from(',"image":');
const CLOSE = Buffer.from('}');

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
