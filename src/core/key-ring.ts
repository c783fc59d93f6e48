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
}

/**
 * The keys of one channel, taken in turn. A key that is refused or rate-limited is paused until its time has come, and a
 * refused one must then prove itself with a single attempt. Taking a key takes as long whether there are few or many.
 */
export class KeyRing {
  readonly #rule: KeyRule;
  readonly #states: readonly State[];
  /** The usable keys, in the order of their turns. */
  readonly #line = new Set<State>();
  /** The paused keys. */
  readonly #out = new Set<State>();
  /** None of these returns before. */
  #backAtMs = Infinity;

  constructor(count: number, rule: KeyRule) {
    this.#rule = rule;
    this.#states = Array.from({ length: count }, (_, key) => ({
      ...{ key, inFlight: 0, refusals: 0, reason: 'busy', outSinceMs: 0, outUntilMs: 0 },
    }));
    for (const state of this.#states) this.#lineUp(state);
  }

  /** The next key to send with; `undefined` if none is usable now. */
  take(nowMs: number): number | undefined {
    this.#return(nowMs);
    const [state] = this.#line;
    if (state === undefined) return undefined;
    this.#line.delete(state);
    state.inFlight += 1;
    this.#lineUp(state);
    return state.key;
  }

  /** Ends what `take` began. */
  done(key: number, verdict: KeyVerdict, nowMs: number): void {
    const state = this.#states[key];
    if (state === undefined) return;
    state.inFlight -= 1;
    if (verdict.kind === 'works') state.refusals = 0;
    if (verdict.kind === 'rests') {
      state.reason = verdict.reason;
      this.#putOut(state, verdict.untilMs, nowMs);
    }
    if (verdict.kind === 'refused') {
      const { refusedMs, longestMs } = this.#rule;
      const pauseMs = Math.min(refusedMs * 2 ** state.refusals, longestMs);
      state.refusals += 1;
      this.#putOut(state, nowMs + pauseMs, nowMs);
    }
    this.#lineUp(state);
  }

  /** When a key can be taken: now, as soon as one is free, or when the first pause ends. */
  readiness(nowMs: number): 'ready' | 'full' | Pick<KeyPause, 'untilMs' | 'reason'> {
    this.#return(nowMs);
    if (this.#line.size > 0) return 'ready';
    const [first] = [...this.#out].sort(bySoonest);
    // Some are in use and return afterwards.
    if (first === undefined || this.#out.size < this.#states.length) return 'full';
    const { outUntilMs: untilMs, refusals, reason } = first;
    return { untilMs, reason: refusals > 0 ? 'misconfigured' : reason };
  }

  /** Consecutive refusals across all keys, if a refusal is why every key is out; otherwise 0. */
  refusalsOfAll(nowMs: number): number {
    this.#return(nowMs);
    const areOut = this.#states.every((state) => state.refusals > 0 && this.#out.has(state));
    return areOut ? this.#states.reduce((sum, { refusals }) => sum + refusals, 0) : 0;
  }

  /** The paused keys, in their order. */
  pauses(nowMs: number): KeyPause[] {
    return [...this.#out]
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

  #putOut(state: State, untilMs: number, nowMs: number): void {
    if (untilMs <= nowMs || untilMs <= state.outUntilMs) return;
    if (state.outUntilMs <= nowMs) state.outSinceMs = nowMs;
    state.outUntilMs = untilMs;
    this.#line.delete(state);
    this.#out.add(state);
    this.#backAtMs = Math.min(this.#backAtMs, untilMs);
  }

  #lineUp(state: State): void {
    if (this.#out.has(state)) return;
    const most = state.refusals > 0 ? 1 : this.#rule.most;
    if (most === 0 || state.inFlight < most) this.#line.add(state);
  }

  /** Returns those whose time has come, the soonest first. */
  #return(nowMs: number): void {
    if (nowMs < this.#backAtMs) return;
    this.#backAtMs = Infinity;
    for (const state of [...this.#out].sort(bySoonest)) {
      if (state.outUntilMs > nowMs) {
        this.#backAtMs = state.outUntilMs;
        return;
      }
      this.#out.delete(state);
      this.#lineUp(state);
    }
  }
}

function bySoonest(one: State, other: State): number {
  return one.outUntilMs - other.outUntilMs;
}
