import { useEffect, useRef, useState } from 'preact/hooks';
import { ndcg, reciprocalRank, trecOrder } from '../../../core/evaluation.js';
import { ApiError, call, newKey } from '../../api/call.js';
import { reread } from '../../api/query.js';
import { bodyOf, keyOf, SIDE_BY_SIDE, type LaneOptions, type LaneSpec } from '../../lib/lanes.js';
import type { Judged } from '../../lib/queries-in.js';
import type { SharedMany, SharedScores } from '../../lib/share.js';

const PLACES = 10;
/** How often one request is sent again that was refused for a while. */
const MOST_WAITS = 20;

/** How one lane did with one query. */
export interface Score {
  readonly ndcg: number;
  readonly reciprocalRank: number;
  readonly ms: number;
  readonly quota: number;
}

export interface Evaluated {
  /** By the index of the query. */
  readonly scores: ReadonlyMap<number, Score>;
  readonly failed: number;
  readonly error: ApiError | undefined;
}

export interface Evaluation {
  /** Whether somebody else measured it. */
  readonly given: boolean;
  /** The queries that were ranked. */
  readonly queries: readonly string[];
  /** By the key of the lane. */
  readonly lanes: ReadonlyMap<string, Evaluated>;
  readonly running: boolean;
  readonly run: (lanes: readonly LaneSpec[], queries: readonly Judged[]) => Promise<void>;
  readonly stop: () => void;
  /** Shows what was measured elsewhere or before; nothing is run. */
  readonly show: (many: Pick<SharedMany, 'queries' | 'lanes'> | undefined) => void;
}

const NOTHING: Evaluated = { scores: new Map(), failed: 0, error: undefined };

/** Ranks many queries with each lane, as many at once as the playground may. */
export function useEvaluation(options: LaneOptions, begun: SharedMany | undefined): Evaluation {
  const [lanes, setLanes] = useState<ReadonlyMap<string, Evaluated>>(() => evaluatedOf(begun));
  const [asked, setAsked] = useState(begun?.queries ?? []);
  const [given, setGiven] = useState(false);
  const [running, setRunning] = useState(false);
  const current = useRef<AbortController | undefined>(undefined);
  const stop = (): void => {
    current.current?.abort();
    current.current = undefined;
    setRunning(false);
  };
  useEffect(() => () => current.current?.abort(), []);

  async function run(specs: readonly LaneSpec[], queries: readonly Judged[]): Promise<void> {
    stop();
    const controller = new AbortController();
    current.current = controller;
    setRunning(true);
    setGiven(false);
    setAsked(queries.map(({ query }) => query));
    setLanes(new Map(specs.map((spec) => [keyOf(spec), NOTHING])));
    // Query by query, so that lanes can be compared however early somebody stops.
    const waiting = queries.flatMap((judged, at) => specs.map((spec) => ({ spec, judged, at })));
    const put = (key: string, change: (before: Evaluated) => Evaluated): void => {
      if (current.current !== controller) return;
      setLanes((before) => new Map([...before, [key, change(before.get(key) ?? NOTHING)]]));
    };
    const isStopped = (): boolean => controller.signal.aborted;
    const runSome = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (isStopped()) return;
        const { spec, judged, at } = next;
        try {
          const score = await scoreOf(spec, judged, options, controller.signal);
          put(keyOf(spec), (was) => ({ ...was, scores: new Map([...was.scores, [at, score]]) }));
        } catch (error) {
          if (isStopped()) return;
          if (!(error instanceof ApiError)) throw error;
          put(keyOf(spec), (was) => ({ ...was, failed: was.failed + 1, error }));
        }
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runSome));
    if (current.current !== controller) return;
    current.current = undefined;
    setRunning(false);
    await reread();
  }

  const show: Evaluation['show'] = (many) => {
    stop();
    setGiven(true);
    setAsked(many?.queries ?? []);
    setLanes(evaluatedOf(many));
  };
  return { given, queries: asked, lanes, running, run, stop, show };
}

/** What a link carries of it. */
export function scoresOf({ lanes }: Pick<Evaluation, 'lanes'>): SharedScores[] {
  return Array.from(lanes, ([key, { scores, failed }]) => ({
    ...{ key, failed },
    scores: Array.from(
      scores,
      ([at, score]) =>
        [
          at,
          score.ndcg,
          score.reciprocalRank,
          Math.round(score.ms * 10) / 10,
          score.quota,
        ] as const,
    ),
  }));
}

function evaluatedOf(many: Pick<SharedMany, 'lanes'> | undefined): ReadonlyMap<string, Evaluated> {
  return new Map(
    many?.lanes.map(({ key, failed, scores }) => [
      key,
      {
        ...{ failed, error: undefined },
        scores: new Map(
          scores.map(([at, gain, reciprocal, ms, quota]) => [
            at,
            { ndcg: gain, reciprocalRank: reciprocal, ms, quota },
          ]),
        ),
      },
    ]),
  );
}

async function scoreOf(
  spec: LaneSpec,
  { query, documents, relevance }: Judged,
  options: LaneOptions,
  signal: AbortSignal,
): Promise<Score> {
  const body = bodyOf(spec, query, documents, options);
  const reply = await patiently(
    () => call('rankForComparison', { body, key: newKey(), signal }),
    signal,
  );
  const order = trecOrder(
    reply.results.map(({ index, relevance_score: score }) => ({ index, score })),
  );
  return {
    ndcg: ndcg(order, relevance, PLACES),
    reciprocalRank: reciprocalRank(order, relevance),
    ms: reply.timing.total_ms,
    quota: reply.quota,
  };
}

/** Sends again what was refused because there were too many requests, when the gateway says. */
async function patiently<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await send();
    } catch (error) {
      const seconds =
        error instanceof ApiError && error.status === 429 ? error.retryAfterS : undefined;
      if (seconds === undefined || waits === MOST_WAITS) throw error;
      await pause(seconds * 1_000, signal);
    }
  }
}

/** Ends early if it is stopped. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
