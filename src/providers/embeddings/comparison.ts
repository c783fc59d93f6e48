import { JsonShapeError, type Json } from '../../core/json.js';
import { Pace, type Steps } from '../../bytes/steps.js';
import { product, readVector, toUnit, VectorRoom, type TakeRoom, type Vector } from './vectors.js';

/** The embedding of one text: a single vector, or one per token. */
export type Embedding = readonly Vector[];

/** Multiplications before others get a turn: about a millisecond. */
const WORK_PER_TURN = 1_000_000;
/** To read a number takes as long as so many of them. */
const READING = 4;

/**
 * Compares texts with the query, each as soon as the vectors of both are there: the mean over the query's vectors of the best cosine
 * with one of the text's. What need not be kept is not: many small vectors would be moved, and freed one by one, by the collector.
 */
export class Comparison {
  /** By the numbers of the texts. */
  readonly scores: Float64Array;
  readonly #areKept: boolean;
  readonly #pace = new Pace(WORK_PER_TURN);
  readonly #room = new VectorRoom();
  #query: Embedding = [];
  /** Texts that came before the query. */
  #waiting: { readonly text: number; readonly embedding: Embedding }[] = [];
  /** For a vector that is forgotten once it has been compared: nothing may yield between the two. */
  #scratch: Vector = new Float32Array(0);

  /** @param areKept whether embeddings are remembered, and have memory of their own. */
  constructor(count: number, areKept: boolean) {
    this.scores = new Float64Array(count);
    this.#areKept = areKept;
  }

  /** How long the query's vectors are. */
  get dimensions(): number {
    return dimensionsOf(this.#query);
  }

  /** Reads the vectors of the query. */
  *takeQuery(vectors: readonly Json[]): Steps<undefined> {
    checkSome(vectors);
    this.#query = yield* this.#read(vectors, ownMemory);
    for (const { text, embedding } of this.#waiting.splice(0)) yield* this.compare(text, embedding);
  }

  /** Reads the vectors of a text; returns them if they are kept. */
  *take(text: number, vectors: readonly Json[]): Steps<Embedding | undefined> {
    checkSome(vectors);
    if (this.#query.length > 0 && !this.#areKept) {
      yield* this.#compareAs(text, vectors, this.#readOnce);
      return undefined;
    }
    const embedding = yield* this.#read(vectors, this.#areKept ? ownMemory : this.#room.take);
    if (this.#query.length > 0) yield* this.compare(text, embedding);
    else this.#waiting.push({ text, embedding });
    return this.#areKept ? embedding : undefined;
  }

  /** Compares a text whose embedding is known. */
  *compare(text: number, embedding: Embedding): Steps<undefined> {
    yield* this.#compareAs(text, embedding, (vector) => vector);
  }

  /** Leaves the memory of what had to wait to others. */
  end(): void {
    this.#room.giveBack();
  }

  *#compareAs<T>(text: number, vectors: readonly T[], read: (of: T) => Vector): Steps<undefined> {
    const query = this.#query;
    const best = new Float64Array(query.length).fill(-1);
    for (const each of vectors) {
      const vector = read(each);
      for (let at = 0; at < query.length; at += 1) {
        best[at] = Math.max(best[at] ?? -1, product(query[at] ?? NOTHING, vector));
      }
      if (this.#pace.fills(vector.length * (query.length + READING))) yield;
    }
    let sum = 0;
    // The length of a unit vector is rounded, so that a product may be slightly more than 1.
    for (const cosine of best) sum += Math.min(1, cosine);
    this.scores[text] = sum / query.length;
  }

  *#read(vectors: readonly Json[], take: TakeRoom): Steps<Vector[]> {
    const read: Vector[] = [];
    for (const each of vectors) {
      const vector = toUnit(readVector(each, take));
      read.push(vector);
      if (this.#pace.fills(vector.length * READING)) yield;
    }
    return read;
  }

  readonly #readOnce = (vector: Json): Vector => toUnit(readVector(vector, this.#takeOnce));

  readonly #takeOnce = (count: number): Vector => {
    if (this.#scratch.length !== count) this.#scratch = new Float32Array(count);
    return this.#scratch;
  };
}

function checkSome(vectors: readonly Json[]): void {
  if (vectors.length === 0) throw new JsonShapeError('a text came back without a vector');
}

const NOTHING: Vector = new Float32Array(0);

const ownMemory: TakeRoom = (count) => new Float32Array(count);

export function dimensionsOf([first]: Embedding): number {
  return first?.length ?? 0;
}
