/** A span of time by the clock of the suite, in ms. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How a call ended for its caller. */
export type CallEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** What is wrong with the ranking, where one came. */
      readonly mistake: string | undefined;
      /** What it costs by the model that answered. */
      readonly cost: number;
    }
  /** The connection broke after it had been made, and before the whole answer was there. */
  | { readonly kind: 'cut'; readonly how: string }
  /** No connection: the gateway never had it. */
  | { readonly kind: 'unheard' }
  /** The caller went away. */
  | { readonly kind: 'left' }
  /** Nothing came, for far longer than any deadline. */
  | { readonly kind: 'silence' };

/** One request as its caller saw it. */
export interface CallSeen {
  readonly id: string;
  /** Names what is asked, as upstreams see it; identical calls have the same. */
  readonly content: string;
  readonly keyId: number;
  /** The process that was asked. */
  readonly process: string;
  readonly model: string;
  /** The most that it may cost. */
  readonly mostCost: number;
  readonly mostAttempts: number;
  readonly budgetMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly end: CallEnd;
}

/** The content of what no caller has asked: a health check, or a request that broke off before its query was there. */
export const NAMELESS = 'nameless';

/** One request as an upstream saw it. */
export interface AttemptSeen {
  readonly content: string;
  readonly channel: string;
  readonly tag: string | undefined;
  readonly atMs: number;
  /** When the upstream had answered in full; absent where it never did. */
  readonly answeredMs: number | undefined;
}

/** A time for which the management API has promised that something is off. */
export interface OffSeen extends Span {
  /** When it was asked to see to it. */
  readonly askedMs: number;
  readonly kind: 'tag' | 'channel' | 'key';
  readonly name: string;
}

export interface ProcessSeen {
  readonly name: string;
  /** SIGKILL to it, or to one of its workers. */
  readonly killsMs: readonly number[];
  readonly terminatedMs: number | undefined;
  /** While it was stopped with SIGSTOP, or the machine did not let it run. */
  readonly frozen: readonly Span[];
  readonly exit: { readonly atMs: number; readonly code: number | null } | undefined;
  /** Lines of its log that speak of units that were lost, or of something that is never to happen. */
  readonly alarms: readonly string[];
}

/** A key at the end of all. */
export interface KeySeen {
  readonly id: number;
  /** What it was given: at first, and by every change that was confirmed. */
  readonly granted: number;
  /** Changes of which nobody knows whether they were made. */
  readonly mayBeGranted: readonly number[];
  readonly remain: number;
  readonly used: number;
  readonly maxConcurrency: number;
  /** Places that are taken, though nothing is under way. */
  readonly busy: number;
}

export interface OwnerSeen {
  readonly id: number;
  readonly granted: number;
  readonly remain: number;
  readonly used: number;
  readonly keys: readonly number[];
  /** Reservations that are still there. */
  readonly reservations: number;
}

/** What replicas lack of what their master has confirmed, at most. */
const REPLICA_LAG_MS = 1_000;

/** Whether the store may have forgotten what was written at some time in a span. */
export function mayBeForgotten({ fromMs, toMs }: Span, losses: readonly Span[]): boolean {
  return losses.some((loss) => loss.fromMs - REPLICA_LAG_MS <= toMs && loss.toMs >= fromMs);
}

export interface Rules {
  /** What a deadline may be exceeded by on a machine that has other work. */
  readonly slackMs: number;
  /** A settlement takes no longer than this while the store is well. */
  readonly settleMs: number;
}

/** Everything that was seen in one run. */
export interface Observations {
  readonly rules: Rules;
  readonly calls: readonly CallSeen[];
  readonly attempts: readonly AttemptSeen[];
  readonly off: readonly OffSeen[];
  readonly processes: readonly ProcessSeen[];
  readonly keys: readonly KeySeen[];
  readonly owners: readonly OwnerSeen[];
  /** While the store was slow, away, or failing over. */
  readonly storeTroubles: readonly Span[];
  /** While the store may have forgotten writes that it had confirmed. */
  readonly storeLosses: readonly Span[];
  /** While this machine did not let the suite run: nobody can be held to a deadline then. */
  readonly stalls: readonly Span[];
  /** Models that were not served again after everything was well, by process. */
  readonly unserved: readonly string[];
}

export interface Violation {
  readonly rule:
    | 'answered once'
    | 'right ranking'
    | 'money'
    | 'switched off'
    | 'deadline'
    | 'limits'
    | 'processes'
    | 'recovery';
  readonly what: string;
  /** What was seen that shows it. */
  readonly evidence: readonly unknown[];
}
