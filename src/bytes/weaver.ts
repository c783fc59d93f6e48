import { copyBytes } from './memory.js';
import type { LoneHalves } from './halves.js';
import { Compiled, type Constant, type Exports } from './instance.js';
import { bufferWithRoom } from './room.js';
import { ROW } from './scanner.js';
import { WEAVER } from './weaver-module.js';

/**
 * Writes lists of a request's documents in WebAssembly (`src/bytes/wasm/weaver.ts`): their texts, or the rows of a reply with a document
 * each. Node's own copy takes longer to be called for a document than to copy it. What is written has room around it.
 */

interface WeaverExports extends Exports {
  readonly MEMBER: Constant;
  readonly MEMBER_SIZE: Constant;
  readonly PLACES: Constant;
  readonly MAX_PLACES: Constant;
  readonly AROUND: Constant;
  readonly AROUND_SIZE: Constant;
  readonly ROWS: Constant;
  readonly BODY: Constant;
  readonly BODY_SIZE: Constant;
  readonly WRITTEN: Constant;
  readonly WRITTEN_SIZE: Constant;
  prepare(): void;
  added(): number;
  join(documents: number, place: number, before: number, between: number, after: number): number;
  echo(documents: number, bytes: number, member: number, bare: number): number;
  gather(parts: number): number;
}

/** Documents in a body: rows of `FoundList`, and at which of a row's numbers to look. */
export interface Places {
  readonly body: Buffer;
  readonly rows: Uint32Array;
  readonly place: number;
  /** What has been replaced in the body, and is put back where it is shown. */
  readonly replaced?: LoneHalves | undefined;
}

/** Parts of a body, each behind a part of the text `around`. */
export interface Parts {
  readonly body: Buffer;
  readonly around: Buffer;
  /** For each, where it starts and ends there, and in the body. */
  readonly numbers: Uint32Array;
  /** How many bytes that makes. */
  readonly size: number;
  readonly replaced?: LoneHalves | undefined;
}

/** Numbers for each part. */
export const PART = 4;

/** What is before, between and after documents, and how many bytes that is. */
interface Glue {
  readonly before: string;
  readonly after: string;
  readonly head: number;
  readonly between: number;
  readonly tail: number;
}

/** How documents are shown in rows. */
interface Echo {
  readonly name: string;
  readonly bare: boolean;
}

class Weaver {
  readonly #code: WeaverExports;
  readonly #memory: Buffer;
  readonly #words: Uint32Array;
  readonly #around: Buffer;
  /** The part of it that is for rows, behind what is short. */
  readonly #rows: Buffer;
  readonly #member: Buffer;
  /** What that is: the name of the last list of rows. */
  #name = '';
  #memberBytes = 0;
  /** What is around the documents of the last list. */
  #glue: Glue | undefined;
  readonly #body: Buffer;
  /** Where bodies begin in memory. */
  readonly #start: number;
  readonly #most: number;
  readonly #maxPlaces: number;

  constructor() {
    const code = new Compiled<WeaverExports>(WEAVER).instance();
    const { buffer } = code.memory;
    this.#code = code;
    this.#memory = Buffer.from(buffer);
    this.#words = new Uint32Array(buffer, code.PLACES.value, code.MAX_PLACES.value * ROW);
    this.#around = Buffer.from(buffer, code.AROUND.value, code.AROUND_SIZE.value);
    this.#rows = this.#around.subarray(code.ROWS.value - code.AROUND.value);
    this.#member = Buffer.from(buffer, code.MEMBER.value, code.MEMBER_SIZE.value);
    this.#body = Buffer.from(buffer, code.BODY.value, code.BODY_SIZE.value);
    this.#start = code.BODY.value;
    this.#most = code.WRITTEN_SIZE.value;
    this.#maxPlaces = code.MAX_PLACES.value;
    code.prepare();
  }

  /** The array of all documents, each between `before` and `after`; `undefined` if it is too large. */
  join({ body, rows, place }: Places, before: string, after: string): Buffer | undefined {
    const count = rows.length / ROW;
    if (count > this.#maxPlaces || body.length > this.#body.length) return undefined;
    if (body.length > SMALL_BYTES && !isWorthIt(body, count, bytesAt(rows, place)))
      return undefined;
    const glue = this.#glueOf(before, after);
    if (glue === undefined) return undefined;
    this.#words.set(rows);
    this.#take(body);
    const bytes = this.#code.join(count, place, glue.head, glue.between, glue.tail);
    return bytes === 0 ? undefined : this.#written(bytes);
  }

  /** Writes what is around the documents, unless it is still there; `undefined` if it is too long. */
  #glueOf(before: string, after: string): Glue | undefined {
    const last = this.#glue;
    if (last?.before === before && last.after === after) return last;
    const [head, between, tail] = [`[${before}`, `${after},${before}`, `${after}]`];
    const text = head + between + tail;
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#around.length) return undefined;
    this.#around.write(text);
    const glue = {
      ...{ before, after, head: Buffer.byteLength(head) },
      ...{ between: Buffer.byteLength(between), tail: Buffer.byteLength(tail) },
    };
    // Rows are written over what is longer.
    this.#glue = bytes <= this.#around.length - this.#rows.length ? glue : undefined;
    return glue;
  }

