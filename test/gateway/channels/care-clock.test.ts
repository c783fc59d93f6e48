import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CHANNEL_AUTO_DISABLED } from '../../../src/core/channel.js';
import type { ProbeReport } from '../../../src/core/probe.js';
import { Secret } from '../../../src/core/secret.js';
import { ChannelCare, type ChannelCareDeps } from '../../../src/gateway/channels/care.js';
import type { DutyStore } from '../../../src/store/store.js';
import { offer } from '../../support/offers.js';

/** When sick channels are looked after, by a clock that the test turns. */

const EVERY_S = 100;
const EVERY_MS = EVERY_S * 1_000;
const RECHECK_MS = 1_000;
const RETURN_MS = 500;
const WORKS = { problem: undefined } as ProbeReport;
const FAILS = { problem: { code: 'unreachable', message: '' } } as ProbeReport;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A node that checks a channel of three models, and the only one that does. */
function setUp(
  answer: () => Promise<ProbeReport>,
  takeDuty?: DutyStore['takeDuty'],
  {
    isFresh = () => true,
    onNote,
  }: { readonly isFresh?: () => boolean; readonly onNote?: (note: string) => void } = {},
): {
  readonly care: ChannelCare;
  readonly models: string[];
  readonly checked: unknown[];
  readonly forgotten: number[];
  readonly pass: (ms: number) => Promise<void>;
} {
  const models: string[] = [];
  const checked: unknown[] = [];
  const forgotten: number[] = [];
  let duty = { note: '', dueAtMs: 0 };
  const deps: ChannelCareDeps = {
    store: {
      takeDuty: takeDuty ?? (() => Promise.resolve({ isMine: true, ...duty })),
      endDuty: (_name, note, nowMs, waitMs) => {
        onNote?.(note);
        duty = { note, dueAtMs: nowMs + waitMs };
        return Promise.resolve();
      },
      readDuty: () => Promise.resolve(undefined),
      dropDuty: () => Promise.resolve(),
    },
    health: { checked: (...told) => checked.push(told), forget: (id) => forgotten.push(id) },
    probe: (_channel, model, _turn, mayBegin) => {
      // Before each of its requests.
      mayBegin?.();
      mayBegin?.();
      models.push(model);
      return answer();
    },
    freshness: { isFresh, ensureFresh: () => Promise.resolve() },
    run: (_what, work) => void work().catch(() => undefined),
    now: Date.now,
    random: () => 0,
    returns: { firstMs: RETURN_MS, longestMs: RETURN_MS },
    recheckMs: RECHECK_MS,
    onWell: () => Promise.resolve(),
  };
  const care = new ChannelCare(deps);
  const { route } = offer(1, {
    healthCheckS: EVERY_S,
    models: { first: 'a', second: 'b', third: 'c' },
  });
  care.update([route]);
  return { care, models, checked, forgotten, pass: (ms) => jest.advanceTimersByTimeAsync(ms) };
}

