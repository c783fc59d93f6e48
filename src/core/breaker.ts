/** When a circuit opens and for how long. Times in milliseconds. */
export interface BreakerRule {
  /**
   * Failures that open the circuit: in the window, if they are also at least half of the calls, or in a row; 0: it never
   * opens. Calls that take too long count for several.
   */
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
  /** What the failures count for. */
  readonly weight: number;
}

/** The circuit of one channel. Open: nothing is sent. Half-open: one probe is in flight, and its result decides. */
export type Breaker =
  | {
      readonly state: 'closed';
      /** When the younger half of the window began. */
      readonly sinceMs: number;
      readonly older: Count;
      readonly younger: Count;
      /** What the failures since the last success count for. */
      readonly inRow: number;
      /** Since when nothing but these was heard; without any, when the last success was. */
      readonly inRowSinceMs: number;
    }
  | { readonly state: 'open'; readonly untilMs: number; readonly openings: number }
  | { readonly state: 'half_open'; readonly openings: number; readonly sinceMs: number };

/**
 * What a call says about its channel: it works, it fails, or neither. `late`: it did not answer in time. `outrun`: another
 * channel, asked after that, answered the same request in less time than this one had.
 */
export type Verdict = 'praise' | 'blame' | 'late' | 'outrun' | 'none';

const NO_CALLS: Count = { calls: 0, failures: 0, weight: 0 };

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

/** The circuit after a call has ended that began at `beganMs`. If a probe says nothing, the next call becomes the probe. */
export function ended(
  breaker: Breaker,
  verdict: Verdict,
  nowMs: number,
  rule: BreakerRule,
  beganMs = nowMs,
): Breaker {
  switch (breaker.state) {
    case 'closed':
      return verdict === 'none' ? breaker : counted(breaker, verdict, nowMs, rule, beganMs);
    case 'half_open':
      if (verdict === 'praise') return NEW_BREAKER;
      // From the beginning of the probe: one that hung until its time was up has taken long enough.
      return verdict === 'none'
        ? { state: 'open', untilMs: nowMs, openings: breaker.openings }
        : opened(breaker.openings + 1, breaker.sinceMs, rule);
    case 'open':
      // A call from before the circuit opened brings nothing new.
      return breaker;
  }
}

/** The circuit of a channel that is known to fail, whatever its calls say. */
export function tripped(nowMs: number, rule: BreakerRule): Breaker {
  return opened(1, nowMs, rule);
}

/** How many failures a verdict counts for: callers wait longest for an answer that does not come. */
function weightOf(verdict: Verdict, { failures }: BreakerRule): number {
  if (verdict === 'outrun') return failures;
  if (verdict === 'late') return Math.ceil(failures / 2);
  return verdict === 'blame' ? 1 : 0;
}

function counted(
  before: Extract<Breaker, { state: 'closed' }>,
  verdict: Verdict,
  nowMs: number,
  rule: BreakerRule,
  beganMs: number,
): Breaker {
  const { sinceMs, older, younger } = before;
  const isBlamed = verdict !== 'praise';
  const weight = weightOf(verdict, rule);
  const inRow = isBlamed ? before.inRow + weight : 0;
  const inRowSinceMs = rowSinceMs(before, verdict, nowMs, beganMs);
  const halfMs = rule.windowMs / 2;
  const ageMs = nowMs - sinceMs;
  const isTurn = ageMs >= halfMs;
  const half = isTurn ? (ageMs < rule.windowMs ? younger : NO_CALLS) : older;
  const current = isTurn ? NO_CALLS : younger;
  const now: Count = {
    calls: current.calls + 1,
    failures: current.failures + (isBlamed ? 1 : 0),
    weight: current.weight + weight,
  };
  const failures = half.failures + now.failures;
  const isDown = inRow >= rule.failures && nowMs - inRowSinceMs >= DOWN_MS;
  const areMost =
    half.weight + now.weight >= rule.failures && failures * 2 >= half.calls + now.calls;
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

/** A call that came to nothing has lasted from its beginning; one that failed was there a moment before. */
function rowSinceMs(
  { inRow, inRowSinceMs }: Extract<Breaker, { state: 'closed' }>,
  verdict: Verdict,
  nowMs: number,
  beganMs: number,
): number {
  if (verdict === 'praise') return nowMs;
  if (inRow > 0) return inRowSinceMs;
  return verdict === 'blame' ? nowMs : Math.max(inRowSinceMs, beganMs);
}

function opened(openings: number, nowMs: number, { openMs, longestMs }: BreakerRule): Breaker {
  const lastsMs = Math.min(openMs * 2 ** (openings - 1), longestMs);
  return { state: 'open', untilMs: nowMs + lastsMs, openings };
}
