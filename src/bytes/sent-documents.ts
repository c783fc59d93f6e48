import { type JsonBody, JsonFragment } from './fragment.js';
import type { LoneHalves } from './halves.js';
import { ROW, type FoundList, type ScannedBody } from './scan.js';
import { weaver } from './weaver.js';
import type { NewTexts } from './written-texts.js';
import { copyBytes, Owned } from './memory.js';
import { Pace, type Steps } from './steps.js';
import {
  AS_DOCUMENT,
  copyPiece,
  ECHO_HEAD,
  ECHO_TAIL,
  echoOf,
  headsOf,
  inTurn,
  listBytes,
  pickStrings,
  ROW_END,
} from './document-json.js';
import type { Content, DocumentPart, Documents } from './document-list.js';
import { Interleaved } from './interleaved.js';
import { pickedPlaces, pickedStrings, type FieldPlaces } from './field-places.js';
import { decoded, MOST_BYTES, partedAt, PIECE_BYTES, stringPieces } from './text-pieces.js';
import { leastTokensOfJson } from '../core/tokens.js';

const EMPTY_ARRAY = Buffer.from('[]');
const QUOTE = 0x22;

/** Where in a row of a list the document and its text are. */
const SOURCE = 0;
const TEXT = 2;
/** How long a text is meant. */
const MEANT = 4;

/**
 * Documents kept as the bytes that arrived: strings, and objects with a text. A row says where in `bytes` a document starts and
 * ends, where in `ranked`, which may be the same, its text does, and how many bytes what that means has.
 */
class SentDocuments implements Documents {
  readonly count: number;
  readonly hasImages = false;
  readonly hasLoneImages = false;
  readonly #bytes: Buffer;
  readonly #ranked: Buffer;
  readonly #rows: Uint32Array;
  readonly #hasObjects: boolean;
  readonly #blanks: readonly number[];
  /** Everything that was sent, from `[` to `]`, if it is all included. */
  readonly #whole: Buffer | undefined;
  readonly #fields: FieldPlaces | undefined;
  readonly #rankedBy: string | undefined;
  /** What has been replaced in the bytes, and is put back where the caller sees them. */
  readonly #replaced: LoneHalves | undefined;
  #texts: JsonFragment | undefined;
  #sizeBytes: number | undefined;
  #meantBytes: number | undefined;

  constructor(
    bytes: Buffer,
    { rows, hasObjects, blanks }: Pick<FoundList, 'rows' | 'hasObjects' | 'blanks'>,
    replaced: LoneHalves | undefined,
    { whole, ranked = bytes, areRankedAlone = false, fields, rankedBy }: Beside = {},
  ) {
    this.#fields = fields;
    this.#rankedBy = rankedBy;
    this.#bytes = bytes;
    this.#ranked = ranked;
    if (areRankedAlone) this.#texts = new JsonFragment(ranked, true);
    this.#rows = rows;
    this.#hasObjects = hasObjects;
    this.#blanks = blanks;
    this.#replaced = replaced;
    this.#whole = whole;
    this.count = rows.length / ROW;
  }

  get sizeBytes(): number {
    this.#sizeBytes ??=
      this.#whole !== undefined && !this.#hasObjects
        ? this.#whole.length
        : 2 + this.#bytesOf(TEXT) + Math.max(0, this.count - 1);
    return this.#sizeBytes;
  }

