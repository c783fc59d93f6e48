import { describe, expect, it } from '@jest/globals';
import { CHANNEL_DISABLED } from '../../src/core/channel.js';
import { OPEN_POLICY, type TokenPolicy } from '../../src/core/token.js';
import type { Caller } from '../../src/gateway/admission.js';
import { listModels, type ListingDeps } from '../../src/gateway/listed-models.js';
import type { Plan } from '../../src/gateway/rank.js';
import { credential } from '../support/credential.js';
import { offer, plan } from '../support/offers.js';

const LIVE = plan([offer(1)]);
const OFF = plan([offer(2, { status: CHANNEL_DISABLED })]);

interface Given {
  readonly plans?: Readonly<Record<string, Plan>>;
  /** For all keys. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The key's, as the store knows it now. */
  readonly policy?: Partial<TokenPolicy>;
  readonly isDeleted?: boolean;
  /** What the channels are once they have been refreshed. */
  readonly refreshed?: Readonly<Record<string, Plan>>;
}

/** Lists the models for a caller whose key this node remembers as one that may do nothing. */
function list({ plans = { m: LIVE }, aliases = {}, policy, isDeleted, refreshed }: Given) {
  const known = credential({ token: { policy: { ...OPEN_POLICY, ...policy } } });
  const current = { plans: new Map(Object.entries(plans)) };
  const deps = {
    aliases,
    now: () => 1,
    credentials: { findFresh: () => Promise.resolve(isDeleted === true ? undefined : known) },
    channels: {
      current,
      ensureFresh: () => {
        if (refreshed !== undefined) current.plans = new Map(Object.entries(refreshed));
        return Promise.resolve();
      },
    },
  };
  const caller: Caller = {
    keyHash: 'hash',
    credential: credential({ token: { policy: { ...OPEN_POLICY, models: [] } } }),
    addressAllowed: () => false,
  };
  return listModels(deps as unknown as ListingDeps, caller);
}

const idsOf = async (given: Given): Promise<string[]> => (await list(given)).map(({ id }) => id);

describe('the models that a caller may use', () => {
  it('are listed by name', async () => {
    expect(await list({ plans: { b: LIVE, c: LIVE, a: LIVE } })).toEqual([
      { id: 'a', aliasOf: undefined },
      { id: 'b', aliasOf: undefined },
      { id: 'c', aliasOf: undefined },
    ]);
  });

  it('have a channel that takes traffic', async () => {
    const some = plan([offer(1, { status: CHANNEL_DISABLED }), offer(2)]);

    expect(await idsOf({ plans: { off: OFF, some } })).toEqual(['some']);
  });

  it.each([
    [undefined, ['a', 'b']],
    [['b', 'gone'], ['b']],
    [[], []],
  ])('are on the key’s list, where that is %j', async (models, expected) => {
    expect(await idsOf({ plans: { a: LIVE, b: LIVE }, policy: { models } })).toEqual(expected);
  });

  it('have a live channel under one of the key’s tags', async () => {
    const plans = {
      eu: plan([offer(1, { tag: 'eu' })]),
      us: plan([offer(2, { tag: 'us' })]),
      none: LIVE,
      // The channel under the tag is off, and the live one has another.
      both: plan([offer(3, { tag: 'eu', status: CHANNEL_DISABLED }), offer(4, { tag: 'us' })]),
    };

    expect(await idsOf({ plans, policy: { tags: ['eu', 'asia'] } })).toEqual(['eu']);
  });

  it('are those of the channels in force now', async () => {
    expect(await idsOf({ plans: { old: LIVE }, refreshed: { fresh: LIVE } })).toEqual(['fresh']);
  });

  it('are not told to a key that has been deleted since, or from another address', async () => {
    await expect(list({ isDeleted: true })).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(list({ policy: { allowIps: ['10.0.0.0/8'] } })).rejects.toMatchObject({
      code: 'ip_not_allowed',
    });
  });
});

describe('other names of models', () => {
  it('are listed with the model that they mean, the key’s own in place of the gateway’s', async () => {
    const plans = { m: LIVE, n: LIVE };
    const aliases = { shared: 'm', ours: 'm' };

    const listed = await list({ plans, aliases, policy: { aliases: { shared: 'n', own: 'm' } } });

    expect(listed.filter(({ aliasOf }) => aliasOf !== undefined)).toEqual([
      { id: 'ours', aliasOf: 'm' },
      { id: 'own', aliasOf: 'm' },
      { id: 'shared', aliasOf: 'n' },
    ]);
  });

  it.each([
    ['is off', { plans: { m: OFF } }],
    ['does not exist', { plans: {} }],
    ['is not on the key’s list', { policy: { models: ['alias'] } }],
  ])('are not listed when their model %s', async (_why, given: Given) => {
    expect(await list({ aliases: { alias: 'm' }, ...given })).toEqual([]);
  });

  it('do not hide a model that has the same name, be it on or off', async () => {
    const plans = { m: LIVE, on: LIVE, off: OFF };

    expect(await list({ plans, aliases: { on: 'm', off: 'm' } })).toEqual([
      { id: 'm', aliasOf: undefined },
      { id: 'on', aliasOf: undefined },
    ]);
  });
});
