import { atOnce, STEP_BYTES, type Paced } from './pace.js';

/** JSON text that is put together when it is written. */
export interface Pieces {
  readonly size: number;
  /**
   * Writes it to `target` from `at` on. Not a generator itself: V8 makes a map for each that is called, and a map is old and keeps what
   * its generator refers to until the whole heap is marked.
   */
  readonly copying: (target: Buffer, at: number) => Paced;
}

/**
 * JSON text that is known to be valid and is written as it stands: a text, bytes where they lie, or what is put together when it is
 * written. Documents are spliced into bodies and replies by this, and never copied by value.
 */
export class JsonFragment {
  /** In UTF-8. */
  readonly size: number;
  /** It, if it came as a text. */
  readonly text: string | undefined;
  readonly #pieces: Pieces | undefined;
  #bytes: Buffer | undefined;
  #around: readonly [before: string, after: string] | undefined;

  /** @param size of a text, where it is known: to ask takes as long as to write it. */
  constructor(of: Buffer | string | Pieces, size?: number) {
    if (typeof of === 'string') {
      this.text = of;
      this.size = size ?? Buffer.byteLength(of);
    } else if (Buffer.isBuffer(of)) {
      this.#bytes = of;
      this.size = of.length;
    } else {
      this.#pieces = of;
      this.size = of.size;
    }
  }

  /** What it consists of, one after the other. */
  static joined(parts: readonly (string | Buffer | JsonFragment)[]): JsonFragment {
    const fragments = parts.map((part) =>
      part instanceof JsonFragment ? part : new JsonFragment(part),
    );
    return new JsonFragment({
      size: fragments.reduce((bytes, { size }) => bytes + size, 0),
      copying: (target, at) => copyingAll(fragments, target, at),
    });
  }

  /** Bytes that stay where they lie, between two texts. */
  static enclosed(before: string, lying: Buffer, after: string): JsonFragment {
    const enclosed = JsonFragment.joined([before, lying, after]);
    enclosed.#bytes = lying;
    enclosed.#around = [before, after];
    return enclosed;
  }

  /** The whole, if nothing has to be put together for it. */
  get lying(): Buffer | undefined {
    return this.#around === undefined ? this.#bytes : undefined;
  }

  /** The whole in one piece. */
  get bytes(): Buffer {
    const { lying } = this;
    if (lying !== undefined) return lying;
    if (this.text !== undefined) return Buffer.from(this.text);
    const whole = Buffer.allocUnsafe(this.size);
    this.copyTo(whole, 0);
    if (this.#around === undefined) this.#bytes = whole;
    return whole;
  }

  /** The same in as many pieces as there are without copying anything large. */
  get pieces(): readonly Buffer[] {
    if (this.#around === undefined || this.#bytes === undefined) return [this.bytes];
    const [before, after] = this.#around;
    return [Buffer.from(before), this.#bytes, Buffer.from(after)];
  }

  /** Writes it to `target` from `at` on, at once. */
  copyTo(target: Buffer, at: number): void {
    if (this.text !== undefined) target.write(this.text, at);
    else if (this.lying !== undefined) this.lying.copy(target, at);
    else if (this.#pieces !== undefined) atOnce(this.#pieces.copying(target, at));
  }

  /** The same, a step at a time. */
  *copying(target: Buffer, at: number): Paced {
    if (this.text !== undefined) {
      target.write(this.text, at);
    } else if (this.lying !== undefined) {
      yield* copying(this.lying, target, at);
    } else if (this.#pieces !== undefined) {
      yield* this.#pieces.copying(target, at);
    }
  }

  toString(): string {
    return this.text ?? this.bytes.toString('utf8');
  }
}

/** Writes fragments to `start`, one after the other. */
function* copyingAll(fragments: readonly JsonFragment[], target: Buffer, start: number): Paced {
  let at = start;
  for (const fragment of fragments) {
    if (fragment.size <= STEP_BYTES) fragment.copyTo(target, at);
    else yield* fragment.copying(target, at);
    at += fragment.size;
  }
}

/** Copies bytes to `at`, a step at a time. */
function* copying(source: Buffer, target: Buffer, at: number): Paced {
  for (let from = 0; from < source.length; from += STEP_BYTES) {
    if (from > 0) yield;
    source.copy(target, at + from, from, from + STEP_BYTES);
  }
}

/**
 * What a converter may return as a body: plain JSON with fragments anywhere. Undefined members are left out, and halves of
 * surrogate pairs in strings are replaced.
 */
export type JsonBody =
  | string
  | number
  | boolean
  | null
  | undefined
  | JsonFragment
  | readonly JsonBody[]
  | { readonly [name: string]: JsonBody };
