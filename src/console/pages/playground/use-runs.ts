import { useRef, useState } from 'preact/hooks';
import { ApiError, call, newKey, type ReplyOf } from '../../api/call.js';
import { reread } from '../../api/query.js';
import type { SharedResults } from '../../lib/share.js';
import { bodyOf, keyOf, SIDE_BY_SIDE, type LaneOptions, type LaneSpec } from '../../lib/lanes.js';

export type Ranked = ReplyOf<'rankForComparison'>;

export type Lane =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly sinceMs: number }
  | {
      readonly state: 'ranked';
      /** The reply of the first run, which is the one shown. */
      readonly reply: Ranked;
      readonly replies: readonly Ranked[];
      readonly query: string;
      readonly documents: readonly string[];
      /** Runs that are still to come. */
      readonly left: number;
      /** Why the repetition ended early. */
      readonly error?: ApiError;
    }
  | { readonly state: 'failed'; readonly error: ApiError };

export type RankedLane = Extract<Lane, { state: 'ranked' }> & {
  readonly key: string;
  readonly name: string;
};

export interface RunInput {
  readonly lanes: readonly LaneSpec[];
  readonly query: string;
  readonly documents: readonly string[];
  readonly options: LaneOptions;
  readonly runs: number;
}

export interface Runs {
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly running: boolean;
  readonly run: (input: RunInput) => Promise<void>;
  readonly abort: () => void;
  readonly clear: () => void;
  /** Shows what was ranked elsewhere; nothing is run. */
  readonly show: (lanes: Readonly<Record<string, Lane>>) => void;
}

/** Whether it has an answer, good or bad, from this page; a link brings none of the calls. */
export function isDone(lane: Lane | undefined): boolean {
  if (lane?.state === 'failed') return true;
  return lane?.state === 'ranked' && lane.reply.request_id !== '';
}

const IDLE: Lane = { state: 'idle' };

/** The state of each lane. Some lanes run in parallel, the runs of one lane in sequence. */
export function useRuns(): Runs {
  const [lanes, setLanes] = useState<Readonly<Record<string, Lane>>>({});
  const current = useRef<AbortController | undefined>(undefined);

  async function run(input: RunInput): Promise<void> {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const put = (key: string, lane: Lane): void => {
      if (current.current === controller) setLanes((before) => ({ ...before, [key]: lane }));
    };
    for (const lane of input.lanes) put(keyOf(lane), { state: 'running', sinceMs: Date.now() });
    const waiting = [...input.lanes];
    const runSome = async (): Promise<void> => {
      for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift()) {
        if (controller.signal.aborted) return;
        const key = keyOf(lane);
        await runLane(lane, input, controller.signal, (state) => put(key, state));
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runSome));
    if (current.current === controller) await reread();
  }

  function abort(): void {
    current.current?.abort();
    current.current = undefined;
    setLanes((before) =>
      Object.fromEntries(Object.entries(before).map(([key, lane]) => [key, stopped(lane)])),
    );
  }

  const running = Object.values(lanes).some(
    (lane) => lane.state === 'running' || (lane.state === 'ranked' && lane.left > 0),
  );
  const clear = (): void => {
    abort();
    setLanes({});
  };
  return { lanes, running, run, abort, clear, show: setLanes };
}

/** What a link carries of a lane: no request id, and no channel. */
export function resultsOf({ key, reply }: RankedLane): SharedResults {
  return {
    ...{ key, model: reply.model, ms: Math.round(reply.timing.total_ms), quota: reply.quota },
    tokens: reply.usage.input_tokens,
    rows: reply.results.map(({ index, relevance_score: score }) => [index, score] as const),
  };
}

/** A lane as a link brought it. */
export function laneOf(shared: SharedResults, query: string, documents: readonly string[]): Lane {
  const { model, rows, ms, quota, tokens } = shared;
  const reply: Ranked = {
    ...{ request_id: '', model, channel: null, upstream_model: null, score_scale: null },
    results: rows
      .filter(([index]) => index < documents.length)
      .map(([index, score]) => ({ index, relevance_score: score })),
    usage: { input_tokens: tokens, search_units: 0, estimated: true },
    ...{ quota, attempts: [], warnings: [] },
    timing: { total_ms: ms, upstream_ms: ms, admission_ms: 0 },
  };
  return { state: 'ranked', reply, replies: [reply], query, documents, left: 0 };
}

/** Keeps what was ranked so far. */
function stopped(lane: Lane): Lane {
  if (lane.state === 'running') return IDLE;
  return lane.state === 'ranked' ? { ...lane, left: 0 } : lane;
}

async function runLane(
  lane: LaneSpec,
  { query, documents, options, runs }: RunInput,
  signal: AbortSignal,
  put: (lane: Lane) => void,
): Promise<void> {
  put({ state: 'running', sinceMs: Date.now() });
  // A cached ranking says nothing about how long the next one takes.
  const body = { ...bodyOf(lane, query, documents, options), ...(runs > 1 ? { fresh: true } : {}) };
  let replies: readonly Ranked[] = [];
  for (let left = runs - 1; left >= 0; left -= 1) {
    try {
      const reply = await call('rankForComparison', { body, key: newKey(), signal });
      replies = [...replies, reply];
      put({ state: 'ranked', reply: replies[0] ?? reply, replies, query, documents, left });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const [reply] = replies;
      if (reply === undefined) put({ state: 'failed', error });
      else put({ state: 'ranked', reply, replies, query, documents, left: 0, error });
      return;
    }
  }
}
