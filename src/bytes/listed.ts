import type { Change, DocumentJson, Documents, Shown } from './documents.js';
import { JsonFragment } from './fragment.js';
import { ROW } from './scanner.js';
import { textOf } from './text.js';
import { weaver } from './weaver.js';
import { Woven } from './woven.js';

const QUOTE = 0x22;

/** Where in a row a document is, its text, and how long that is meant. */
export const SOURCE = 0;
export const TEXT = 2;
export const MEANT = 4;

/** From and to where something lies. */
export type Range = readonly [start: number, end: number];

/** Documents by their places. */
export interface Places {
  /** Where the documents are. */
  readonly bytes: Buffer;
  /** Where their texts are: the same by default. */
  readonly ranked?: Buffer | undefined;
  /** For each, where it starts and ends in `bytes`, and its text in `ranked`, and how many bytes that means. */
  readonly rows: Uint32Array;
  /** Texts of only white space, those beside images too. */
  readonly blanks: readonly number[];
  /** Where the array of all of them lies, and that of all texts, if there is one. */
  readonly sourcesAt?: Range | undefined;
  readonly textsAt?: Range | undefined;
  /** Images as JSON, by the index of their document. */
  readonly images?: ReadonlyMap<number, Buffer> | undefined;
  /** Elements without a text: an empty one takes its place. */
  readonly lone?: ReadonlySet<number> | undefined;
  /** Texts as JSON that have been replaced. */
  readonly changed?: ReadonlyMap<number, Buffer> | undefined;
}

const AS_DOCUMENT: Shown = { name: 'document', areTexts: false };

/** Documents in bytes: those that the caller sent, or those into which values have been written. */
export class Listed implements Documents {
  readonly count: number;
  readonly #places: Places;
  readonly #ranked: Buffer;
  readonly #changed: ReadonlyMap<number, Buffer> | undefined;
  #sizeBytes: number | undefined;
  #meantBytes: number | undefined;
  #texts: JsonFragment | undefined;

  constructor(places: Places) {
    this.#places = places;
    this.#ranked = places.ranked ?? places.bytes;
    this.#changed = places.changed;
    this.count = places.rows.length / ROW;
  }

  get sizeBytes(): number {
    this.#sizeBytes ??= this.#countBytes();
    return this.#sizeBytes;
  }

