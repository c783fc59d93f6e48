import type { Documents } from '../bytes/index.js';
import type { FaultKind } from '../core/retry.js';

/** A request to a neural model in this process. */
export interface NeuralRequest {
  /** The file with its weights. */
  readonly modelPath: string;
  /** Absent: a number that suits the machine. */
  readonly threads: number | undefined;
  /** Tokens of query and document together. */
  readonly contextTokens: number;
  readonly query: string;
  readonly documents: Documents;
}

/** Loads and runs neural models in this process; it belongs to the gateway, so that providers stay pure. */
export interface NeuralRanker {
  /** A probability per document, in their order; rejects early when the signal aborts. */
  rank(request: NeuralRequest, signal: AbortSignal): Promise<readonly number[]>;
}

/**
 * Ranking in this process failed for a known reason. The message is meant for the operator if the channel is at fault, and
 * for the caller if the request is.
 */
export class RankingFault extends Error {
  override readonly name = 'RankingFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
