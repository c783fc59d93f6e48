import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { type Answer, rankLikeCohere, startUpstream } from '../support/upstream.js';
import { until } from '../support/until.js';

const open = opened();
const FAILURES = 3;
const OPEN_MS = 600_000;
const AT_ONCE = 8;

/**
 * Ways in which a server is of no use; each ends an attempt by the channel's own timeout, if not sooner. With each, how many
 * attempts show it: one that takes too long while another channel answers is enough.
 */
const FAULTS: readonly (readonly [string, Answer, number])[] = [
  ['dead', (_request, res) => void res.destroy(), FAILURES],
  ['hanging', () => undefined, 1],
  [
    'slow',
    (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => res.write(' '), 20);
      res.on('close', () => clearInterval(timer));
    },
    1,
  ],
];

const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };

/** The ill channel is preferred: whatever it can spoil, it does. */
async function twoChannels(fault: Answer) {
  const [ill, well] = [await startUpstream(), await startUpstream()];
  open.push(ill, well);
  let turnedMs = 0;
  const channelAt = (name: string, url: string, more: object) => ({
    ...{ name, provider: 'cohere', base_url: url, api_key: 'k', models: ['moon'] },
    ...more,
  });
  const gateway = await startGateway(
    {
      gateway: { attempt_timeout_ms: 30_000, deadline_ms: 60_000, max_cooldown_ms: OPEN_MS },
      traffic: {
        ...{ breaker_failures: FAILURES, breaker_window_ms: 300_000, breaker_open_ms: OPEN_MS },
      },
      channels: [
        channelAt('ill', ill.url, { priority: 1, timeout_ms: 500 }),
        channelAt('well', well.url, {}),
      ],
    },
    {},
    { elapsed: () => performance.now() + turnedMs },
  );
  open.push(gateway);
  const { key } = await gateway.createKey();
  ill.answer(fault);
  return {
    ill,
    isOpen: () => gateway.log.some((line) => line.includes('"state":"open"')),
    turn: (ms: number) => (turnedMs += ms),
    /** The statuses of so many requests at once. */
    ask: async (count: number): Promise<readonly number[]> => {
      const replies = Array.from({ length: count }, () => gateway.post(key, ask));
      return (await Promise.all(replies)).map(({ status }) => status);
    },
  };
}

const good = (count: number): readonly number[] => Array<number>(count).fill(200);

describe.each(FAULTS)('one of two channels that is %s', (_what, fault, failures) => {
  it('costs no caller an answer, is left alone soon, and is back when it is well', async () => {
    const { ill, isOpen, turn, ask: askFor } = await twoChannels(fault);

    for (let count = 0; count < FAILURES; count += 1) expect(await askFor(1)).toEqual(good(1));
    await until('its circuit is open', isOpen);
    const asked = ill.seen.length;
    expect(asked).toBe(failures);
    expect(await askFor(AT_ONCE)).toEqual(good(AT_ONCE));
    expect(ill.seen).toHaveLength(asked);

    turn(OPEN_MS);
    expect(await askFor(AT_ONCE)).toEqual(good(AT_ONCE));
    expect(ill.seen).toHaveLength(asked + 1);

    ill.answer(rankLikeCohere);
    await until('it takes traffic again', async () => {
      turn(OPEN_MS);
      const asked = ill.seen.length;
      expect(await askFor(1)).toEqual(good(1));
      expect(await askFor(1)).toEqual(good(1));
      return ill.seen.length === asked + 2;
    });
  });

  it('costs many callers at once no answer, and is asked no more once it is found out', async () => {
    const { ill, isOpen, ask: askFor } = await twoChannels(fault);

    expect(await askFor(AT_ONCE)).toEqual(good(AT_ONCE));
    await until('its circuit is open', isOpen);
    const asked = ill.seen.length;
    expect(await askFor(AT_ONCE)).toEqual(good(AT_ONCE));

    expect(ill.seen).toHaveLength(asked);
  });
});
