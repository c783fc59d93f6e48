import { NO_CHANNELS } from '../../src/gateway/channels/routing-table.js';
import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../src/core/channel.js';
import { OPEN_POLICY, type TokenPolicy } from '../../src/core/token.js';
import type { Plan } from '../../src/gateway/rank.js';
import {
  answersOf,
  bears,
  boundsOf,
  isLive,
  judgeTarget,
  targetAsWritten,
  targetByAlias,
  unservedError,
  type Routing,
  type Target,
} from '../../src/gateway/target.js';
import { offer, plan } from '../support/offers.js';

interface Given {
  readonly plans?: Readonly<Record<string, Plan>>;
  readonly unusable?: Readonly<Record<string, readonly { tag?: string }[]>>;
  readonly aliases?: Readonly<Record<string, string>>;
}

function routing({ plans = {}, unusable = {}, aliases = {} }: Given): Routing {
  const broken = Object.entries(unusable).map(
    ([model, channels]) =>
      [
        model,
        channels.map((given) => ({
          channel: { ...offer(9).route.channel, ...given },
          why: 'broken',
        })),
      ] as const,
  );
  return {
    aliases,
    channels: {
      current: {
        ...NO_CHANNELS,
        version: 1,
        plans: new Map(Object.entries(plans)),
        unusable: new Map(broken),
      },
    },
  };
}

const policy = (given: Partial<TokenPolicy> = {}): TokenPolicy => ({ ...OPEN_POLICY, ...given });
const on = (...channels: Partial<Channel>[]) =>
  plan(channels.map((given, at) => offer(at + 1, given)));

describe('the target that a request names', () => {
  const known = routing({ plans: { m: on({}), 'm@eu': on({}) } });

  it.each([
    [
      { model: 'm', tag: undefined },
      { model: 'm', tag: undefined },
    ],
    [
      { model: 'm', tag: 'us' },
      { model: 'm', tag: 'us' },
    ],
    [
      { model: 'm@us', tag: undefined },
      { model: 'm', tag: 'us' },
    ],
    [
      { model: 'm@us', tag: 'us' },
      { model: 'm', tag: 'us' },
    ],
    // A model has this whole name.
    [
      { model: 'm@eu', tag: 'us' },
      { model: 'm@eu', tag: 'us' },
    ],
    [
      { model: '@us', tag: undefined },
      { model: '@us', tag: undefined },
    ],
    [
      { model: 'm@', tag: undefined },
      { model: 'm@', tag: undefined },
    ],
    [
      { model: 'a@b@us', tag: undefined },
      { model: 'a@b', tag: 'us' },
    ],
  ])('of %j is %j', (asked, target) => {
    expect(targetAsWritten(known, asked)).toEqual(target);
  });

  it('must not have two tags', () => {
    expect(() => targetAsWritten(known, { model: 'm@us', tag: 'eu' })).toThrow('name only one');
  });

  it('keeps its whole name where the only channels of that name cannot be used', () => {
    const broken = routing({ unusable: { 'n@eu': [{}] } });

    expect(targetAsWritten(broken, { model: 'n@eu', tag: undefined }).model).toBe('n@eu');
  });
});

