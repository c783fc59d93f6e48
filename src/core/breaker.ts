/** When a circuit opens and for how long. Times in milliseconds. */
export interface BreakerRule {
  /** Failures in the window that open the circuit, if they are also at least half of the calls; 0: it never opens. */
  readonly failures: number;
  readonly windowMs: number;
  /** How long it stays open at first; doubles after each failed probe, up to `longestMs`. */
  readonly openMs: number;
  readonly longestMs: number;
}

/** Calls that ended in one half of the window. */
interface Count {
  readonly calls: number;
  readonly failures: number;
}

/** The circuit of one channel. Open: nothing is sent. Half-open: one probe is in flight, and its result decides. */
export type Breaker =
  | {
      readonly state: 'closed';
      /** When the younger half of the window began. */
      readonly sinceMs: number;
      readonly older: Count;
      readonly younger: Count;
      /** Failures since the last success, and since when. */
      readonly inRow: number;
      readonly inRowSinceMs: number;
    }
  | { readonly state: 'open'; readonly untilMs: number; readonly openings: number }
  | { readonly state: 'half_open'; readonly openings: number; readonly sinceMs: number };

/** What a call says about its channel: it works, it fails, or neither. */
export type Verdict = 'praise' | 'blame' | 'none';

const NO_CALLS: Count = { calls: 0, failures: 0 };

/** The circuit of a channel about which nothing is known. */
export const NEW_BREAKER: Breaker = {
  state: 'closed',
  sinceMs: -Infinity,
  older: NO_CALLS,
  younger: NO_CALLS,
  inRow: 0,
  inRowSinceMs: 0,
};

/**
 * A busy channel has thousands of successes in the window, which failures would take long to outnumber. When nothing else has
 * been heard for so long, the channel is down; a moment in which all its connections break is over sooner.
 */
const DOWN_MS = 1_000;

/** Whether a call may be made; `probe`: a single one, which decides. */
export function permits(breaker: Breaker, nowMs: number): 'yes' | 'probe' | 'no' {
  switch (breaker.state) {
    case 'closed':
      return 'yes';
    case 'open':
      return nowMs >= breaker.untilMs ? 'probe' : 'no';
    case 'half_open':
      return 'no';
  }
}

/** The circuit after a permitted call has begun. */
export function begun(breaker: Breaker, nowMs: number): Breaker {
  if (breaker.state !== 'open') return breaker;
  return { state: 'half_open', openings: breaker.openings, sinceMs: nowMs };
}

/** The circuit after a call has ended. If a probe says nothing, the next call becomes the probe. */
export function ended(
  breaker: Breaker,
  verdict: Verdict,
  nowMs: number,
  rule: BreakerRule,
): Breaker {
  switch (breaker.state) {
    case 'closed':
      return verdict === 'none' ? breaker : counted(breaker, verdict, nowMs, rule);
    case 'half_open':
      if (verdict === 'praise') return NEW_BREAKER;
      // From the beginning of the probe: one that hung until its time was up has taken long enough.
      return verdict === 'blame'
        ? opened(breaker.openings + 1, breaker.sinceMs, rule)
        : { state: 'open', untilMs: nowMs, openings: breaker.openings };
    case 'open':
      // A call from before the circuit opened tells nothing new.
      return breaker;
  }
}

/** The circuit of a channel that is known to fail, whatever its calls say. */
export function tripped(nowMs: number, rule: BreakerRule): Breaker {
  return opened(1, nowMs, rule);
}

function counted(
  before: Extract<Breaker, { state: 'closed' }>,
  verdict: Verdict,
  nowMs: number,
  rule: BreakerRule,
): Breaker {
  const { sinceMs, older, younger } = before;
  const isBlamed = verdict === 'blame';
  const inRow = isBlamed ? before.inRow + 1 : 0;
  const inRowSinceMs = before.inRow === 0 ? nowMs : before.inRowSinceMs;
  const halfMs = rule.windowMs / 2;
  const ageMs = nowMs - sinceMs;
  const isTurn = ageMs >= halfMs;
  const half = isTurn ? (ageMs < rule.windowMs ? younger : NO_CALLS) : older;
  const current = isTurn ? NO_CALLS : younger;
  const now: Count = {
    calls: current.calls + 1,
    failures: current.failures + (isBlamed ? 1 : 0),
  };
  const failures = half.failures + now.failures;
  const rowMs = nowMs - inRowSinceMs;
  const isDown = inRow >= rule.failures && rowMs >= DOWN_MS && rowMs <= rule.windowMs;
  const areMost = failures >= rule.failures && failures * 2 >= half.calls + now.calls;
  if (isBlamed && rule.failures > 0 && (areMost || isDown)) return opened(1, nowMs, rule);
  const windowSinceMs = isTurn ? nowMs : sinceMs;
  return {
    state: 'closed',
    sinceMs: windowSinceMs,
    older: half,
    younger: now,
    inRow,
    inRowSinceMs,
  };
}

function opened(openings: number, nowMs: number, { openMs, longestMs }: BreakerRule): Breaker {
  const lastsMs = Math.min(openMs * 2 ** (openings - 1), longestMs);
  return { state: 'open', untilMs: nowMs + lastsMs, openings };
}
