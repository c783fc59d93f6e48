import type { ReportedUsage } from '../core/rerank.js';
import type { ReplyStore } from '../store/store.js';
import type { Observe } from './events.js';
import type { Ranking } from './rank.js';
import type { ServedBy } from './trace.js';

/** A ranking of another node, or of this one before it was restarted. */
export interface SharedReply {
  readonly ranking: Ranking;
  readonly leftMs: number;
}

/** Rankings that all nodes share by way of the store. It may be away or slow: no request fails or waits long for that. */
export interface SharedReplies {
  find(name: string): Promise<SharedReply | undefined>;
  keep(name: string, ranking: Ranking, forMs: number): void;
}

export interface SharedRepliesDeps {
  readonly store: ReplyStore;
  readonly most: number;
  readonly observe: Observe;
  readonly now: () => number;
  /** Milliseconds by a clock that nobody sets. */
  readonly elapsed: () => number;
}

/** A store that takes longer is of no use: a ranking is at hand in not much more time. */
const WAIT_MS = 25;
/** How long a store that failed or was slow is not asked. */
const REST_MS = 5_000;
const MAX_PENDING = 100;
const MAX_CHARACTERS = 1_000_000;

export function sharedReplies(deps: SharedRepliesDeps): SharedReplies {
  const { store, most, observe, now, elapsed } = deps;
  let restsUntilMs = -Infinity;
  let pending = 0;
  const rest = (error: unknown): void => {
    if (isResting()) return;
    restsUntilMs = elapsed() + REST_MS;
    observe({ kind: 'fault', what: 'the shared reply cache is not used for a while', error });
  };
  const isResting = (): boolean => elapsed() < restsUntilMs;
  return {
    async find(name) {
      if (isResting()) return undefined;
      try {
        const found = await inTime(store.findReply(name, now()));
        const ranking = found === undefined ? undefined : read(found.text);
        return found === undefined || ranking === undefined
          ? undefined
          : { ranking, leftMs: found.leftMs };
      } catch (error) {
        rest(error);
        return undefined;
      }
    },

    keep(name, ranking, forMs) {
      if (pending >= MAX_PENDING) return;
      const text = write(ranking);
      if (text.length > MAX_CHARACTERS) return;
      pending += 1;
      store
        .keepReply(name, text, now(), forMs, most)
        .catch(rest)
        .finally(() => (pending -= 1));
    },
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`the store did not answer in ${WAIT_MS} ms`);
    timer = setTimeout(() => reject(error), WAIT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is kept of a ranking: numbers and names of models and channels, and nothing of what was asked. */
interface Written {
  readonly version: typeof VERSION;
  /** Index and score in turn. */
  readonly rows: readonly number[];
  readonly usage?: ReportedUsage;
  readonly warnings: readonly string[];
  readonly servedBy: readonly ServedBy[];
  readonly model?: string;
}

const VERSION = 1;

function write({ rows, usage, warnings, servedBy, model }: Ranking): string {
  return JSON.stringify({
    ...{ version: VERSION, warnings, servedBy, usage, model },
    rows: rows.flatMap(({ index, score }) => [index, score]),
  });
}

/** `undefined` for what another release has written in another way. */
function read(text: string): Ranking | undefined {
  const { version, rows, usage, warnings, servedBy, model } = JSON.parse(text) as Written;
  if ((version as number) !== VERSION) return undefined;
  const pairs = Array.from({ length: rows.length / 2 }, (_, at) => ({
    index: rows[2 * at] ?? 0,
    score: rows[2 * at + 1] ?? 0,
  }));
  return {
    ...{ rows: pairs, usage, warnings, servedBy, written: undefined },
    ...(model === undefined ? {} : { model }),
  };
}
