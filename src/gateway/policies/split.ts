import { mergeWindows, sumUsage, surelyFits, windowsOf, type Window } from '../../core/split.js';
import { FAULTS } from '../../core/retry.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer, Ranking } from '../rank.js';

export interface SplitOptions {
  /** Windows of one request in flight at once. */
  readonly parallel: number;
}

interface WindowResult {
  readonly window: Window;
  readonly ranking: Ranking;
}

/** The most channels that rank one list together: if that many fail, the fault is probably everywhere. */
const MOST_CHANNELS = 3;

/** The channels of one list: the chosen one, and those that take the windows it fails to rank. */
class Relay {
  readonly #offers: Offer[];
  readonly #job: Job;

  constructor(offer: Offer, job: Job) {
    this.#offers = [offer];
    this.#job = job;
  }

  /** Where windows begin: a channel that failed is not the first to be tried again. */
  get latest(): Offer | undefined {
    return this.#offers.at(-1);
  }

  /** The candidates for a window that this one did not rank. */
  after(offer: Offer): Offer | undefined {
    const known = this.#offers[this.#offers.indexOf(offer) + 1];
    if (known !== undefined) return known;
    if (this.#offers.length >= MOST_CHANNELS) return undefined;
    const twin = this.#job.elsewhere?.twinOf(offer);
    if (twin !== undefined) this.#offers.push(twin);
    return twin;
  }
}

const UNLIMITED = {
  documents: undefined,
  characters: undefined,
  bytes: undefined,
  tokens: undefined,
};

/** Limits that channels revealed with a 413, by channel and model; the oldest is dropped when there are too many. */
const MAX_LEARNED = 10_000;

/**
 * Sends a list that exceeds its channel's limits in windows and merges them into the ranking that the channel itself would
 * have given: only where each score depends on one document alone. A window that is refused as too large is halved, and the
 * size that fits is remembered. A window that fails otherwise goes alone to another channel of the same model, whose
 * scores are comparable; if there is none, the attempt fails and the windows in flight end.
 */
export function split({ parallel }: SplitOptions): Layer<Attempt> {
  const learned = new Map<string, number>();
  const keyOf = ({ id, upstreamModel }: Offer): string => `${id}\n${upstreamModel}`;

  const learn = (offer: Offer, documents: number): void => {
    const key = keyOf(offer);
    const known = learned.get(key);
    if (known !== undefined && known <= documents) return;
    learned.delete(key);
    learned.set(key, documents);
    if (learned.size <= MAX_LEARNED) return;
    const [oldest] = learned.keys();
    if (oldest !== undefined) learned.delete(oldest);
  };

  return (next) => {
    const ask = async (offer: Offer, job: Job): Promise<AttemptOutcome> => {
      const { window: limits } = offer;
      if (limits === undefined) return next(offer, job);
      const most = Math.min(limits.documents ?? Infinity, learned.get(keyOf(offer)) ?? Infinity);
      const within = { ...limits, documents: Number.isFinite(most) ? most : undefined };
      if (!surelyFits(job.documents, job.query, within)) {
        const windows = windowsOf(job.documents, job.query, within);
        if (windows.length > 1) return inWindows(offer, job, windows);
      }
      const outcome = await next(offer, job);
      const { count } = job.documents;
      if (!isTooLarge(outcome) || count < 2) return outcome;
      const half = Math.ceil(count / 2);
      const halves = windowsOf(job.documents, '', { ...UNLIMITED, documents: half });
      const halved = await inWindows(offer, job, halves);
      // What failed for another reason is soon tried again, but not with what the channel has just refused.
      if (!isTooLarge(halved)) learn(offer, half);
      return halved;
    };

    const inWindows = async (
      offer: Offer,
      job: Job,
      windows: readonly Window[],
    ): Promise<AttemptOutcome> => {
      const mostCalls = callsAMinute(offer);
      if (windows.length > mostCalls) return tooManyCalls(windows.length, mostCalls);
      const scope = job.scope.child();
      const relay = new Relay(offer, job);
      const results: WindowResult[] = [];
      const stopped: AttemptOutcome[] = [];
      let at = 0;
      const work = async (): Promise<void> => {
        while (stopped.length === 0 && at < windows.length) {
          const window = windows[at];
          at += 1;
          if (window === undefined) return;
          const outcome = await passedOn(relay, offer, pieceOf({ ...job, scope }, window));
          if (outcome.kind === 'ranked') {
            results.push({ window, ranking: outcome.ranking });
          } else {
            stopped.push(outcome);
            scope.end('lost');
          }
        }
      };
      try {
        await Promise.all(Array.from({ length: Math.min(parallel, windows.length) }, work));
      } finally {
        scope.release();
      }
      return stopped[0] ?? { kind: 'ranked', ranking: merged(job, results) };
    };

    /** One window ranked by the first channel that can; else the last one's failure. */
    const passedOn = async (relay: Relay, first: Offer, job: Job): Promise<AttemptOutcome> => {
      let offer = relay.latest ?? first;
      for (;;) {
        const outcome = await ask(offer, job);
        if (offer !== first) job.elsewhere?.heard(offer, outcome);
        if (outcome.kind === 'ranked' || job.scope.ended !== undefined) return outcome;
        const other = mayGoElsewhere(outcome) ? relay.after(offer) : undefined;
        if (other === undefined) return outcome;
        // If the rest of the list is ranked, that is all that is heard of the first channel.
        if (offer === first && isGivenUp(outcome)) job.elsewhere?.heard(offer, outcome);
        offer = other;
      }
    };
    return ask;
  };
}

/** How many calls a channel takes in a minute: if a list needs more, not even the first is sent. */
function callsAMinute({ route: { limits, keys = [] } }: Offer): number {
  const least = (all: typeof limits): number =>
    Math.min(...all.filter(({ counts }) => counts === 'calls').map(({ most }) => most));
  const withKeys = keys.reduce((sum, key) => sum + least(key.limits), 0);
  return Math.min(least(limits), keys.length === 0 ? Infinity : withKeys);
}

function tooManyCalls(needed: number, most: number): AttemptOutcome {
  const message = `the list takes ${needed} calls, more than the ${most} a minute that are allowed`;
  return { kind: 'failed', failure: { kind: 'limit', status: undefined, message, unsent: true } };
}

/** Whether the channel says that it was too much at once. */
function isTooLarge(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'failed' && outcome.failure.kind === 'limit';
}

/** Whether its time was up early, so that the other channel's answer shows whether it hangs. */
function isGivenUp(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'failed' && outcome.failure.isEarly === true;
}

/** Whether another channel of the same model may rank what this one did not. */
function mayGoElsewhere(outcome: AttemptOutcome): boolean {
  if (outcome.kind !== 'failed') return outcome.kind === 'withdrawn';
  const { kind } = outcome.failure;
  return FAULTS[kind].failsOver && kind !== 'limit' && kind !== 'rejected';
}

function pieceOf(job: Job, { from, to }: Window): Job {
  const indexes = Array.from({ length: to - from }, (_, at) => from + at);
  return { ...job, documents: job.documents.pick(indexes), topN: Math.min(job.topN, to - from) };
}

function merged({ topN }: Job, results: readonly WindowResult[]): Ranking {
  const inOrder = [...results].sort((one, other) => one.window.from - other.window.from);
  return {
    rows: mergeWindows(
      inOrder.map(({ window, ranking: { rows } }) => ({ window, rows })),
      topN,
    ),
    usage: sumUsage(inOrder.map(({ ranking: { usage } }) => usage)),
    warnings: [...new Set(inOrder.flatMap(({ ranking: { warnings } }) => warnings))],
    written: undefined,
    servedBy: [...new Set(inOrder.flatMap(({ ranking: { servedBy } }) => servedBy))],
  };
}
