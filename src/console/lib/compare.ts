import { kendallTauB, overlapAt, rankBiasedOverlap } from '../../core/agreement.js';

interface Row {
  readonly index: number;
  readonly relevance_score: number;
}

/** How far two rankings of the same documents agree. Pure. */
export interface Comparison {
  /** Over the documents that both ranked. */
  readonly tau: number | undefined;
  readonly rbo: number | undefined;
  readonly top3: number;
  readonly top10: number;
  readonly sameFirst: boolean;
  readonly says: 'same' | 'almost' | 'top' | 'partly' | 'unrelated' | 'reverse';
}

export function compared(a: readonly Row[], b: readonly Row[]): Comparison {
  const scores = new Map(b.map(({ index, relevance_score: score }) => [index, score]));
  const both = a.filter(({ index }) => scores.has(index));
  const tau = kendallTauB(
    both.map(({ relevance_score: score }) => score),
    both.map(({ index }) => scores.get(index) ?? 0),
  );
  const [first, second] = [a.map(({ index }) => index), b.map(({ index }) => index)];
  const rbo = rankBiasedOverlap(first, second);
  return {
    tau,
    rbo,
    top3: overlapAt(3, first, second),
    top10: overlapAt(10, first, second),
    sameFirst: first[0] === second[0],
    says: first.join() === second.join() ? 'same' : saysOf(tau ?? 0, rbo ?? 0),
  };
}

const NEARLY = 0.8;
const SOMEWHAT = 0.4;

function saysOf(tau: number, rbo: number): Comparison['says'] {
  if (tau >= NEARLY) return 'almost';
  if (rbo >= NEARLY) return 'top';
  if (tau >= SOMEWHAT) return 'partly';
  return tau > -SOMEWHAT ? 'unrelated' : 'reverse';
}
