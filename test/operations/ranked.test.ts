import { describe, expect, it } from '@jest/globals';
import type { RerankReply } from '../../src/gateway/rerank.js';
import type { Trace } from '../../src/gateway/trace.js';
import type { OperationDeps } from '../../src/operations/operation.js';
import { attemptsOf, rankedWire } from '../../src/operations/ranked.js';

const channels = {
  byId: new Map([[1, { channel: { name: 'eu', scores: 'provider' } }]]),
  plans: new Map([['moon', { offers: [{ id: 1, scale: 'logit', upstreamModel: 'moon-v2' }] }]]),
};
const deps = { gateway: { channels: { current: channels } } } as unknown as OperationDeps;
const call = { channelId: 1, outcome: 'ok', status: 200, message: 'hello', durationMs: 5 };
const served = (...ids: number[]) => ids.map((channelId) => ({ channelId, provider: 'cohere' }));

describe('a ranking as the playground shows it', () => {
  it.each([
    ['one channel', served(1), 'logit'],
    ['several', served(1, 2), null],
  ])('has the scale of its scores where %s ranked', (_, servedBy, scale) => {
    const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
    const reply = { rows: [], usage, warnings: [], model: undefined } as unknown as RerankReply;
    const trace = { servedBy, model: 'moon', made: [], quota: 0 } as unknown as Trace;

    expect(rankedWire(deps, trace, reply, true)).toMatchObject({
      ...{ score_scale: scale, upstream_model: 'moon-v2', channel: { name: 'eu' } },
    });
  });

  it('has the calls that were made, by their channels and words for admins alone', () => {
    const made = [call, { ...call, outcome: 'withdrawn' }, { ...call, channelId: 2 }];
    const shown = (isAdmin: boolean) =>
      attemptsOf(deps, { made } as unknown as Trace, isAdmin).map(({ channel, message }) => [
        channel,
        message,
      ]);

    expect(shown(true)).toEqual([
      ['eu', 'hello'],
      ['#2', 'hello'],
    ]);
    expect(shown(false)).toEqual([
      [null, ''],
      [null, ''],
    ]);
  });
});
