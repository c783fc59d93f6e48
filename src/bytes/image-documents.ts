import type { Content, DocumentPart, Documents, Shown } from './document-list.js';
import { inList } from './document-json.js';
import { widthOf } from './field-places.js';
import type { LoneHalves } from './halves.js';
import { type JsonBody, JsonFragment } from './fragment.js';
import { FIELD, ROW, type FoundList } from './scan.js';
import { NewTexts } from './written-texts.js';
import { copyBytes, Owned } from './memory.js';
import { rankedDocuments } from './sent-documents.js';
import { atOnce, Pace, type Steps } from './steps.js';

/** What a walk has to locate in the elements of a list with images. */
export const TEXT_AND_IMAGE = ['text', 'image'] as const;

const WIDTH = widthOf(TEXT_AND_IMAGE);
/** Where a row has the text of an element that is one. */
const OWN_TEXT = 2;
const TEXT = ROW;
const IMAGE = ROW + FIELD;
const QUOTE = 0x22;
const NO_TEXT = Buffer.from('""');
/** How much is copied in one go. */
const COPY_BYTES = 262_144;

/** A body whose list has the places of texts and images. */
interface ImageList {
  readonly body: Buffer;
  readonly list: FoundList;
  readonly replaced: LoneHalves | undefined;
  /** Of the texts that there are. */
  readonly blanks: readonly number[];
}

/**
 * Documents of which some are images or have one, as the bytes that arrived; `undefined` if an element is neither a text nor an
 * image, or may not be one for all that is known: the plain parser decides.
 */
export function* imageDocuments(given: ImageList): Steps<Documents | undefined> {
  const { body, list, replaced } = given;
  const found = list.rows;
  const rows = new Uint32Array((found.length / WIDTH) * ROW);
  const images = new Images(body);
  let textBytes = 0;
  for (let at = 0, row = 0; at < found.length; at += WIDTH, row += ROW) {
    const isAlone = body[found[at] ?? 0] === QUOTE;
    const text = isAlone ? at + OWN_TEXT : at + TEXT;
    const [start = 0, end = 0, meant = 0] = found.subarray(text, text + FIELD);
    const [imageStart = 0, imageEnd = 0] = found.subarray(at + IMAGE, at + IMAGE + 2);
    const isImage = imageEnd - imageStart > NO_TEXT.length && body[imageStart] === QUOTE;
    if (start === 0 ? !isImage : body[start] !== QUOTE) return undefined;
    rows.set([found[at] ?? 0, found[at + 1] ?? 0, start, end, meant], row);
    if (isImage) images.add(row / ROW, imageStart, imageEnd, start === 0);
    textBytes += end - start;
  }
  const ranked = images.lone.length === 0 ? body : yield* textsOf(body, rows, textBytes);
  const blanks = [...given.blanks, ...images.lone].sort((one, other) => one - other);
  const places = { names: TEXT_AND_IMAGE, rows: found };
  const kept = { body, list: { rows, hasObjects: true, blanks }, replaced };
  return new ImageDocuments(rankedDocuments(kept, ranked, places), images);
}

/** The texts, and behind them an empty one for all documents that have none; the rows tell where they are then. */
function* textsOf(body: Buffer, rows: Uint32Array, textBytes: number): Steps<Buffer> {
  const texts = Owned.uncleared(textBytes + NO_TEXT.length).bytes;
  NO_TEXT.copy(texts, textBytes);
  const pace = new Pace(COPY_BYTES);
  let end = 0;
  for (let row = 2; row < rows.length; row += ROW) {
    const [from = 0, to = 0] = rows.subarray(row, row + 2);
    rows[row] = from === 0 ? textBytes : end;
    for (let at = from; at < to; at += COPY_BYTES) {
      end += copyBytes(body, texts, end, at, Math.min(to, at + COPY_BYTES));
      if (pace.fills(Math.min(to - at, COPY_BYTES))) yield;
    }
    rows[row + 1] = from === 0 ? texts.length : end;
  }
  return texts;
}

/** Where images are in a body, by the indexes of their documents. */
class Images {
  readonly #body: Buffer;
  readonly #places = new Map<number, readonly [start: number, end: number]>();
  readonly #lone = new Set<number>();

  constructor(body: Buffer) {
    this.#body = body;
  }

  add(index: number, start: number, end: number, isLone: boolean): void {
    this.#places.set(index, [start, end]);
    if (isLone) this.#lone.add(index);
  }

  get size(): number {
    return this.#places.size;
  }