  get meantBytes(): number {
    if (this.#meantBytes === undefined) {
      const rows = this.#rows;
      let texts = 0;
      for (let at = MEANT; at < rows.length; at += ROW) texts += rows[at] ?? 0;
      this.#meantBytes = listBytes(this.count, texts);
    }
    return this.#meantBytes;
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

  leastTokens(index: number, upTo: number, pace: Pace): Steps<number> {
    return leastTokensOfJson(this.#raw(index, TEXT), upTo, pace);
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
    if (typeof before === 'string') return this.#join(before, TEXT, after);
    if (this.count === 0) return new JsonFragment(EMPTY_ARRAY);
    const rows = this.#rows;
    const list = new Interleaved(this.#ranked, this.count + 1);
    for (let index = 0; index < this.count; index += 1) {
      const at = index * ROW + TEXT;
      const head = index === 0 ? '[' : `${after},`;
      list.addBehind(head + before(index), rows[at] ?? 0, rows[at + 1] ?? 0);
    }
    list.addText(`${after}]`);
    return list.fragment();
  }

  sources(): JsonFragment {
    return this.#whole === undefined
      ? this.#join('', SOURCE, '')
      : new JsonFragment(this.#whole, true);
  }

  picked(fields: readonly string[]): JsonFragment | undefined {
    const places = this.#fields;
    const areKnown =
      places?.names.length === fields.length &&
      fields.every((name, at) => name === places.names[at]);
    if (areKnown) return pickedStrings(this.#bytes, places);
    const [field] = fields;
    const isRanked = fields.length === 1 && field === this.#rankedBy;
    if (isRanked && this.#ranked === this.#bytes && this.#areObjects()) return this.objects(field);
    return pickStrings(
      this.parts().map(({ source }) => source),
      fields,
    );
  }

  #areObjects(): boolean {
    for (let at = SOURCE; at < this.#rows.length; at += ROW) {
      if (this.#bytes[this.#rows[at] ?? 0] === QUOTE) return false;
    }
    return true;
  }

  contents(): readonly Content[] {
    return Array.from({ length: this.count }, (_, index) => ({ text: this.textJson(index) }));
  }

  parts(): readonly DocumentPart[] {
    const sources = JSON.parse(this.sources().bytes.toString('utf8')) as unknown[];
    const texts = this.#hasObjects
      ? (JSON.parse(this.texts().bytes.toString('utf8')) as string[])
      : (sources as string[]);
    return sources.map((source, index) => ({ text: texts[index] ?? '', source }));
  }

  echo(index: number): JsonBody {
    const source = this.#raw(index, SOURCE);
    const isText = source[0] === QUOTE;
    if (this.#replaced === undefined) return echoOf(source, isText);
    const [start = 0, end = 0] = this.#rows.subarray(index * ROW + SOURCE);
    const sent = inTurn([...this.#replaced.originals(this.#bytes, start, end)]);
    return isText ? { text: sent } : sent;
  }

  echoes(
    indexes: readonly number[],
    rowsText: Buffer,
    { name, areTexts } = AS_DOCUMENT,
  ): JsonFragment {
    const rows = this.#rows;
    const place = areTexts ? TEXT : SOURCE;
    const bytes = areTexts ? this.#ranked : this.#bytes;
    const replaced = areTexts ? undefined : this.#replaced;
    const shown = { name, bare: areTexts };
    const woven = weaver().echo({ body: bytes, rows, place, replaced }, indexes, rowsText, shown);
    if (woven !== undefined) return new JsonFragment(woven, true);
    const heads = headsOf(rowsText.toString('latin1'), name);
    const list = new Interleaved(bytes, indexes.length + 1);
    let tail = '';
    for (const [at, index] of indexes.entries()) {
      const row = index * ROW + place;
      const start = rows[row] ?? 0;
      const isText = !areTexts && bytes[start] === QUOTE;
      const head = tail + (heads[at] ?? '') + (isText ? ECHO_HEAD : '');
      list.addBehind(head, start, rows[row + 1] ?? 0, head.length);
      tail = isText ? ECHO_TAIL : '';
    }
    list.addText(tail + ROW_END);
    return list.fragment(replaced);
  }

  blanks(): readonly number[] {
    return this.#blanks;
  }

  pick(indexes: readonly number[]): Documents {
    const rows = new Uint32Array(indexes.length * ROW);
    const all = this.#rows;
    const left = this.#blanks.length === 0 ? undefined : new Set(this.#blanks);
    const blanks: number[] = [];
    for (let at = 0; at < indexes.length; at += 1) {
      const index = indexes[at] ?? 0;
      for (let place = 0; place < ROW; place += 1) {
        rows[at * ROW + place] = all[index * ROW + place] ?? 0;
      }
      if (left?.has(index) === true) blanks.push(at);
    }
    const picked = { rows, hasObjects: this.#hasObjects, blanks };
    return new SentDocuments(this.#bytes, picked, this.#replaced, {
      ranked: this.#ranked,
      fields: this.#fields && pickedPlaces(this.#fields, indexes),
      rankedBy: this.#rankedBy,
    });
  }

  fillBlanks(text: string): Documents {
    if (this.#blanks.length === 0) return this;
    // One text stands for all of them.
    const piece = Buffer.from(JSON.stringify(text));
    const meant = Buffer.byteLength(text);
    const start = this.#ranked.length;
    const rows = this.#rows.slice();
    for (const index of this.#blanks) {
      rows[index * ROW + TEXT] = start;
      rows[index * ROW + TEXT + 1] = start + piece.length;
      rows[index * ROW + MEANT] = meant;
    }
    const ranked = Owned.uncleared(start + piece.length).bytes;
    copyBytes(this.#ranked, ranked, 0);
    piece.copy(ranked, start);
    const list = { rows, hasObjects: true, blanks: [] };
    const fields = this.#fields;
    return new SentDocuments(this.#bytes, list, this.#replaced, { ranked, fields });
  }

  *withTextsInSteps(texts: NewTexts): Steps<Documents> {
    if (texts.size === 0) return this;
    const rows = this.#rows.slice();
    // Where all are replaced, nothing of what was there is needed.
    const pieces = texts.size === this.count ? [] : [this.#ranked];
    let end = pieces[0]?.length ?? 0;
    for (const [index, { json, meantBytes }] of texts) {
      pieces.push(json);
      rows[index * ROW + TEXT] = end;
      end += json.length;
      rows[index * ROW + TEXT + 1] = end;
      rows[index * ROW + MEANT] = meantBytes;
    }
    const ranked = yield* joined(pieces, end);
    texts.giveBack();
    const blanks = this.#blanks.filter((index) => !texts.has(index));
    const list = { rows, hasObjects: true, blanks };
    const fields = this.#fields;
    return new SentDocuments(this.#bytes, list, this.#replaced, { ranked, fields });
  }

  textBytes(index: number): number {
    const at = index * ROW + TEXT;
    return (this.#rows[at + 1] ?? 0) - (this.#rows[at] ?? 0);
  }

  longestBytes(): number {
    const rows = this.#rows;
    let longest = 0;
    for (let at = TEXT; at < rows.length; at += ROW) {
      longest = Math.max(longest, (rows[at + 1] ?? 0) - (rows[at] ?? 0));
    }
    return longest;
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
    return this.#bytesWith(place).subarray(this.#rows[at], this.#rows[at + 1]);
  }

  #bytesWith(place: number): Buffer {
    return place === TEXT ? this.#ranked : this.#bytes;
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
    const [bytes, rows] = [this.#bytesWith(place), this.#rows];
    const woven = weaver().join({ body: bytes, rows, place }, before, after);
    if (woven !== undefined) return new JsonFragment(woven, true);
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
          end += copyPiece(glue, 0, glue.length, target, end);
          end += copyBytes(bytes, target, end, rows[at], rows[at + 1]);
        }
        tail.copy(target, end);
      },
    });
  }
}

/** What there may be beside the bytes that arrived. */
interface Beside {
  /** Everything that was sent, from `[` to `]`, if it is all included. */
  readonly whole?: Buffer;
  /** Where the texts are; the bytes that arrived by default. */
  readonly ranked?: Buffer;
  /** Whether there is nothing but the array of texts there. */
  readonly areRankedAlone?: boolean;
  readonly fields?: FieldPlaces | undefined;
  /** The member that is the text of each object, if it is always the same one. */
  readonly rankedBy?: string | undefined;
}

/** How much is copied in one go. */
const COPY_BYTES = 262_144;

function* joined(pieces: readonly Buffer[], size: number): Steps<Buffer> {
  const whole = Owned.uncleared(size).bytes;
  let at = 0;
  let paused = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += COPY_BYTES) {
      at += copyBytes(piece, whole, at, from, from + COPY_BYTES);
      if (at - paused < COPY_BYTES) continue;
      paused = at;
      yield;
    }
  }
  return whole;
}

/** A body, where its documents lie, and what was replaced in them. */
type SentList = Pick<ScannedBody, 'body' | 'list' | 'replaced'>;

/**
 * Documents from a body and the list that `scanBody` found in it. The bytes around the list may be overwritten, so whoever
 * needs them must have read them before.
 */
export function sentDocuments({ body, list, replaced }: SentList): Documents {
  const { start, end, name } = list;
  return new SentDocuments(body, list, replaced, {
    whole: body.subarray(start, end),
    // Not where a path leads to it.
    rankedBy: name.text.includes('.') ? undefined : name.text,
  });
}

/**
 * Documents of a body whose texts are in `ranked`.
 * @param areAlone whether that is the array of the texts and nothing else.
 */
export function rankedDocuments(
  { body, list, replaced }: RankedList,
  ranked: Buffer,
  fields: FieldPlaces,
  areAlone = false,
): Documents {
  return new SentDocuments(body, list, replaced, { ranked, areRankedAlone: areAlone, fields });
}

interface RankedList {
  readonly body: Buffer;
  readonly list: Pick<FoundList, 'rows' | 'hasObjects' | 'blanks'>;
  readonly replaced: LoneHalves | undefined;
}

/**
 * The same for the texts alone, where nothing else of the elements is ranked.
 * @param areAlone whether the body is the array of these and nothing else.
 */
export function sentTexts(
  { body, list: { rows, blanks }, replaced }: TextList,
  areAlone = false,
): Documents {
  const list = { rows: textsAlone(rows), hasObjects: false, blanks };
  return new SentDocuments(body, list, replaced, areAlone ? { whole: body } : {});
}

/** What stands for a document where its caller sees it: the element that was sent, its text, or either, which are the same. */
export type Standing = 'element' | 'text' | 'both';

interface WrittenList {
  readonly body: Buffer;
  /** Where the elements are. */
  readonly rows: Uint32Array;
  readonly blanks: readonly number[];
  readonly standing: readonly Standing[];
}

/**
 * Documents of a body whose texts have all been written anew, and are copied. If the text of one stands for it, the others are
 * written anew, too, as they were parsed.
 */
export function* writtenDocuments(
  { body, rows: sent, blanks, standing }: WrittenList,
  texts: NewTexts,
): Steps<Documents> {
  const rows = sent.slice();
  const pieces: Buffer[] = [];
  let end = 0;
  const add = (row: number, place: number, piece: Buffer): void => {
    pieces.push(piece);
    rows[row + place] = end;
    end += piece.length;
    rows[row + place + 1] = end;
  };
  for (const [index, { json, meantBytes }] of texts) {
    add(index * ROW, TEXT, json);
    rows[index * ROW + MEANT] = meantBytes;
  }
  const areTexts = standing.includes('text');
  const pace = new Pace();
  for (let row = 0; areTexts && row < rows.length; row += ROW) {
    if (standing[row / ROW] === 'element') {
      const element = body.toString('utf8', rows[row + SOURCE], rows[row + SOURCE + 1]);
      add(row, SOURCE, Buffer.from(JSON.stringify(JSON.parse(element))));
      if (pace.fills(element.length)) yield;
    } else {
      rows[row + SOURCE] = rows[row + TEXT] ?? 0;
      rows[row + SOURCE + 1] = rows[row + TEXT + 1] ?? 0;
    }
  }
  const ranked = yield* joined(pieces, end);
  const list = { rows, hasObjects: true, blanks };
  return new SentDocuments(areTexts ? ranked : body, list, undefined, { ranked });
}

interface TextList {
  readonly body: Buffer;
  readonly list: Pick<FoundList, 'rows' | 'blanks'>;
  readonly replaced?: LoneHalves | undefined;
}

/** Rows of documents that are only the texts of those of `rows`. */
function textsAlone(rows: Uint32Array): Uint32Array {
  const texts = rows.slice();
  for (let row = 0; row < texts.length; row += ROW) {
    texts[row + SOURCE] = texts[row + TEXT] ?? 0;
    texts[row + SOURCE + 1] = texts[row + TEXT + 1] ?? 0;
  }
  return texts;
}
