import type { Documents } from '../core/documents.js';
import type { FaultKind } from '../core/retry.js';

/** What a neural model in this process is asked. */
export interface NeuralRequest {
  /** The file of its weights. */
  readonly modelPath: string;
  /** Absent: what suits the machine. */
  readonly threads: number | undefined;
  /** Tokens of query and document together. */
  readonly contextTokens: number;
  readonly query: string;
  readonly documents: Documents;
}

/** Loads and runs neural models in this process: the gateway's, so that providers stay pure. */
export interface NeuralRanker {
  /** A probability for each document, in their order; stops early, by rejecting, when the signal aborts. */
  rank(request: NeuralRequest, signal: AbortSignal): Promise<readonly number[]>;
}

/**
 * Ranking inside this process failed in a way that has a meaning. For faults of the channel the message is an operator's,
 * for those of the request a caller's.
 */
export class RankingFault extends Error {
  override readonly name = 'RankingFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