  /** Those without a text. */
  get lone(): readonly number[] {
    return [...this.#lone];
  }

  isLone(index: number): boolean {
    return this.#lone.has(index);
  }

  has(index: number): boolean {
    return this.#places.has(index);
  }

  /** As JSON. */
  at(index: number): Buffer | undefined {
    const place = this.#places.get(index);
    return place && this.#body.subarray(...place);
  }

  /** Those of the documents at `indexes`, of which those in `texts` have a text now. */
  pick(indexes: Iterable<number>, texts?: NewTexts): Images {
    const picked = new Images(this.#body);
    let at = 0;
    for (const index of indexes) {
      const place = this.#places.get(index);
      const isLone = this.#lone.has(index) && texts?.has(index) !== true;
      if (place !== undefined) picked.add(at, ...place, isLone);
      at += 1;
    }
    return picked;
  }
}

/** Documents kept as the bytes that arrived, of which some are images or have one. */
class ImageDocuments implements Documents {
  readonly count: number;
  readonly hasImages = true;
  readonly hasLoneImages: boolean;
  /** The same without images: where there is no text, it is empty. */
  readonly #texts: Documents;
  readonly #images: Images;

  constructor(texts: Documents, images: Images) {
    this.#texts = texts;
    this.#images = images;
    this.count = texts.count;
    this.hasLoneImages = images.lone.length > 0;
  }

  get sizeBytes(): number {
    return this.#texts.sizeBytes;
  }

  get meantBytes(): number {
    return this.#texts.meantBytes;
  }

  contents(): readonly Content[] {
    return this.#texts.contents().map((content, index) => {
      const bytes = this.#images.at(index);
      if (bytes === undefined) return content;
      const image = new JsonFragment(bytes);
      return this.#images.isLone(index) ? { image } : { ...content, image };
    });
  }

  objects(key = 'text'): JsonFragment {
    const [named, alone] = [Buffer.from(`{${JSON.stringify(key)}:`), Buffer.from('{"image":')];
    return inList(
      this.contents().map(({ text, image }) => {
        if (image === undefined) return [named, text?.bytes ?? NO_TEXT, CLOSE];
        if (text === undefined) return [alone, image.bytes, CLOSE];
        return [named, text.bytes, BESIDE, image.bytes, CLOSE];
      }),
    );
  }

  parts(): readonly DocumentPart[] {
    return this.#texts.parts().map((part, index) => {
      const bytes = this.#images.at(index);
      if (bytes === undefined) return part;
      const image = JSON.parse(bytes.toString()) as string;
      return this.#images.isLone(index) ? { image, source: part.source } : { ...part, image };
    });
  }

  blanks(): readonly number[] {
    return this.#texts.blanks().filter((index) => !this.#images.has(index));
  }

  pick(indexes: readonly number[]): Documents {
    return withImages(this.#texts.pick(indexes), this.#images.pick(indexes));
  }

  fillBlanks(text: string): Documents {
    const texts = new NewTexts();
    for (const index of this.blanks()) texts.set(index, text);
    return atOnce(this.withTextsInSteps(texts));
  }

  *withTextsInSteps(texts: NewTexts): Steps<Documents> {
    if (texts.size === 0) return this;
    const images = this.#images.pick(Array(this.count).keys(), texts);
    return withImages(yield* this.#texts.withTextsInSteps(texts), images);
  }

  withoutImages(): Documents {
    return this.#texts;
  }

  async prepare(): Promise<void> {
    // They already lie there in the form needed.
  }

  texts(): JsonFragment {
    return this.#texts.texts();
  }

  text(index: number): string {
    return this.#texts.text(index);
  }

  pieces(index: number): Iterable<string> {
    return this.#texts.pieces(index);
  }

  leastTokens(index: number, upTo: number, pace: Pace): Steps<number> {
    return this.#texts.leastTokens(index, upTo, pace);
  }

  beginning(index: number, units: number): string {
    return this.#texts.beginning(index, units);
  }

  textJson(index: number): JsonFragment {
    return this.#texts.textJson(index);
  }

  around(before: string | ((index: number) => string), after: string): JsonFragment {
    return this.#texts.around(before, after);
  }

  sources(): JsonFragment {
    return this.#texts.sources();
  }

  picked(fields: readonly string[]): JsonFragment | undefined {
    return this.#texts.picked(fields);
  }

  echo(index: number): JsonBody {
    return this.#texts.echo(index);
  }

  echoes(indexes: readonly number[], rows: Buffer, shown?: Shown): JsonFragment {
    return this.#texts.echoes(indexes, rows, shown);
  }

  textBytes(index: number): number {
    return this.#texts.textBytes(index);
  }

  longestBytes(): number {
    return this.#texts.longestBytes();
  }
}

const BESIDE = Buffer.from(',"image":');
const CLOSE = Buffer.from('}');

function withImages(texts: Documents, images: Images): Documents {
  return images.size === 0 ? texts : new ImageDocuments(texts, images);
}
