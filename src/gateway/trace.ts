import type { Usage } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { attemptSpan, type AttemptSpan, type TraceContext } from './trace-context.js';

/** A channel that had a part in a ranking. */
export interface ServedBy {
  readonly channelId: number;
  readonly provider: string;
  readonly tag: string | undefined;
}

/** `cancelled`: the request ended first. `withdrawn`: nothing was sent, or another attempt was faster. */
export type AttemptEnd = 'ok' | FaultKind | 'cancelled' | 'withdrawn';

/** One call to a channel, as the request's log shows it. */
export interface AttemptRecord extends ServedBy {
  readonly outcome: AttemptEnd;
  /** The upstream's status; `undefined` if none came. */
  readonly status: number | undefined;
  /** The upstream's words or the transport's, without addresses; empty if all went well. */
  readonly message: string;
  readonly durationMs: number;
}

/** What becomes known about a request along the way; the request's event is made from it, however it ends. */
export class Trace {
  /** The distributed trace that the request belongs to, if it does. */
  readonly context: TraceContext | undefined;
  /** Attempts that have ended, withdrawn ones included. */
  readonly made: AttemptRecord[] = [];
  /** Whose ranking the caller gets; empty until there is one. */
  servedBy: readonly ServedBy[] = [];
  /** The model that was routed. */
  model: string | undefined;
  admitted = false;
  /** When it was admitted, on the gateway's clock. */
  admittedMs: number | undefined;
  /** Whether a last resort answered. */
  degraded = false;
  usage: Usage | undefined;
  /** What the request costs. */
  quota = 0;
  /** What its calls cost the operator, as far as their channels declare it. */
  cost = 0;
  /** How much of the quota is charged, which may be less: resolves after the reply, to `undefined` if that cannot be known. */
  charged: Promise<number | undefined> | undefined;

  constructor(context?: TraceContext) {
    this.context = context;
  }

  /** The span of an attempt that begins now; absent if the request belongs to no trace. */
  beginAttempt(nowMs: number): AttemptSpan | undefined {
    if (this.context === undefined) return undefined;
    this.context.chosenMs ??= nowMs;
    return attemptSpan(this.context);
  }

  /** Calls that were made; a withdrawn one was not. */
  get attempts(): number {
    let count = 0;
    for (const { outcome } of this.made) if (outcome !== 'withdrawn') count += 1;
    return count;
  }

  /** Time spent waiting for upstreams, all attempts together. */
  get upstreamMs(): number {
    let total = 0;
    for (const { durationMs } of this.made) total += durationMs;
    return total;
  }

  get channelId(): number | undefined {
    return this.#last?.channelId;
  }

  get provider(): string | undefined {
    return this.#last?.provider;
  }

  get tag(): string | undefined {
    return this.#last?.tag;
  }

  /** Who served the request, or who was tried last. */
  get #last(): ServedBy | undefined {
    return this.servedBy[0] ?? this.made.at(-1);
  }
}
