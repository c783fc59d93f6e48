import { FairLine } from '../../core/fair-line.js';
import { LineSpeed } from '../../core/line-speed.js';
import type { Job, Layer, NoRanking, Offer, Outcome, Rank } from '../rank.js';
import { endError } from '../scope.js';

export interface QueueOptions {
  /** The most requests that wait for one model. */
  readonly maxWaiting: number;
  readonly now: () => number;
  /** What one turn should take, by the answers that a model's channels are working on; 0 if that is unknown. */
  readonly usualMs: (model: string) => number;
}

interface Waiter {
  readonly job: Job;
  /** Ends the wait: either its turn has come, or its place is lost. */
  readonly end: (how: 'turn' | 'dropped' | 'late') => void;
}

/** The requests waiting for one model. */
interface Line {
  readonly waiters: FairLine<Waiter>;
  readonly speed: LineSpeed;
  timer: NodeJS.Timeout | undefined;
}

type Busy = Extract<NoRanking, { kind: 'busy' }>;

/** Some changes are not reported: a switch, the end of a pause, a raised limit. This is how often someone looks again. */
const LOOK_EVERY_MS = 50;

/**
 * Briefly holds requests that find every channel of their model at its limit. They are served in turn by key, so that a key
 * with few requests is not stuck behind one with many. A request that cannot be served in time is refused at once, not at
 * the end of the wait.
 */
export class Queue {
  readonly #options: QueueOptions;
  readonly #lines = new Map<string, Line>();
  #waiting = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** `mostMs` is how long a request of the model may wait. */
  layer(mostMs: number): Layer<Rank> {
    return (next) => async (job) => {
      // New requests do not overtake those that wait.
      if ((this.#lines.get(job.model)?.waiters.size ?? 0) === 0) {
        const outcome = await next(job);
        if (busy(outcome) === undefined) return outcome;
        return this.#wait(next, job, mostMs, outcome);
      }
      return this.#wait(next, job, mostMs, BUSY);
    };
  }

  /**
   * How a request would be refused at once because of those that already wait; `undefined` if it may wait too, or if
   * none wait. Asked before anything is done for the request.
   */
  refusal(model: string, keyId: number, deadlineMs: number, mostMs: number): NoRanking | undefined {
    const line = this.#lines.get(model);
    if (line === undefined || line.waiters.size === 0) return undefined;
    const expectedMs = this.#expectedMs(model, line, keyId);
    if (isSoon(expectedMs, this.#patienceMs(deadlineMs, mostMs))) return undefined;
    return { ...BUSY_NOW, retryAfterMs: expectedMs };
  }

  /** How long a request may wait: half of the remaining time is reserved for the answer. */
  #patienceMs(deadlineMs: number, mostMs: number): number {
    return Math.min(mostMs, (deadlineMs - this.#options.now()) / 2);
  }

  /** An attempt has ended: its place goes to the next request for one of the channel's models. */
  freed({ route }: Offer): void {
    if (this.#waiting === 0) return;
    for (const model of Object.keys(route.channel.models)) {
      const line = this.#lines.get(model);
      if (line === undefined || line.waiters.size === 0) continue;
      callNext(line);
    }
  }

  /** How long a request of a key would wait if it came now. */
  #expectedMs(model: string, { waiters, speed }: Line, keyId: number): number {
    const { now, usualMs } = this.#options;
    // The first in line has not seen a place become free.
    if (waiters.size === 0) return usualMs(model);
    return speed.expectedMs(waiters.ahead(keyId), usualMs(model), now());
  }

  async #wait(next: Rank, job: Job, mostMs: number, refused: Outcome): Promise<Outcome> {
    const { now, maxWaiting } = this.#options;
    const line = this.#lineOf(job.model);
    const { waiters } = line;
    const patienceMs = this.#patienceMs(job.scope.deadlineMs, mostMs);
    const untilMs = now() + patienceMs;
    const isInTime = (outcome: Outcome): boolean =>
      now() + (busy(outcome)?.soonestMs ?? 0) < untilMs;
    const expectedMs = this.#expectedMs(job.model, line, job.keyId);
    if (!isInTime(refused) || !isSoon(expectedMs, patienceMs)) return later(refused, expectedMs);
    if (waiters.size >= maxWaiting) {
      const dropped = waiters.makeRoomFor(job.keyId);
      if (dropped === undefined) return later(refused, expectedMs);
      dropped.end('dropped');
    }
    let latest = refused;
    for (let isBack = false; ; isBack = true) {
      const how = await this.#turn(line, job, untilMs, isBack);
      job.scope.throwIfEnded();
      if (how !== 'turn') return later(latest, expectedMs);
      line.speed.moved(now());
      latest = await next(job);
      if (busy(latest) === undefined) return latest;
      line.speed.undo();
      if (!isInTime(latest)) return later(latest, expectedMs);
    }
  }

  /** Resolves when the job's turn has come, or its time is up. */
  async #turn(
    line: Line,
    job: Job,
    untilMs: number,
    isBack: boolean,
  ): Promise<'turn' | 'dropped' | 'late'> {
    const { keyId, scope } = job;
    let waiter: Waiter | undefined;
    let unlisten: (() => void) | undefined;
    this.#waiting += 1;
    const timer = setTimeout(() => waiter?.end('late'), Math.max(0, untilMs - this.#options.now()));
    try {
      return await new Promise((resolve, reject) => {
        waiter = { job, end: resolve };
        unlisten = scope.onEnd(() => reject(endError(scope.ended ?? 'client_gone')));
        if (!isBack && line.waiters.size === 0) line.speed.begin(this.#options.now());
        if (isBack) line.waiters.rejoin(keyId, waiter);
        else line.waiters.join(keyId, waiter);
        line.timer ??= setInterval(() => callNext(line), LOOK_EVERY_MS).unref();
        // A place may have become free since it was looked for.
        if (!isBack && line.waiters.size === 1) queueMicrotask(() => callNext(line));
      });
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
      unlisten?.();
      if (waiter !== undefined) line.waiters.leave(keyId, waiter);
      if (line.waiters.size === 0) {
        clearInterval(line.timer);
        line.timer = undefined;
      }
    }
  }

  #lineOf(model: string): Line {
    let line = this.#lines.get(model);
    if (line === undefined) {
      line = { waiters: new FairLine(), speed: new LineSpeed(), timer: undefined };
      this.#lines.set(model, line);
    }
    return line;
  }
}

const BUSY_NOW: Busy = { kind: 'busy', soonestMs: 0, retryAfterMs: 0 };
const BUSY: Outcome = { kind: 'none', why: BUSY_NOW };

/** How much of the time that a request may wait its expected wait may take: then hardly one in a hundred waits for nothing. */
const LIKELY_IN_TIME = 0.5;

/** Whether an expected wait is short enough to begin it: places become free irregularly, and others may be served in between. */
function isSoon(expectedMs: number, patienceMs: number): boolean {
  return expectedMs < patienceMs * LIKELY_IN_TIME;
}

function callNext(line: Line): void {
  line.waiters.next()?.end('turn');
}

function busy(outcome: Outcome): Busy | undefined {
  return outcome.kind === 'none' && outcome.why.kind === 'busy' ? outcome.why : undefined;
}

/** The refusal, with when there may be room. */
function later(outcome: Outcome, expectedMs: number): Outcome {
  const why = busy(outcome);
  if (why === undefined) return outcome;
  return { kind: 'none', why: { ...why, retryAfterMs: Math.max(why.retryAfterMs, expectedMs) } };
}