  /**
   * Rows, which are objects of numbers, each with the document of its index as its last member `name`, whose strings become
   * objects with a text unless they are `bare`; `undefined` if they are too large.
   */
  echo(
    { body, rows, place, replaced }: Places,
    indexes: readonly number[],
    text: Buffer,
    { name, bare }: Echo,
  ): Buffer | undefined {
    const count = indexes.length;
    const member = this.#memberOf(name);
    const around = text.length + count * (this.#code.added() + member);
    if (!this.#fits(body, count, text.length)) return undefined;
    let bytes = 0;
    for (let document = 0; document < count; document += 1) {
      bytes += this.#note(document, rows, (indexes[document] ?? 0) * ROW + place);
    }
    if (bytes + around > this.#most || !isWorthIt(body, count, bytes)) return undefined;
    this.#take(body);
    replaced?.putBack(this.#body, 0, 0, body.length);
    this.#rows.set(text);
    return this.#written(this.#code.echo(count, text.length, member, bare ? 1 : 0));
  }

  /** The parts, one behind the other; `undefined` if they are too large. */
  gather({ body, around, numbers, size, replaced }: Parts): Buffer | undefined {
    const count = numbers.length / PART;
    if (size > this.#most || !this.#fits(body, count, around.length)) return undefined;
    if (!isWorthIt(body, count, size)) return undefined;
    this.#words.set(numbers);
    this.#take(body);
    replaced?.putBack(this.#body, 0, 0, body.length);
    this.#rows.set(around);
    return this.#written(this.#code.gather(count));
  }

  /** Writes a name, unless it is still there; returns how many bytes it takes. */
  #memberOf(name: string): number {
    if (name !== this.#name) {
      const member = Buffer.from(`,"${name}":`);
      if (member.copy(this.#member) < member.length) throw new RangeError('too long a name');
      this.#memberBytes = member.length;
      this.#name = name;
    }
    return this.#memberBytes;
  }

  /** Notes where a document is that lies at `at` in `rows`; returns its length. */
  #note(document: number, rows: Uint32Array, at: number): number {
    const start = rows[at] ?? 0;
    const end = rows[at + 1] ?? 0;
    const body = this.#start;
    this.#words[document * 2] = body + start;
    this.#words[document * 2 + 1] = body + end;
    return end - start;
  }

  #fits(body: Buffer, count: number, around: number): boolean {
    const { length } = this.#rows;
    return body.length <= this.#body.length && count <= this.#maxPlaces && around <= length;
  }

  #written(bytes: number): Buffer {
    const start = this.#code.WRITTEN.value;
    // What is small is sooner copied once more than it gets memory of its own.
    const written = bytes < POOLED_BYTES ? Buffer.allocUnsafe(bytes) : bufferWithRoom(bytes).bytes;
    if (bytes <= COPIED_AS_ONE_BYTES) written.set(this.#memory.subarray(start, start + bytes));
    else copyBytes(this.#memory, written, 0, start, start + bytes);
    return written;
  }

  #take(body: Buffer): void {
    if (body.length <= COPIED_AS_ONE_BYTES) this.#body.set(body);
    else copyBytes(body, this.#body, 0);
  }
}

/** How long the documents are together. */
function bytesAt(rows: Uint32Array, place: number): number {
  let bytes = 0;
  for (let at = place; at < rows.length; at += ROW) bytes += (rows[at + 1] ?? 0) - (rows[at] ?? 0);
  return bytes;
}

/** Smaller buffers share memory of Node's. */
const POOLED_BYTES = Buffer.poolSize >>> 1;

/** Larger ones may lie in shared memory. */
const COPIED_AS_ONE_BYTES = 262_144;

/** A body of up to this size is copied in whatever is asked of it. */
const SMALL_BYTES = 65_536;
/** A body that stays in the processor's caches. */
const CACHED_BYTES = 524_288;

/**
 * Whether documents of so many bytes together are written faster here than one by one. All of the body is copied in and all that was
 * written out; for each document that costs a call less, which takes as long as some kilobytes of this.
 */
function isWorthIt({ length }: Buffer, count: number, bytes: number): boolean {
  if (length <= SMALL_BYTES) return true;
  return length + bytes <= count * (length <= CACHED_BYTES ? 5_000 : 1_400);
}

let only: Weaver | undefined;

/** The one there is: it keeps nothing from one call to the next. */
export function weaver(): Weaver {
  only ??= new Weaver();
  return only;
}
