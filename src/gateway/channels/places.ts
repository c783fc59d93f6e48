import type { PlaceStore } from '../../store/store.js';
import type { Observe } from '../events.js';
import type { Bounded } from './concurrency.js';
import { beforeEnd, type Scope } from '../scope.js';

export interface ChannelPlacesDeps {
  readonly store: PlaceStore;
  readonly nodeId: string;
  readonly observe: Observe;
  readonly now: () => number;
  /** A clock that nobody sets, by which places lapse. */
  readonly steady: () => number;
  /** Calls a function again and again until the returned one is called. */
  readonly every: (ms: number, run: () => void) => () => void;
}

/** What this node holds of one limit. */
interface Held {
  readonly counter: string;
  most: number;
  used: number;
  /** The most that were used since the store was last asked. */
  peak: number;
  may: number;
  /** What the store counts as taken by this node. */
  counted: number;
  /** Until when that is certain. */
  untilMs: number;
  /** No question is sent before this time, after there was no place. */
  fullUntilMs: number;
  /** When it is renewed next at the earliest, after the store did not answer. */
  renewAtMs: number;
  isContended: boolean;
  asking: Promise<void> | undefined;
  /** Calls that wait for the answer. */
  awaited: number;
}

/** For how long the places of a node that was killed are lost. */
const HOLD_MS = 5_000;
const RENEW_MS = 250;
/** How long a node goes without the store's word. */
const BLIND_MS = 1_000;
/** How long a channel or a key without a place is passed over. */
export const FULL_MS = 50;
/** Places held beyond what is used, so that not each call asks: one part in so many. */
const SPARE_PARTS = 8;
/** How often one call asks. */
const MOST_ASKS = 3;

/**
 * Limits on calls in flight that all nodes keep together. Each node holds places in advance, so that few calls wait
 * for the store, and all of them together never have more calls in flight than the limit.
 */
export class ChannelPlaces {
  readonly #deps: ChannelPlacesDeps;
  readonly #held = new Map<string, Held>();
  #stop: (() => void) | undefined;

  constructor(deps: ChannelPlacesDeps) {
    this.#deps = deps;
  }

  /** Whether there was no place a moment ago. */
  isFull({ counter, most }: Bounded, nowMs: number): boolean {
    return most !== 0 && (this.#held.get(counter)?.fullUntilMs ?? 0) > nowMs;
  }

  /** Takes a place if this node holds a free one. */
  takeNow(bounded: Bounded): boolean {
    const held = this.#heldOf(bounded);
    if (held.used >= Math.min(held.may, held.most) || this.#deps.steady() >= held.untilMs) {
      return false;
    }
    held.used += 1;
    held.peak = Math.max(held.peak, held.used);
    return true;
  }

  /** Takes a place, of the store's if need be; false if all are taken. Rejects when the scope ends. */
  async take(bounded: Bounded, scope: Scope): Promise<boolean> {
    const held = this.#heldOf(bounded);
    for (let asks = 0; ; asks += 1) {
      if (this.takeNow(bounded)) return true;
      if (asks === MOST_ASKS || this.isFull(bounded, this.#deps.steady())) return false;
      held.awaited += 1;
      try {
        await beforeEnd(scope, this.#ask(held));
      } finally {
        held.awaited -= 1;
      }
    }
  }

  /** Gives back what `take` or `takeNow` took. */
  leave({ counter }: Bounded): void {
    const held = this.#held.get(counter);
    if (held === undefined) return;
    held.used -= 1;
    if (held.used < held.may) held.fullUntilMs = 0;
    if (isOwed(held)) void this.#ask(held);
  }

  /** Gives back what this node holds. */
  async close(): Promise<void> {
    this.#stop?.();
    this.#stop = undefined;
    await Promise.all(
      [...this.#held.values()].map(async (held) => {
        await held.asking;
        held.peak = 0;
        // Until the first answer is there, calls may begin by the one before it: only the second question reports that
        // nothing is in use.
        for (let asks = 0; asks < 2 && held.counted > held.used; asks += 1) await this.#ask(held);
      }),
    );
  }

  /** Keeps what is in use, and gives back what was not used since the last time. */
  #renew(): void {
    for (const held of this.#held.values()) {
      const isIdle = held.used + held.counted === 0 && held.asking === undefined;
      if (isIdle) this.#held.delete(held.counter);
      else if (this.#deps.steady() >= held.renewAtMs) void this.#ask(held);
    }
    if (this.#held.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Asks the store; calls that come meanwhile wait for the same answer. */
  #ask(held: Held): Promise<void> {
    held.asking ??= this.#answered(held).finally(() => {
      held.asking = undefined;
      if (isOwed(held)) void this.#ask(held);
    });
    return held.asking;
  }

  async #answered(held: Held): Promise<void> {
    const { store, nodeId: node, observe, now, steady } = this.#deps;
    // Calls of the same moment are asked for together.
    await Promise.resolve();
    const { counter, most } = held;
    const askedMs = steady();
    const need = held.used + held.awaited;
    // Until the answer is there, calls begin by the last one.
    const used = askedMs < held.untilMs ? Math.max(held.used, held.may) : held.used;
    const want = wanted(held, need);
    held.peak = held.used;
    try {
      const ask = { node, most, used, want, forMs: HOLD_MS };
      const { may, isContended } = await store.askPlaces(counter, ask, now());
      const counted = Math.max(may, used);
      Object.assign(held, { may, isContended, counted, untilMs: askedMs + HOLD_MS });
    } catch (error) {
      observe({
        kind: 'fault',
        what: 'the max_concurrency of a channel could not be enforced',
        error,
      });
      // Admitted callers are served; no others are admitted while the store is away.
      const may = Math.max(held.may, Math.min(most, need));
      const untilMs = steady() + BLIND_MS;
      Object.assign(held, { may, counted: may, isContended: false, untilMs, renewAtMs: untilMs });
    }
    if (need > held.may) held.fullUntilMs = steady() + FULL_MS;
  }

  #heldOf({ counter, most }: Bounded): Held {
    const known = this.#held.get(counter);
    if (known !== undefined) {
      known.most = most;
      return known;
    }
    const held: Held = {
      ...{
        counter,
        most,
        used: 0,
        peak: 0,
        may: 0,
        counted: 0,
        untilMs: 0,
        fullUntilMs: 0,
        renewAtMs: 0,
      },
      ...{ isContended: false, asking: undefined, awaited: 0 },
    };
    this.#held.set(counter, held);
    this.#stop ??= this.#deps.every(RENEW_MS, () => this.#renew());
    return held;
  }
}

/** How many places are worth holding: those needed, and some to spare while no other node waits for them. */
function wanted({ most, peak, isContended }: Held, need: number): number {
  const busiest = Math.max(need, peak);
  if (busiest === 0 || isContended) return busiest;
  return Math.max(need, Math.min(most, busiest + Math.ceil(most / SPARE_PARTS)));
}

/** Whether another node waits for places that this one neither uses nor may use. */
function isOwed({ isContended, counted, used, may }: Held): boolean {
  return isContended && counted > Math.max(used, may);
}