describe('the target that an alias means', () => {
  const known = routing({
    plans: { m: on({}), n: on({}) },
    aliases: { short: 'm', 'old@eu': 'm', gone: 'nothing' },
  });
  const byAlias = (model: string, tag?: string, aliases = {}): Target | undefined => {
    const asked = { model, tag };
    return targetByAlias(known, asked, targetAsWritten(known, asked), policy({ aliases }));
  };

  it.each([
    ['an alias', byAlias('short', 'eu'), { model: 'm', tag: 'eu' }],
    ['an alias with a tag behind it', byAlias('short@eu'), { model: 'm', tag: 'eu' }],
    ['an alias that contains an @', byAlias('old@eu'), { model: 'm', tag: undefined }],
    ['a prefix that clients put there', byAlias('cohere/m'), { model: 'm', tag: undefined }],
    ['an alias of the key', byAlias('short', undefined, { short: 'n' }), { model: 'n' }],
    ['a model’s own name', byAlias('m'), undefined],
    ['an alias of a model that nobody has', byAlias('gone'), undefined],
    ['a name that nobody knows', byAlias('other@eu'), undefined],
  ])('is found for %s', (_what, found, expected) => {
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

describe('a target', () => {
  const target = (model = 'm', tag?: string): Target => ({ model, tag });

  it('is live where the key may reach a channel that takes traffic', () => {
    const of = (channel: Partial<Channel>) => routing({ plans: { m: on(channel) } });

    expect(isLive(of({}), target(), policy())).toBe(true);
    expect(isLive(of({ status: 2 }), target(), policy())).toBe(false);
    expect(isLive(of({ tag: 'eu' }), target('m', 'us'), policy())).toBe(false);
    expect(isLive(of({ tag: 'eu' }), target(), policy({ tags: ['us'] }))).toBe(false);
    expect(isLive(of({ tag: 'eu' }), target('m', 'eu'), policy({ tags: ['us', 'eu'] }))).toBe(true);
    expect(isLive(of({}), target('other'), policy())).toBe(false);
  });

  it('is live where only a model may answer that takes its place', () => {
    const rule = { ...on({ status: 2 }), answers: ['m', 'spare'] };
    const known = routing({ plans: { m: rule, spare: on({}) } });

    expect(isLive(known, target(), policy())).toBe(true);
    expect(isLive(known, target(), policy({ fallbacks: ['none'] }))).toBe(false);
    expect(answersOf(known, target(), policy())).toEqual(['m', 'spare']);
    expect(answersOf(known, target(), policy({ fallbacks: ['n', 'm'] }))).toEqual(['m', 'n']);
    expect(answersOf(known, target('other'), policy({ fallbacks: ['m'] }))).toEqual([]);
  });

  it('is refused to a key that may not use its model or its tag', () => {
    const code = (given: Partial<TokenPolicy>, tag?: string) => {
      try {
        judgeTarget(policy(given), target('m', tag));
        return 'allowed';
      } catch (error) {
        return (error as { code?: string }).code;
      }
    };

    expect(code({})).toBe('allowed');
    expect(code({ models: ['n'] }, 'eu')).toBe('model_not_allowed');
    expect(code({ models: ['m'], tags: ['us'] }, 'eu')).toBe('tag_not_allowed');
    // Its own tags are bounds and not a mistake.
    expect(code({ tags: ['us'] })).toBe('allowed');
  });

  it.each([
    ['nobody', {}, 'model_not_found', 'Model "as-written" does not exist'],
    [
      'channels of other tags',
      { plans: { m: on({ tag: 'us' }) } },
      'model_not_found',
      'not served',
    ],
    [
      'channels that are off',
      { plans: { m: on({ tag: 'eu', status: 2 as const }) } },
      'no_channel_available',
      '',
    ],
    ['a broken channel', { unusable: { m: [{ tag: 'eu' }] } }, 'no_channel_available', ''],
  ])('that is not live has %s', (_what, given, code, message) => {
    const error = unservedError(routing(given), 'as-written', target('m', 'eu'));

    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('bounds its job to channels with its tag and one of the key’s, and to the key’s models', () => {
    const { admits, mayAnswer } = boundsOf(
      target('m', 'eu'),
      policy({ tags: ['eu', 'us'], models: ['m'] }),
    );
    const { route } = offer(1, { tag: 'eu' });

    expect([admits(route), admits(offer(2, { tag: 'us' }).route)]).toEqual([true, false]);
    expect([mayAnswer('m'), mayAnswer('n')]).toEqual([true, false]);
    expect(boundsOf(target(), policy()).mayAnswer('n')).toBe(true);
    expect(bears(offer(3).route, undefined, ['eu'])).toBe(false);
    expect(bears(offer(3).route, undefined, [])).toBe(true);
  });
});
