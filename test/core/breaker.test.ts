import { describe, expect, it } from '@jest/globals';
import {
  begun,
  ended,
  NEW_BREAKER,
  permits,
  type Breaker,
  type BreakerRule,
  type Verdict,
} from '../../src/core/breaker.js';

const T0 = 1_700_000_000_000;
const RULE: BreakerRule = { failures: 3, windowMs: 10_000, openMs: 1_000, longestMs: 3_000 };

/** A circuit after calls that ended one millisecond after the other. */
function after(verdicts: readonly Verdict[], rule = RULE, everyMs = 1): Breaker {
  let nowMs = T0;
  return verdicts.reduce<Breaker>((breaker, verdict) => {
    nowMs += everyMs;
    return ended(begun(breaker, nowMs), verdict, nowMs, rule);
  }, NEW_BREAKER);
}

describe('a circuit breaker', () => {
  it.each<[string, readonly Verdict[], Breaker['state']]>([
    ['below its number of failures', ['blame', 'blame'], 'closed'],
    ['at its number of failures', ['blame', 'blame', 'blame'], 'open'],
    [
      'while most calls succeed',
      ['praise', 'praise', 'praise', 'praise', 'blame', 'blame', 'blame'],
      'closed',
    ],
    [
      'when half of the calls fail',
      ['praise', 'blame', 'praise', 'blame', 'praise', 'blame'],
      'open',
    ],
    ['through calls that say nothing', ['blame', 'none', 'blame', 'none'], 'closed'],
    ['after one time-out', ['late'], 'closed'],
    ['after two time-outs', ['late', 'late'], 'open'],
    ['after a time-out and an error', ['late', 'blame'], 'open'],
    ['when another channel was faster', ['outrun'], 'open'],
    ['when another one was faster as half of the calls', ['praise', 'outrun'], 'open'],
    ['when most calls are fast', ['praise', 'praise', 'outrun'], 'closed'],
  ])('%s is %s', (_when, verdicts, state) => {
    expect(after(verdicts).state).toBe(state);
  });

  it.each<[string, number, Verdict, Breaker['state']]>([
    ['is open once nothing but failures was heard for a second', 400, 'blame', 'open'],
    ['is closed through a moment of failures', 1, 'blame', 'closed'],
    ['is closed if a call succeeded in between', 400, 'praise', 'closed'],
  ])('of a busy channel %s', (_what, everyMs, between, state) => {
    const busy = after(Array.from({ length: 1_000 }, (): Verdict => 'praise'));
    const verdicts: readonly Verdict[] = ['blame', 'blame', between, 'blame'];

    const breaker = verdicts.reduce<Breaker>(
      (before, verdict, at) => ended(before, verdict, T0 + 1_001 + at * everyMs, RULE),
      busy,
    );

    expect(breaker.state).toBe(state);
  });

  it('opens after failures in a row, however far apart', () => {
    expect(after(['blame', 'blame', 'blame'], RULE, 600_000).state).toBe('open');
    expect(after(['blame', 'blame', 'praise', 'blame'], RULE, 600_000).state).toBe('closed');
  });

  it('forgets failures among successes that are older than its window', () => {
    const verdicts: readonly Verdict[] = ['blame', 'praise', 'blame', 'praise', 'blame'];
    expect(after(verdicts, RULE, 6_000).state).toBe('closed');
    expect(after(verdicts, RULE, 2_000).state).toBe('open');
  });

  it('of a busy channel opens when nothing but a call that hung was heard for a second', () => {
    const busy = after(Array.from({ length: 1_000 }, (): Verdict => 'praise'));
    const outrun = (beganAgoMs: number, nowMs: number): Breaker['state'] =>
      ended(busy, 'outrun', nowMs, RULE, nowMs - beganAgoMs).state;

    // Its last success was at T0 + 1,000.
    expect(outrun(5_000, T0 + 1_900)).toBe('closed');
    expect(outrun(5_000, T0 + 2_000)).toBe('open');
    expect(outrun(900, T0 + 5_000)).toBe('closed');
    expect(outrun(1_000, T0 + 5_000)).toBe('open');
  });

  it('forgets failures of a busy channel with its window, though calls never pause', () => {
    const blamed = after(['blame', 'blame']);
    const quiet = Array.from({ length: 40 }, (_, at) => T0 + 2 + at * 500);

    const later = quiet.reduce((breaker, nowMs) => ended(breaker, 'praise', nowMs, RULE), blamed);

    expect(later).toMatchObject({ older: { failures: 0 }, younger: { failures: 0 } });
    // Of the last window alone: some twenty calls of half a second each.
    const { older, younger } = later as Extract<Breaker, { state: 'closed' }>;
    expect(older.calls + younger.calls).toBeLessThanOrEqual(21);
  });

  it('forgets what is older than its window after a pause', () => {
    const blamed = after(['blame', 'blame', 'praise', 'praise', 'praise']);

    const later = T0 + 10 + RULE.windowMs;

    expect(ended(blamed, 'blame', later, RULE).state).toBe('closed');
  });

  it('is not opened by a success, whatever failed before', () => {
    const mostlyGood = Array.from({ length: 20 }, (): Verdict => 'praise');
    let breaker = after(mostlyGood);
    // In the younger half of the window, where they are outnumbered by the successes of the older one.
    for (let at = 0; at < 3; at += 1) {
      breaker = ended(breaker, 'blame', T0 + 5_500 + at, RULE);
    }
    expect(breaker.state).toBe('closed');

    // The successes are forgotten, and the failures are not yet.
    expect(ended(breaker, 'praise', T0 + 10_600, RULE).state).toBe('closed');
  });

  it('of a busy channel opens after exactly a second of failures', () => {
    const busy = after(Array.from({ length: 100 }, (): Verdict => 'praise'));
    const failing = (lastMs: number) =>
      [0, 500, lastMs].reduce((breaker, at) => ended(breaker, 'blame', T0 + 200 + at, RULE), busy)
        .state;

    expect([failing(999), failing(1_000)]).toEqual(['closed', 'open']);
  });

  it('never opens if its number of failures is 0', () => {
    const verdicts = Array.from({ length: 100 }, (): Verdict => 'blame');
    expect(after(verdicts, { ...RULE, failures: 0 }).state).toBe('closed');
  });

  it('lets nothing through until its time has come, and then one probe', () => {
    const open = after(['blame', 'blame', 'blame']);

    expect(permits(open, T0 + 3 + 999)).toBe('no');
    expect(permits(open, T0 + 3 + 1_000)).toBe('probe');
    expect(permits(begun(open, T0 + 5_000), T0 + 5_000)).toBe('no');
  });

  it('closes after a probe that succeeds, with nothing remembered', () => {
    const closed = ended(begun(after(['blame', 'blame', 'blame']), T0), 'praise', T0 + 2_000, RULE);

    expect(closed).toEqual(NEW_BREAKER);
  });

  it('stays open from the beginning of a probe that fails, however long that hung', () => {
    const open = after(['blame', 'blame', 'blame']);
    const probed = ended(begun(open, T0 + 10_000), 'blame', T0 + 11_500, RULE);

    expect(probed).toMatchObject({ state: 'open', untilMs: T0 + 10_000 + 2 * RULE.openMs });
  });

  it('stays open twice as long after each probe that fails, up to its bound', () => {
    let breaker = after(['blame', 'blame', 'blame']);
    const lasted = [2_000, 3_000, 3_000].map(() => {
      breaker = ended(begun(breaker, T0), 'blame', T0, RULE);
      return breaker.state === 'open' ? breaker.untilMs - T0 : undefined;
    });

    expect(lasted).toEqual([2_000, 3_000, 3_000]);
  });

  it('gives back a probe whose caller left', () => {
    const givenBack = ended(
      begun(after(['blame', 'blame', 'blame']), T0),
      'none',
      T0 + 2_000,
      RULE,
    );

    expect(permits(givenBack, T0 + 2_000)).toBe('probe');
  });

  it('does not listen to calls from before it opened', () => {
    const open = after(['blame', 'blame', 'blame']);

    expect(ended(open, 'praise', T0 + 10, RULE)).toBe(open);
  });
});
