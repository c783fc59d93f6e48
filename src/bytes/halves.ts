import { Pace, type Steps } from './steps.js';

/** Of an escape: the backslash and the `u` before its digits. */
const HEAD_BYTES = 2;
const ESCAPE_BYTES = 6;
/** The digits of the replacement character. */
const REPLACED = Buffer.from('fffd').readUInt32LE();
/** What a place costs, in units of a step. */
const PLACE_UNITS = 10;
/** How many are gone through before the step's end is thought of. */
const PLACES_AT_ONCE = 1_024;
/** How much of a text is copied at once. */
const PIECE_BYTES = 65_536;

/**
 * Halves of surrogate pairs that came without the other half, escaped, in texts: no upstream need understand them, and no
 * UTF-8 can hold them. Each is replaced where it lies, by an escape of the same length, and can be put back for whoever
 * gets to see what was sent.
 */
export class LoneHalves {
  readonly #places: Uint32Array;
  readonly #digits: Uint32Array;

  private constructor(places: Uint32Array, digits: Uint32Array) {
    this.#places = places;
    this.#digits = digits;
  }

  /** Replaces those at `places`, which are in order. */
  static *replace(text: Buffer, places: Uint32Array): Steps<LoneHalves | undefined> {
    if (places.length === 0) return undefined;
    const digits = new Uint32Array(places.length);
    const view = viewOf(text);
    yield* eachOf(places, (at, index) => {
      digits[index] = view.getUint32(at, true);
      view.setUint32(at, REPLACED, true);
    });
    return new LoneHalves(places, digits);
  }

  /** Puts all of them back where they lie, for whoever reads the text in another way. */
  *undo(text: Buffer): Steps<undefined> {
    const view = viewOf(text);
    yield* eachOf(this.#places, (at, index) => {
      view.setUint32(at, this.#digits[index] ?? 0, true);
    });
  }

  /** Puts those of `start` to `end` back in a copy of these bytes, which begins at `at` in `target`. */
  putBack(target: Buffer, at: number, start: number, end: number): void {
    for (let index = this.#firstFrom(start); ; index += 1) {
      const place = this.#places[index] ?? end;
      if (place >= end) return;
      target.writeUInt32LE(this.#digits[index] ?? 0, at + place - start + HEAD_BYTES);
    }
  }

  /** The bytes from `start` to `end` as they were, in pieces. */
  *originals(text: Buffer, start: number, end: number): Generator<Buffer, undefined, undefined> {
    for (let from = start; from < end;) {
      const next = this.#places[this.#firstFrom(from)] ?? end;
      if (next >= end) {
        yield text.subarray(from, end);
        return;
      }
      if (next > from) yield text.subarray(from, next);
      const to = this.#cutBefore(Math.min(end, next + PIECE_BYTES));
      const piece = Buffer.from(text.subarray(next, to));
      this.putBack(piece, 0, next, to);
      yield piece;
      from = to;
    }
  }

  /** `most`, or where an escape begins that lies there. */
  #cutBefore(most: number): number {
    const place = this.#places[this.#firstFrom(most) - 1] ?? 0;
    return place + ESCAPE_BYTES > most ? place : most;
  }

  #firstFrom(start: number): number {
    let from = 0;
    let to = this.#places.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#places[middle] ?? 0) < start) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Does the same with the digits of each escape, in order. */
function* eachOf(
  places: Uint32Array,
  doWith: (at: number, index: number) => void,
): Steps<undefined> {
  const pace = new Pace();
  for (let from = 0; from < places.length; from += PLACES_AT_ONCE) {
    const to = Math.min(places.length, from + PLACES_AT_ONCE);
    for (let index = from; index < to; index += 1) {
      doWith((places[index] ?? 0) + HEAD_BYTES, index);
    }
    if (pace.fills((to - from) * PLACE_UNITS)) yield;
  }
}
