import { describe, expect, it } from '@jest/globals';
import {
  backupAlarm,
  endingAlarm,
  endOf,
  moneyAlarms,
  silentAlarm,
  type Spender,
} from '../../src/core/alert-rules.js';

const NOW = 1_900_000_000_000;
const NOW_S = NOW / 1_000;
const DAY_S = 86_400;
const SPENDER: Spender = {
  ...{ of: 'key', id: 3, name: 'a:b', budget: 0, budgetUse: { spent: 0, untilMs: NOW + 1 } },
  ...{ left: undefined, peak: 0 },
};

describe('money', () => {
  it.each([
    ['a budget below 80 %', { budget: 100, budgetUse: { spent: 79, untilMs: NOW + 1 } }, []],
    [
      'a budget at 80 %',
      { budget: 100, budgetUse: { spent: 80, untilMs: NOW + 1 } },
      ['budget 80'],
    ],
    [
      'a budget that is spent',
      { budget: 9, budgetUse: { spent: 9, untilMs: NOW + 1 } },
      ['budget 100'],
    ],
    ['a budget of a period that is over', { budget: 9, budgetUse: { spent: 9, untilMs: NOW } }, []],
    ['a quota at 80 %', { left: 20, peak: 100 }, ['quota 80']],
    ['a quota that is spent', { left: -1, peak: 100 }, ['quota 100']],
    ['no quota at all, and none before', { left: 0, peak: 0 }, []],
    ['no limits', {}, []],
  ])('%s', (_what, given, expected) => {
    const alarms = moneyAlarms({ ...SPENDER, ...given }, NOW);

    expect(alarms.map(({ type, value }) => `${type.split('.')[0] ?? ''} ${value}`)).toEqual(
      expected,
    );
  });
});

it.each([
  [8, undefined],
  [7, '7'],
  [1.5, '7'],
  [1, '1'],
  [0, undefined],
])('a key that ends in %s days is reported at %s', (days, value) => {
  const key = { id: 1, name: 'k', ends: NOW_S + days * DAY_S };

  expect(endingAlarm('key', key, [7, 1], NOW)[0]?.value).toBe(value);
});

it('a backup is too old after its time, unless none is known or nobody wants to know', () => {
  const late = (lastMs: number | undefined, maxMs: number) =>
    backupAlarm(lastMs, maxMs, NOW).length;

  expect([late(NOW - 11, 10), late(NOW - 10, 10), late(undefined, 10), late(1, 0)]).toEqual([
    ...[1, 0, 0, 0],
  ]);
});

it('the end of a condition names what it was about, whatever is in the name', () => {
  const [budget] = moneyAlarms({ ...SPENDER, left: 0, peak: 10 }, NOW);

  expect(endOf(budget?.key ?? '')).toMatchObject({
    ...{ type: 'quota.ended', summary: 'The key "a:b" has quota again' },
    data: { of: 'key', id: 3, name: 'a:b' },
  });
  expect(endOf(silentAlarm('one').key)).toMatchObject({
    type: 'node.ended',
    data: { name: 'one' },
  });
  expect(endOf('key:7:k').data).toEqual({ id: 7, name: 'k' });
  expect(endOf('circuit:1:x')).toMatchObject({
    ...{ type: 'channel.circuit_closed', data: { channel: { id: 1, name: 'x' }, reason: null } },
  });
});
