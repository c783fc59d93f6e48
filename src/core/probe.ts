import type { Channel } from './channel.js';
import type { RankedRow, ReportedUsage } from './rerank.js';

/**
 * The request that shows whether a channel works: two documents, the relevant one last, so that a right order is not
 * accidental.
 */
export const PROBE_QUERY = 'What is the capital of France?';
export const PROBE_DOCUMENTS = [
  'Bananas are a good source of potassium.',
  'Paris is the capital of France.',
] as const;
const RIGHT_INDEX = 1;

/** What scores may be, as a provider declares it: probabilities, logits, cosines, or anything. */
export type ScoreScale = 'probability' | 'logit' | 'cosine' | 'unbounded' | 'order';

/** What an operator should look at when a channel does not work. */
export type ProbeProblemCode =
  /** The channel itself is incomplete or wrong for its provider. */
  | 'unusable'
  | 'unknown_host'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'connection_broken'
  | 'wrong_key'
  | 'no_credit'
  | 'unknown_model'
  | 'wrong_path'
  | 'redirected'
  | 'web_page'
  | 'busy'
  | 'refused'
  | 'not_a_ranking'
  | 'wrong_order'
  | 'upstream_fault';

export interface ProbeProblem {
  readonly code: ProbeProblemCode;
  /** What is wrong and how to fix it. For operators: it may name addresses, never credentials. */
  readonly message: string;
}

/** What two scores reveal about their scale. */
export interface ObservedScale {
  readonly expected: ScoreScale;
  /** The narrowest scale that both scores fit. */
  readonly observed: 'probability' | 'cosine' | 'unbounded';
  readonly fits: boolean;
}

export interface ProbeRanking {
  readonly order: 'right' | 'wrong' | 'undecided';
  /** As the upstream gave them, even if the channel normalizes them. */
  readonly scores: { readonly right: number; readonly other: number };
  readonly scale: ObservedScale;
}

/** The result of one real rerank of two documents on one channel. */
export interface ProbeReport {
  /** The caller's name of the model. */
  readonly model: string;
  readonly upstreamModel: string;
  /** Where the request went; `undefined` if none was sent. */
  readonly url: string | undefined;
  /** Status of the last reply; `undefined` if none came. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly ranking: ProbeRanking | undefined;
  /** What the upstream reported; empty if it reported nothing. */
  readonly usage: ReportedUsage;
  /** Absent if the channel works. */
  readonly problem: ProbeProblem | undefined;
  /** What works but should be looked at all the same. */
  readonly warnings: readonly string[];
}

/**
 * Sends a channel one real request, switched on or not, unless `mayBegin` says otherwise just before it leaves. Where one of
 * several keys is refused, it asks with the next ones; each `turn` begins with others.
 */
export type Probe = (
  channel: Channel,
  model: string,
  turn?: number,
  mayBegin?: () => boolean,
) => Promise<ProbeReport>;

/** What a ranking of the two documents shows. */
export function judgeRanking(rows: readonly RankedRow[], expected: ScoreScale): ProbeRanking {
  const scoreOf = (wanted: (index: number) => boolean): number =>
    rows.find(({ index }) => wanted(index))?.score ?? Number.NaN;
  const right = scoreOf((index) => index === RIGHT_INDEX);
  const other = scoreOf((index) => index !== RIGHT_INDEX);
  const order = right > other ? 'right' : right === other ? 'undecided' : 'wrong';
  return { order, scores: { right, other }, scale: judgeScale([right, other], expected) };
}

function judgeScale(scores: readonly number[], expected: ScoreScale): ObservedScale {
  const within = (least: number, most: number): boolean =>
    scores.every((score) => score >= least && score <= most);
  // Sums in single precision slightly exceed the range.
  const slack = 1e-3;
  const observed = within(-slack, 1 + slack)
    ? 'probability'
    : within(-1 - slack, 1 + slack)
      ? 'cosine'
      : 'unbounded';
  const fits = {
    probability: observed === 'probability',
    cosine: observed !== 'unbounded',
    // An irrelevant pair has a negative logit: two scores between 0 and 1 are already probabilities.
    logit: observed !== 'probability',
    unbounded: true,
    order: true,
  }[expected];
  return { expected, observed, fits };
}