describe('the checks of a channel', () => {
  it('ask for each of its models in turn', async () => {
    const { models, pass, care } = setUp(() => Promise.resolve(WORKS));

    await pass(3 * EVERY_MS);
    care.stop();

    expect(models).toEqual(['first', 'second', 'third']);
  });

  it('are repeated soon after one that failed, and no sooner than they have to once that is believed', async () => {
    const { models, checked, pass, care } = setUp(() => Promise.resolve(FAILS));

    await pass(EVERY_MS);
    expect([models.length, checked.length]).toEqual([1, 0]);
    await pass(RECHECK_MS);
    expect([models.length, checked.length]).toEqual([2, 1]);
    await pass(EVERY_MS - 1);
    care.stop();

    expect(models).toHaveLength(2);
  });

  it('are begun again after a while where the store fails, and not at once', async () => {
    let tries = 0;
    const { pass, care } = setUp(
      () => Promise.resolve(WORKS),
      () => {
        tries += 1;
        return Promise.reject(new Error('the store is away'));
      },
    );

    await pass(EVERY_MS);
    expect(tries).toBe(1);
    await pass(RETURN_MS - 1);
    expect(tries).toBe(1);
    await pass(1);
    care.stop();

    expect(tries).toBe(2);
  });

  it('of another node are heard of once each', async () => {
    let note = { count: 1, failures: 2, kind: 'transient', atMs: 7 };
    let looks = 0;
    const { checked, pass, care } = setUp(
      () => Promise.resolve(WORKS),
      (_name, nowMs) => {
        looks += 1;
        return Promise.resolve({ isMine: false, note: JSON.stringify(note), dueAtMs: nowMs });
      },
    );

    await pass(2 * EVERY_MS);
    expect(looks).toBeGreaterThan(1);
    expect(checked).toHaveLength(1);
    note = { ...note, atMs: 8 };
    await pass(EVERY_MS);
    care.stop();

    expect(checked).toHaveLength(2);
  });

  it('are not due sooner when something else of it changes, and soon when it has another key', async () => {
    const { models, pass, care } = setUp(() => Promise.resolve(WORKS));
    const given = { healthCheckS: EVERY_S, weight: 7 };
    await pass(EVERY_MS / 2);

    care.update([offer(1, given).route]);
    await pass(1_000);
    expect(models).toHaveLength(0);
    care.update([offer(1, { ...given, credentials: { apiKey: new Secret('another') } }).route]);
    await pass(1_000);
    care.stop();

    expect(models).toHaveLength(1);
  });

  it('that send nothing leave what was found before', async () => {
    let next: boolean | undefined;
    const notes: string[] = [];
    const { pass, care } = setUp(() => Promise.resolve(FAILS), undefined, {
      isFresh: () => {
        const isFresh = next ?? true;
        next = undefined;
        return isFresh;
      },
      onNote: (note) => notes.push(note),
    });

    await pass(EVERY_MS);
    next = false;
    await pass(RECHECK_MS);
    care.stop();

    expect(notes).toEqual([expect.stringContaining('"failures":1'), notes[0]]);
  });

  it('are not begun again while one is under way', async () => {
    const { models, pass, care } = setUp(() => new Promise(() => undefined));

    await pass(EVERY_MS);
    await pass(1_000);
    care.stop();

    expect(models).toHaveLength(1);
  });

  it('take no timer where there is nothing to check any more', () => {
    const { care } = setUp(() => Promise.resolve(WORKS));
    expect(jest.getTimerCount()).toBe(1);

    care.update([offer(1, { healthCheckS: 0 }).route]);

    expect(jest.getTimerCount()).toBe(0);
  });

  it('leave no timer behind where they end after they were stopped', async () => {
    let end: (report: ProbeReport) => void = () => undefined;
    const { models, pass, care } = setUp(() => new Promise((resolve) => (end = resolve)));
    await pass(EVERY_MS);
    expect(models).toHaveLength(1);

    care.stop();
    end(WORKS);
    await pass(0);

    expect(jest.getTimerCount()).toBe(0);
  });
});

it('what a node knows of a channel is forgotten once that is no longer disabled, and not before', () => {
  const { care, forgotten } = setUp(() => Promise.resolve(WORKS));
  const outage = { reason: 'credentials_refused', message: '', sinceMs: Date.now() } as const;
  const disabled = offer(2, { status: CHANNEL_AUTO_DISABLED, outage }).route;

  care.update([disabled]);
  care.update([disabled]);
  expect(forgotten).toEqual([]);
  care.update([offer(2).route]);
  care.update([offer(2).route]);
  care.stop();

  expect(forgotten).toEqual([2]);
});

describe('the first try of a channel that was disabled', () => {
  it('comes in time although the node that makes it has a clock that is ahead', async () => {
    let tries = 0;
    const { pass, care } = setUp(
      () => Promise.resolve(WORKS),
      () => {
        tries += 1;
        return Promise.resolve({ isMine: false, note: '', dueAtMs: Date.now() + 3_600_000 });
      },
    );
    const outage = { reason: 'credentials_refused', message: '', sinceMs: Date.now() } as const;
    care.update([offer(2, { status: CHANNEL_AUTO_DISABLED, outage }).route]);

    await pass(3 * RETURN_MS);
    care.stop();

    expect(tries).toBe(3);
  });

  it('comes in time although the node that disabled it has a clock that is ahead', async () => {
    const { models, pass, care } = setUp(() => Promise.resolve(WORKS));
    const outage = {
      reason: 'credentials_refused',
      message: '',
      sinceMs: Date.now() + 3_600_000,
    } as const;
    care.update([offer(2, { status: CHANNEL_AUTO_DISABLED, outage }).route]);

    await pass(RETURN_MS);
    care.stop();

    expect(models).toHaveLength(1);
  });
});