  #countBytes(): number {
    const { textsAt } = this.#places;
    if (textsAt !== undefined) return textsAt[1] - textsAt[0];
    let size = 1 + Math.max(1, this.count);
    for (let index = 0; index < this.count; index += 1) size += this.textBytes(index);
    return size;
  }

  get meantBytes(): number {
    if (this.#meantBytes === undefined) {
      const { rows } = this.#places;
      let bytes = 1 + Math.max(1, this.count) + 2 * this.count;
      for (let at = MEANT; at < rows.length; at += ROW) bytes += rows[at] ?? 0;
      this.#meantBytes = bytes;
    }
    return this.#meantBytes;
  }

  get images(): Documents['images'] {
    const { images, lone } = this.#places;
    if (images === undefined || images.size === 0) return 'none';
    return lone === undefined || lone.size === 0 ? 'beside' : 'alone';
  }

  get blanks(): readonly number[] {
    const { blanks, images } = this.#places;
    return images === undefined ? blanks : blanks.filter((index) => !images.has(index));
  }

  textBytes(index: number): number {
    const changed = this.#changed?.get(index);
    if (changed !== undefined) return changed.length;
    const { rows } = this.#places;
    const at = index * ROW + TEXT;
    return (rows[at + 1] ?? 0) - (rows[at] ?? 0);
  }

  text(index: number, units?: number): string {
    return textOf(this.#text(index), units);
  }

  json(index: number): DocumentJson {
    const { images, lone } = this.#places;
    const image = images?.get(index);
    const source = new JsonFragment(this.#source(index));
    if (image !== undefined && lone?.has(index) === true) {
      return { image: new JsonFragment(image), source };
    }
    const text = new JsonFragment(this.#text(index));
    return image === undefined
      ? { text, source }
      : { text, image: new JsonFragment(image), source };
  }

  texts(before: string | ((index: number) => string) = '', after = ''): JsonFragment {
    if (before !== '' || after !== '') return this.#list(before, after);
    const { textsAt } = this.#places;
    this.#texts ??=
      textsAt === undefined
        ? this.#list('', '')
        : new JsonFragment(this.#ranked.subarray(...textsAt));
    return this.#texts;
  }

  #list(before: string | ((index: number) => string), after: string): JsonFragment {
    if (this.count === 0) return new JsonFragment('[]');
    const { rows } = this.#places;
    const list = new Woven(this.#ranked, this.count);
    const between = typeof before === 'string' ? list.keep(`${after},${before}`) : undefined;
    const headOf = typeof before === 'string' ? () => before : before;
    for (let index = 0; index < this.count; index += 1) {
      const head = index === 0 ? `[${headOf(0)}` : (between ?? `${after},${headOf(index)}`);
      const changed = this.#changed?.get(index);
      const at = index * ROW + TEXT;
      if (changed === undefined) list.add(head, rows[at] ?? 0, rows[at + 1] ?? 0);
      else {
        list.addText(head);
        list.addText(changed.toString());
      }
    }
    list.addText(`${after}]`);
    return list.fragment();
  }

  sources(): JsonFragment {
    const { bytes, rows, sourcesAt } = this.#places;
    if (sourcesAt !== undefined) return new JsonFragment(bytes.subarray(...sourcesAt));
    if (this.count === 0) return new JsonFragment('[]');
    const list = new Woven(bytes, this.count);
    const between = list.keep(',');
    for (let at = SOURCE; at < rows.length; at += ROW) {
      list.add(at === SOURCE ? '[' : between, rows[at] ?? 0, rows[at + 1] ?? 0);
    }
    list.addText(']');
    return list.fragment();
  }

  echoes(indexes: readonly number[], rowsText: Buffer, shown = AS_DOCUMENT): JsonFragment {
    const { areTexts } = shown;
    if (areTexts && this.#changed !== undefined)
      return this.#changedEchoes(indexes, rowsText, shown);
    const body = areTexts ? this.#ranked : this.#places.bytes;
    const { rows } = this.#places;
    const place = areTexts ? TEXT : SOURCE;
    const woven = weaver().echo({ body, rows, place }, indexes, rowsText, shown);
    if (woven !== undefined) return new JsonFragment(woven);
    const list = new Woven(body, indexes.length);
    const heads = headsOf(rowsText, shown);
    let tail = '';
    for (const [at, index] of indexes.entries()) {
      const start = rows[index * ROW + place] ?? 0;
      const isText = !areTexts && body[start] === QUOTE;
      list.add(
        tail + (heads[at] ?? '') + (isText ? '{"text":' : ''),
        start,
        rows[index * ROW + place + 1] ?? 0,
      );
      tail = isText ? '}' : '';
    }
    list.addText(`${tail}}`);
    return list.fragment();
  }

  #changedEchoes(indexes: readonly number[], rowsText: Buffer, shown: Shown): JsonFragment {
    const heads = headsOf(rowsText, shown);
    const parts = indexes.flatMap((index, at) => [heads[at] ?? '', this.#text(index)]);
    return JsonFragment.joined([...parts, '}']);
  }

  pick(indexes: readonly number[] | undefined, change: Change = {}): Documents {
    const { texts, images } = change;
    const picked = indexes === undefined ? this.#places : this.#picked(indexes);
    const without = images === 'none' ? { ...picked, images: undefined, lone: undefined } : picked;
    return new Listed(texts === undefined || texts.size === 0 ? without : changed(without, texts));
  }

  #picked(indexes: readonly number[]): Places {
    const { bytes, rows: all, blanks, images, lone } = this.#places;
    const rows = new Uint32Array(indexes.length * ROW);
    const left = blanks.length === 0 ? undefined : new Set(blanks);
    const still: number[] = [];
    for (let at = 0; at < indexes.length; at += 1) {
      const index = indexes[at] ?? 0;
      for (let place = 0; place < ROW; place += 1) {
        rows[at * ROW + place] = all[index * ROW + place] ?? 0;
      }
      if (left?.has(index) === true) still.push(at);
    }
    return {
      ...{ bytes, ranked: this.#ranked, rows, blanks: still },
      images: images && pickedOf(images, indexes),
      lone: lone && new Set(indexes.flatMap((index, at) => (lone.has(index) ? [at] : []))),
      changed: this.#changed && pickedOf(this.#changed, indexes),
    };
  }

  #text(index: number): Buffer {
    const { rows } = this.#places;
    const at = index * ROW + TEXT;
    return this.#changed?.get(index) ?? this.#ranked.subarray(rows[at], rows[at + 1]);
  }

  #source(index: number): Buffer {
    const { bytes, rows } = this.#places;
    return bytes.subarray(rows[index * ROW + SOURCE], rows[index * ROW + SOURCE + 1]);
  }
}

function pickedOf(all: ReadonlyMap<number, Buffer>, indexes: readonly number[]) {
  const picked = new Map<number, Buffer>();
  for (const [at, index] of indexes.entries()) {
    const one = all.get(index);
    if (one !== undefined) picked.set(at, one);
  }
  return picked;
}

/** The same with some texts replaced. */
function changed(places: Places, texts: ReadonlyMap<number, string>): Places {
  const rows = places.rows.slice();
  const all = new Map(places.changed);
  for (const [index, text] of texts) {
    all.set(index, Buffer.from(JSON.stringify(text.toWellFormed())));
    rows[index * ROW + MEANT] = Buffer.byteLength(text);
  }
  const lone = new Set([...(places.lone ?? [])].filter((index) => !texts.has(index)));
  const blanks = places.blanks.filter((index) => !texts.has(index));
  return { ...places, rows, blanks, lone, changed: all, textsAt: undefined };
}

/** What stands before each document among rows: each row but for its brace, which comes before the next, and the member's name. */
function headsOf(rowsText: Buffer, { name }: Shown): readonly string[] {
  const parts = rowsText.toString('latin1').split('}');
  return parts.slice(0, -1).map((row, at) => `${at === 0 ? '' : '}'}${row},"${name}":`);
}
