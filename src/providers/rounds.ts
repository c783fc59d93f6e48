import { JsonShapeError, type Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import type { ReportedUsage } from '../core/rerank.js';
import {
  type ComposedProvider,
  type PartCall,
  type RankerTools,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { RankingFault } from '../rankers/ranker.js';
import { judgeReply, type RawReply, type ReplyReading } from './reply.js';

/** A call, and how its reply is decoded. */
export interface Question<T> {
  /** Called when it is sent: there may be hundreds. */
  readonly makeBody: () => JsonBody;
  readonly decode: (reply: Json, http: UpstreamReply) => T;
}

type Asking<T> = Generator<readonly PartCall[], T[], undefined>;

/** One round: asks all `questions` at once, and returns their answers in the same order. */
export function* ask<T>(questions: readonly Question<T>[]): Asking<T> {
  const answers = new Answers<T>(questions.length);
  if (questions.length > 0) {
    yield questions.map((question, at) => ({
      makeBody: question.makeBody,
      read: (reply, http) => {
        answers.keep(at, question.decode(reply, http));
      },
    }));
  }
  return answers.all();
}

class Answers<T> {
  readonly #kept: ({ readonly of: T } | undefined)[];

  constructor(count: number) {
    this.#kept = Array.from({ length: count });
  }

  keep(at: number, of: T): void {
    this.#kept[at] = { of };
  }

  all(): T[] {
    return this.#kept.map((answer) => {
      if (answer === undefined) throw new Error('a call of the round was not answered');
      return answer.of;
    });
  }
}

/** Adds up the reports of a ranking's calls; if one of them reports nothing, the total is unknown. */
export function sumUsage(reports: readonly (number | undefined)[]): ReportedUsage {
  let inputTokens: number | undefined = reports.length === 0 ? undefined : 0;
  for (const count of reports) {
    inputTokens =
      count === undefined || inputTokens === undefined ? undefined : inputTokens + count;
  }
  return { inputTokens };
}

/** Posts one call of the provider. */
export type SendPart = (body: JsonBody) => Promise<RawReply>;

/** What time it is, and how others get their turn in a long computation. */
export interface Time {
  readonly now: () => number;
  readonly pause: () => Promise<void>;
}

/**
 * Makes the calls of a ranking, at most as many of a round at once as the channel's setting `concurrency` allows, and reads
 * their replies. The first failing call fails the ranking at once: nothing more is sent, and it is up to the sender to end
 * the calls still under way.
 */
export async function readRounds(
  provider: ComposedProvider,
  call: UpstreamCall,
  tools: RankerTools,
  send: SendPart,
  { now, pause }: Time,
): Promise<ReplyReading> {
  try {
    const rounds = provider.rounds(call, tools);
    for (;;) {
      const step = rounds.next();
      if (step.done === true) return { kind: 'ranking', ranking: step.value };
      if (step.value.length === 0) {
        await pause();
        continue;
      }
      const failure = await runRound(provider, step.value, concurrencyOf(call), send, now);
      if (failure !== undefined) return failure;
    }
  } catch (error) {
    if (error instanceof JsonShapeError) return failed('invalid', error.message);
    if (error instanceof RankingFault) return failed(error.kind, error.message);
    throw error;
  }
}

/** Concurrent calls of one ranking, unless the channel says otherwise. */
const DEFAULT_CONCURRENCY = 4;

function concurrencyOf({ settings }: UpstreamCall): number {
  const own = settings.concurrency;
  return typeof own === 'number' && own >= 1 ? Math.floor(own) : DEFAULT_CONCURRENCY;
}

/** Settles with the first failure, or when all calls have been read. */
function runRound(
  provider: ComposedProvider,
  parts: readonly PartCall[],
  concurrency: number,
  send: SendPart,
  now: () => number,
): Promise<ReplyReading | undefined> {
  return new Promise((resolve) => {
    let next = 0;
    let left = parts.length;
    let over = false;
    const end = (settle: () => void): void => {
      if (over) return;
      over = true;
      settle();
    };
    const work = async (): Promise<void> => {
      for (let part = parts[next]; part !== undefined && !over; part = parts[next]) {
        next += 1;
        const raw = await send(part.makeBody());
        const judged = judgeReply(provider, raw, now());
        if (judged.kind === 'failure') {
          end(() => resolve(judged));
          return;
        }
        part.read(judged.json, judged.reply);
        left -= 1;
      }
      if (left === 0) end(() => resolve(undefined));
    };
    for (let worker = 0; worker < Math.min(concurrency, parts.length); worker += 1) {
      const working = work();
      working.catch(() => {
        end(() => resolve(working.then(() => undefined)));
      });
    }
  });
}

function failed(kind: RankingFault['kind'], message: string): ReplyReading {
  return { kind: 'failure', failure: { kind, status: undefined, message } };
}
