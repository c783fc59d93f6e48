import { describe, expect, it } from '@jest/globals';
import { ticks } from '../../src/console/lib/days.js';
import { attentionTo, type Seen } from '../../src/core/attention.js';
import { mutedOf, stillMuted } from '../../src/console/lib/muted.js';

/** Minutes, each with what was admitted and what of it failed. */
function minutesOf(...counts: readonly (readonly [admitted: number, failed: number])[]) {
  return counts.map(([admitted, failed], at) => ({
    ...{ start: at * 60, end: (at + 1) * 60, admitted, failed },
  }));
}

const WELL: Seen = {
  ...{ requests: minutesOf([19, 19]), isNow: true, timeOf: String, unheardRegistration: false },
  ...{ channels: [], tags: [], unusable: [], nodes: [] },
  dark: [],
  latency: { now: { requests: 100, p95: 300 }, before: { requests: 100, p95: 100 } },
  ...{ ending: { names: [], total: 0 }, out: [] },
};

describe('what needs a look', () => {
  it('is nothing where all is well', () => {
    expect(
      attentionTo({
        ...WELL,
        channels: [
          { name: 'rarely', requests: 100, failed: 19 },
          { name: 'few', requests: 5, failed: 2 },
          { name: 'hardly', requests: 3, failed: 2 },
        ],
        tags: [{ tag: 'on', disabled: false, changed_time: 5 }],
        nodes: [{ name: 'a', standing: 'current', pending_settlements: 3 }],
      }),
    ).toEqual([]);
  });

  it('is a channel of which a fifth fails, a tag that is off, and a node that lags', () => {
    expect(
      attentionTo({
        ...WELL,
        requests: minutesOf([20, 1]),
        unheardRegistration: true,
        channels: [{ name: 'voyage', requests: 20, failed: 4 }],
        tags: [{ tag: 'hosted', disabled: true, changed_time: 5 }],
        unusable: [{ name: 'azure', why: 'locked' }],
        nodes: [
          { name: 'b', standing: 'behind', pending_settlements: 200 },
          { name: 'c', standing: 'silent', pending_settlements: null },
        ],
      }),
    ).toEqual([
      { kind: 'requests_fail', name: '', share: 0.05, minutes: 5, since: '0' },
      { kind: 'channel_fails', name: 'voyage', share: 0.2 },
      { kind: 'tag_off', name: 'hosted', since: 5 },
      { kind: 'channel_unusable', name: 'azure', why: 'locked' },
      { kind: 'node', name: 'b', standing: 'behind' },
      { kind: 'settlements', name: 'b', count: 200 },
      { kind: 'node', name: 'c', standing: 'silent' },
      { kind: 'outbox', name: '' },
    ]);
  });

  it('is what fails in the last five minutes, since when, and until when once it is over', () => {
    const well = Array.from({ length: 50 }, () => [100, 0] as const);
    const failing = [100, 99] as const;
    const told = (...counts: readonly (readonly [number, number])[]) =>
      attentionTo({ ...WELL, requests: minutesOf(...well, ...counts) });

    // Of an hour these are 2 of 100.
    expect(told(failing)).toEqual([
      { kind: 'requests_fail', name: '', share: 99 / 500, minutes: 5, since: '3000' },
    ]);
    expect(told(failing, failing, failing, failing, failing)).toEqual([
      { kind: 'requests_fail', name: '', share: 0.99, minutes: 5, since: '3000' },
    ]);
    const over = told(failing, failing, ...well.slice(0, 7));
    expect(over).toEqual([
      { kind: 'requests_failed', name: '', share: 0.99, since: '3000', until: '3120' },
    ]);
    expect(attentionTo({ ...WELL, requests: minutesOf(...well, failing), isNow: false })).toEqual([
      { kind: 'requests_failed', name: '', share: 0.99, since: '3000', until: '3060' },
    ]);
    expect(told([100, 4])).toEqual([]);
  });

  it('is a channel that fails, if the fewer its attempts the more of them do', () => {
    const named = (requests: number, failed: number): string[] =>
      attentionTo({
        ...WELL,
        channels: [{ name: 'it', requests, failed }],
      }).map(({ kind }) => kind);

    for (const [requests, failed] of [
      [20, 4],
      [19, 10],
      [5, 3],
      [3, 3],
    ] as const) {
      expect(named(requests, failed)).toEqual(['channel_fails']);
    }
    for (const [requests, failed] of [
      [0, 0],
      [2, 2],
      [19, 9],
    ] as const) {
      expect(named(requests, failed)).toEqual([]);
    }
  });

  it('is a model that nothing serves, and requests three times as slow as yesterday', () => {
    const slow = { requests: 100, p95: 301 };
    const dark = ['a', 'b', 'c', 'd'];

    expect(attentionTo({ ...WELL, dark })).toEqual([
      { kind: 'models_dark', name: 'a, b, c +1', count: 4 },
    ]);
    expect(attentionTo({ ...WELL, latency: { ...WELL.latency, now: slow } })).toEqual([
      { kind: 'slow', name: '', p95: 301, before: 100 },
    ]);
    for (const few of [
      { now: { requests: 99, p95: 900 }, before: WELL.latency.before },
      { now: slow, before: { requests: 99, p95: 1 } },
      { now: slow, before: { requests: 0, p95: null } },
    ]) {
      expect(attentionTo({ ...WELL, latency: few })).toEqual([]);
    }
  });

  it('is a key that expires, and whoever will have nothing left', () => {
    const ada = { of: 'account', id: 1, name: 'ada', hours: 24 } as const;

    expect(attentionTo({ ...WELL, out: [ada], ending: { names: ['x', 'y'], total: 9 } })).toEqual([
      { kind: 'keys_end', name: 'x, y…', count: 9 },
      { kind: 'runs_out', ...ada },
    ]);
  });
});

describe('what is muted', () => {
  it('is so for a day', () => {
    const muted = { 'tag_off hosted': 1_000, 'node b': 2_000 };

    expect(stillMuted(muted, 999)).toEqual(muted);
    expect(stillMuted(muted, 1_000)).toEqual({ 'node b': 2_000 });
  });

  it('is read from what a browser has kept, whatever that is', () => {
    expect(mutedOf({ 'node b': 5, other: 'text' })).toEqual({ 'node b': 5 });
    for (const kept of [undefined, null, '', 7, []]) expect(mutedOf(kept)).toEqual({});
  });
});

describe('the moments on an axis', () => {
  const style = { language: 'en', utc: true } as const;
  const at = (hour: number): number => Date.UTC(2026, 10, 26, hour) / 1_000;

  it('are times, the last of them too', () => {
    expect(ticks([at(20), at(22), at(24), at(26)], style)).toEqual([
      ...['20:00', '22:00', '00:00', '02:00'],
    ]);
  });

  it('are dates if they are days apart, also across a change of clocks', () => {
    expect(ticks([at(0), at(24)], style)).toEqual(['26 Nov', '27 Nov']);
    expect(ticks([at(0), at(23)], style)).toEqual(['26 Nov', '26 Nov']);
    expect(ticks([at(0)], style)).toEqual(['26 Nov']);
  });
});
