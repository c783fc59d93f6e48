import type { KeyLimitName } from './channel-members.js';

/** How long a key is paused. Times in milliseconds. */
export interface KeyRule {
  /** Attempts at once with one key; 0: no limit. */
  readonly most: number;
  /** Pause after the first refusal; doubles with each further one, up to `longestMs`. */
  readonly refusedMs: number;
  readonly longestMs: number;
}

/** Why a key is paused: its account said so, or its own limit is used up. */
export type RestReason = 'busy' | KeyLimitName;

/** What an attempt says about its key: it works, it must rest until a time, it is refused, or nothing. */
export type KeyVerdict =
  | { readonly kind: 'works' | 'refused' | 'none' }
  | { readonly kind: 'rests'; readonly untilMs: number; readonly reason: RestReason };

/** A key that is paused. */
export interface KeyPause {
  readonly key: number;
  readonly state: 'open' | 'cooling';
  readonly reason: 'misconfigured' | RestReason;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface State {
  readonly key: number;
  inFlight: number;
  /** Consecutive refusals. */
  refusals: number;
  /** Why it rests, if it was not refused. */
  reason: RestReason;
  outSinceMs: number;
  outUntilMs: number;
  /** Whether it is in the line of usable keys, and between which neighbours. */
  isInLine: boolean;
  before: State | undefined;
  behind: State | undefined;
  /** Whether it is in the heap of paused keys. */
  isWaiting: boolean;
}

/**
 * The keys of one channel, taken in turn. A key that is refused or rate-limited is paused until its time has come, and a
 * refused one must then prove itself with a single attempt. Taking a key takes constant time however many there are; pausing
 * one takes logarithmic time in the number of paused keys.
 */
export class KeyRing {
  readonly #rule: KeyRule;
  readonly #states: readonly State[];
  /** The line of usable keys. */
  #first: State | undefined;
  #last: State | undefined;
  /** A heap of the paused keys, by when they return. */
  readonly #out: State[] = [];
  /** Keys that were refused when they were last heard of, and how often in a row, all together. */
  #refused = 0;
  #refusals = 0;

  constructor(count: number, rule: KeyRule) {
    this.#rule = rule;
    this.#states = Array.from({ length: count }, (_, key) => ({
      ...{ key, inFlight: 0, refusals: 0, reason: 'busy', outSinceMs: 0, outUntilMs: 0 },
      ...{ isInLine: false, isWaiting: false, before: undefined, behind: undefined },
    }));
    for (const state of this.#states) this.#lineUp(state);
  }

  /** The next key to send with; `undefined` if none is usable now. */
  take(nowMs: number): number | undefined {
    this.#return(nowMs);
    const state = this.#first;
    if (state === undefined) return undefined;
    this.#leaveLine(state);
    state.inFlight += 1;
    this.#lineUp(state);
    return state.key;
  }

  /** Ends what `take` began. */
  done(key: number, verdict: KeyVerdict, nowMs: number): void {
    const state = this.#states[key];
    if (state === undefined) return;
    state.inFlight -= 1;
    if (verdict.kind === 'works') this.#count(state, 0);
    if (verdict.kind === 'rests') {
      state.reason = verdict.reason;
      this.#putOut(state, verdict.untilMs, nowMs);
    }
    if (verdict.kind === 'refused') {
      const { refusedMs, longestMs } = this.#rule;
      this.#count(state, state.refusals + 1);
      this.#putOut(
        state,
        nowMs + Math.min(refusedMs * 2 ** (state.refusals - 1), longestMs),
        nowMs,
      );
    }
    this.#lineUp(state);
  }

  /** When a key can be taken: now, as soon as one is free, or when the first pause ends. */
  readiness(nowMs: number): 'ready' | 'full' | Pick<KeyPause, 'untilMs' | 'reason'> {
    this.#return(nowMs);
    if (this.#first !== undefined) return 'ready';
    const [first] = this.#out;
    // Some are in use and return afterwards.
    if (first === undefined || this.#out.length < this.#states.length) return 'full';
    const { outUntilMs: untilMs, refusals, reason } = first;
    return { untilMs, reason: refusals > 0 ? 'misconfigured' : reason };
  }

  /** Consecutive refusals across all keys, if a refusal is why every key is out; otherwise 0. */
  refusalsOfAll(nowMs: number): number {
    this.#return(nowMs);
    const count = this.#states.length;
    return this.#refused === count && this.#out.length === count ? this.#refusals : 0;
  }

  /** The paused keys, in their order. */
  pauses(nowMs: number): KeyPause[] {
    return this.#out
      .filter(({ outUntilMs }) => outUntilMs > nowMs)
      .map(({ key, refusals, reason, outSinceMs, outUntilMs }) => ({
        key,
        ...(refusals > 0
          ? ({ state: 'open', reason: 'misconfigured' } as const)
          : ({ state: 'cooling', reason } as const)),
        sinceMs: outSinceMs,
        untilMs: outUntilMs,
      }))
      .sort((one, other) => one.key - other.key);
  }

  #count(state: State, refusals: number): void {
    this.#refused += Math.sign(refusals) - Math.sign(state.refusals);
    this.#refusals += refusals - state.refusals;
    state.refusals = refusals;
  }

  #putOut(state: State, untilMs: number, nowMs: number): void {
    if (untilMs <= nowMs || untilMs <= state.outUntilMs) return;
    if (state.outUntilMs <= nowMs) state.outSinceMs = nowMs;
    state.outUntilMs = untilMs;
    if (state.isInLine) this.#leaveLine(state);
    if (state.isWaiting) this.#heapify();
    else this.#wait(state);
  }

  #leaveLine(state: State): void {
    const { before, behind } = state;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    state.before = undefined;
    state.behind = undefined;
    state.isInLine = false;
  }

  #lineUp(state: State): void {
    if (state.isInLine || state.isWaiting) return;
    const most = state.refusals > 0 ? 1 : this.#rule.most;
    if (most !== 0 && state.inFlight >= most) return;
    state.isInLine = true;
    state.before = this.#last;
    if (this.#last === undefined) this.#first = state;
    else this.#last.behind = state;
    this.#last = state;
  }

  /** Returns those whose time has come. */
  #return(nowMs: number): void {
    for (let [first] = this.#out; first !== undefined; [first] = this.#out) {
      if (first.outUntilMs > nowMs) return;
      const last = this.#out.pop();
      if (last !== undefined && last !== first) {
        this.#out[0] = last;
        this.#sink(0);
      }
      first.isWaiting = false;
      this.#lineUp(first);
    }
  }

  #wait(state: State): void {
    state.isWaiting = true;
    this.#out.push(state);
    let at = this.#out.length - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#swapIfSooner(at, above)) return;
      at = above;
    }
  }

  #heapify(): void {
    for (let at = (this.#out.length >> 1) - 1; at >= 0; at -= 1) this.#sink(at);
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = this.#isSooner(right, left) ? right : left;
      if (!this.#swapIfSooner(child, at)) return;
      at = child;
    }
  }

  #isSooner(one: number, other: number): boolean {
    const a = this.#out[one];
    const b = this.#out[other];
    return a !== undefined && b !== undefined && a.outUntilMs < b.outUntilMs;
  }

  #swapIfSooner(one: number, other: number): boolean {
    const a = this.#out[one];
    const b = this.#out[other];
    if (a === undefined || b === undefined || a.outUntilMs >= b.outUntilMs) return false;
    this.#out[one] = b;
    this.#out[other] = a;
    return true;
  }
}
