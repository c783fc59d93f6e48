import { JsonShapeError, type Json } from '../../core/json.js';
import { Owned } from '../../bytes/memory.js';

export type Vector = Float32Array;

const BYTES_PER_NUMBER = 4;
const isBigEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

/** Memory for a vector of so many numbers. */
export type TakeRoom = (count: number) => Vector;

/** A vector as numbers, or as the bytes of little-endian floats in base64, in the memory that `take` gives. */
export function readVector(json: Json, take: TakeRoom): Vector {
  const { value } = json;
  const vector =
    typeof value === 'string'
      ? fromBase64(json, value, take)
      : value instanceof Float64Array
        ? copied(value, take)
        : fromNumbers(json, take);
  if (vector.length === 0) throw json.mismatch('a vector that is not empty');
  return vector;
}

function fromBase64(json: Json, text: string, take: TakeRoom): Vector {
  // More than there are, where it has line breaks.
  const most = Buffer.byteLength(text, 'base64');
  const vector = take(Math.ceil(most / BYTES_PER_NUMBER));
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  const length = bytes.write(text, 'base64');
  if (length % BYTES_PER_NUMBER !== 0) throw json.mismatch('whole floats in base64');
  if (isBigEndian) bytes.swap32();
  const count = length / BYTES_PER_NUMBER;
  return count === vector.length ? vector : vector.subarray(0, count);
}

function copied(numbers: Float64Array, take: TakeRoom): Vector {
  const vector = take(numbers.length);
  for (let at = 0; at < numbers.length; at += 1) vector[at] = numbers[at] ?? 0;
  return vector;
}

function fromNumbers(json: Json, take: TakeRoom): Vector {
  const numbers = json.array();
  const vector = take(numbers.length);
  for (let at = 0; at < numbers.length; at += 1) {
    const value = numbers[at];
    if (typeof value !== 'number') throw json.item(at).mismatch('a number');
    vector[at] = value;
  }
  return vector;
}

/** So much lies in memory of its own, as for the few vectors of most requests. */
const APART_BYTES = 65_536;
/** The least for which the engine does not count the memory. */
const BLOCK_BYTES = 524_288;

/**
 * Memory for vectors that have to wait for others. Many lie behind one another where the engine does not count them: buffers of their
 * own would be freed one by one, in the pause of a collection.
 */
export class VectorRoom {
  #apartBytes = 0;
  #last: Vector = new Float32Array(0);
  /** Of the last block. */
  #filled = 0;
  readonly #blocks: Owned[] = [];

  readonly take = (count: number): Vector => {
    if (this.#apartBytes < APART_BYTES) {
      this.#apartBytes += count * BYTES_PER_NUMBER;
      return new Float32Array(count);
    }
    if (this.#filled + count > this.#last.length) {
      const block = Owned.uncleared(Math.max(BLOCK_BYTES, count * BYTES_PER_NUMBER));
      this.#blocks.push(block);
      const { buffer, byteOffset, length } = block.bytes;
      this.#last = new Float32Array(buffer, byteOffset, Math.floor(length / BYTES_PER_NUMBER));
      this.#filled = 0;
    }
    this.#filled += count;
    return this.#last.subarray(this.#filled - count, this.#filled);
  };

  /** Leaves the memory to others, where nobody reads the vectors any more. */
  giveBack(): void {
    for (const block of this.#blocks.splice(0)) block.giveBack();
    this.#last = new Float32Array(0);
    this.#filled = 0;
  }
}

/**
 * Gives a vector length one in place, so that a product is a cosine.
 * @throws JsonShapeError for a vector without a direction: one of zeros, or with numbers that are not finite.
 */
export function toUnit(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (!(length > 0) || !Number.isFinite(length)) {
    throw new JsonShapeError('a vector came back that has no direction');
  }
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** The cosine of two vectors of length one. */
export function product(one: Vector, other: Vector): number {
  if (one.length !== other.length) {
    throw new JsonShapeError(`vectors of ${one.length} and ${other.length} numbers came back`);
  }
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** The vectors of a list that states their places, in the order of the texts, read one by one: `data[]` of `index` and `embedding`. */
export function* readIndexed<T>(list: Json, count: number, read: (row: Json) => T): Iterable<T> {
  const rows = rowsOf(list, count);
  // Where each text's row is.
  const places = new Map<number, number>();
  for (let at = 0; at < rows.length; at += 1) {
    places.set(list.item(at).field('index').optionalNumber() ?? at, at);
  }
  for (let text = 0; text < count; text += 1) {
    const at = places.get(text);
    if (at === undefined) throw new JsonShapeError(`no embedding of text ${text} came back`);
    yield read(list.item(at));
  }
}

/** The vectors of a bare list, in the order of the texts, read one by one. */
export function* readList<T>(list: Json, count: number, read: (row: Json) => T): Iterable<T> {
  const rows = rowsOf(list, count);
  for (let at = 0; at < rows.length; at += 1) yield read(list.item(at));
}

function rowsOf(list: Json, count: number): readonly unknown[] {
  const rows = list.array();
  if (rows.length === count) return rows;
  throw list.mismatch(`a list of ${count} embeddings, not of ${rows.length},`);
}
