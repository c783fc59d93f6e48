import { JsonShapeError, type Json } from '../../core/json.js';
import { product, readVector, toUnit, type Vector } from './vectors.js';

/** The embedding of one text: a single vector, or one per token. */
export type Embedding = readonly Vector[];

/** Reads the vectors of a text; each has length one. */
export function readEmbedding(vectors: readonly Json[]): Embedding {
  if (vectors.length === 0) throw new JsonShapeError('a text came back without a vector');
  return vectors.map((vector) => toUnit(readVector(vector)));
}

/** The mean over the query's vectors of the best cosine with one of the text's. */
export function similarity(query: Embedding, text: Embedding): number {
  let sum = 0;
  for (const one of query) {
    let best = -1;
    for (const other of text) best = Math.max(best, product(one, other));
    // The length of a unit vector is rounded, so that a product may be slightly more than 1.
    sum += Math.min(1, best);
  }
  return sum / query.length;
}

/** How many multiplications that takes. */
export function workOf(query: Embedding, text: Embedding): number {
  return query.length * text.length * dimensionsOf(query);
}

export function dimensionsOf([first]: Embedding): number {
  return first?.length ?? 0;
}
