import { expect, it } from '@jest/globals';
import { alertBody, alertRetryMs, signedText, type Alert } from '../../src/core/webhook.js';

const ALERT: Alert = {
  type: 'channel.circuit_opened',
  channelId: 7,
  channel: 'narrow',
  reason: 'timeout',
  message: 'too slow',
  sinceMs: 1_700_000_000_999,
  untilMs: 1_700_000_030_000,
};

it('an alert has times in whole seconds', () => {
  expect(JSON.parse(alertBody(ALERT, 'id', 'node', 1_700_000_001_500))).toEqual({
    id: 'id',
    type: 'channel.circuit_opened',
    time: 1_700_000_001,
    node: 'node',
    channel: { id: 7, name: 'narrow' },
    reason: 'timeout',
    message: 'too slow',
    since: 1_700_000_000,
    until: 1_700_000_030,
  });
});

it('an alert has null for what is unknown', () => {
  const unknown = { ...ALERT, reason: '', message: '', sinceMs: 0, untilMs: 0 };

  expect(JSON.parse(alertBody(unknown, 'id', 'node', 1))).toMatchObject({
    reason: null,
    message: null,
    since: null,
    until: null,
  });
});

it('what is signed has the id and the time', () => {
  expect(signedText('id', 1_700_000_001_999, '{}')).toBe('id.1700000001.{}');
});

it('a failed call waits twice as long each time, spread over half of it, and is given up after six', () => {
  const waits = (chance: number) =>
    [1, 2, 3, 4, 5, 6].map((tries) => alertRetryMs(tries, () => chance));

  expect(waits(0)).toEqual([500, 1_000, 2_000, 4_000, 8_000, undefined]);
  expect(waits(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined]);
});
