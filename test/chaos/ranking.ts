import { hashOf } from './random.js';

/** What every upstream of the suite thinks of a document: known to all, so that any wrong ranking can be told. */
export function scoreOf(query: string, document: string): number {
  return hashOf(`${query}\n${document}`) / 2 ** 32;
}

export interface RowSeen {
  readonly index: number;
  readonly score: number;
  /** As it was echoed, where it was. */
  readonly document: string | undefined;
}

export interface Asked {
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN: number;
  readonly echo: boolean;
}

/** What is wrong with a ranking; `undefined` when it is the right one. Equal scores may come in either order. */
export function mistakeIn(asked: Asked, rows: readonly RowSeen[]): string | undefined {
  const { query, documents, topN, echo } = asked;
  const count = Math.min(topN, documents.length);
  if (rows.length !== count) return `${rows.length} rows in place of ${count}`;
  const scores = documents.map((document) => scoreOf(query, document));
  const best = [...scores].sort((one, other) => other - one);
  const seen = new Set<number>();
  for (const [at, { index, score, document }] of rows.entries()) {
    if (seen.has(index)) return `index ${index} comes twice`;
    seen.add(index);
    const right = scores[index];
    if (right === undefined) return `index ${index} of ${documents.length} documents`;
    if (Math.abs(score - right) > 1e-9) return `score ${score} at index ${index} is not ${right}`;
    if (Math.abs(right - (best[at] ?? Number.NaN)) > 1e-9) {
      return `row ${at} is index ${index}, which is not the next best`;
    }
    if (echo && document !== documents[index]) return `row ${at} has another document`;
  }
  return undefined;
}
