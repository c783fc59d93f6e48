import { JsonShapeError, type Json } from '../../core/json.js';

export type Vector = Float32Array;

const BYTES_PER_NUMBER = 4;
const isBigEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

/** A vector as numbers, or as the bytes of little-endian floats in base64. */
export function readVector(json: Json): Vector {
  const { value } = json;
  const vector = typeof value === 'string' ? fromBase64(json, value) : fromNumbers(json);
  if (vector.length === 0) throw json.mismatch('a vector that is not empty');
  return vector;
}

function fromBase64(json: Json, text: string): Vector {
  // More than there are, where it has line breaks.
  const most = Buffer.byteLength(text, 'base64');
  const vector = new Float32Array(Math.ceil(most / BYTES_PER_NUMBER));
  const bytes = Buffer.from(vector.buffer);
  const length = bytes.write(text, 'base64');
  if (length % BYTES_PER_NUMBER !== 0) throw json.mismatch('whole floats in base64');
  if (isBigEndian) bytes.swap32();
  const count = length / BYTES_PER_NUMBER;
  return count === vector.length ? vector : vector.subarray(0, count);
}

function fromNumbers(json: Json): Vector {
  const numbers = json.array();
  const vector = new Float32Array(numbers.length);
  for (let at = 0; at < numbers.length; at += 1) {
    const value = numbers[at];
    if (typeof value !== 'number') throw json.item(at).mismatch('a number');
    vector[at] = value;
  }
  return vector;
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
