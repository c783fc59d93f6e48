import { describe, expect, it } from '@jest/globals';
import { adopt, changesBetween, liveConfig } from '../../src/config/reload.js';
import type { Config } from '../../src/config/values.js';
import { Secret } from '../../src/core/secret.js';

const of = (config: object): Config => config as unknown as Config;
const keyed = (key: string): object[] => [{ name: 'eu', credentials: { apiKey: new Secret(key) } }];

describe('settings that are read again', () => {
  it.each([
    [{}, {}, {}],
    [{ gateway: { maxAttempts: 1 } }, { gateway: { maxAttempts: 1 } }, {}],
    [
      { gateway: { maxAttempts: 1 } },
      { gateway: { maxAttempts: 2 } },
      { applied: ['gateway.max_attempts'] },
    ],
    [
      { server: { keepAliveTimeoutMs: 1 } },
      { server: { keepAliveTimeoutMs: 2 } },
      { needRestart: ['server.keep_alive_timeout_ms'] },
    ],
    // What has no default may come and go.
    [{ callers: {} }, { callers: { aliases: { a: 'b' } } }, { applied: ['callers.aliases'] }],
    [{ server: { publicUrl: 'x' } }, { server: {} }, { needRestart: ['server.public_url'] }],
    [
      { models: { fallback: { queueMs: 1 }, named: {} }, prices: { fallback: { per: 'request' } } },
      { models: { fallback: {}, named: { m: {} } }, prices: { fallback: {} } },
      { applied: ['models.default', 'models', 'prices.default'] },
    ],
    [{ channels: undefined }, { channels: [] }, { applied: ['channels'] }],
    [{ channels: keyed('one') }, { channels: keyed('one') }, {}],
    [{ channels: keyed('one') }, { channels: keyed('other') }, { applied: ['channels'] }],
    [{ tags: [] }, { tags: [{ tag: 'eu', disabled: true }] }, { applied: ['tags'] }],
    [
      { store: { encryptionKey: new Secret('one') } },
      { store: { encryptionKey: new Secret('other') } },
      { needRestart: ['store.encryption_key'] },
    ],
  ])('%# differ in what files call it', (before, after, changes) => {
    expect(changesBetween(of(before), of(after))).toEqual({
      ...{ applied: [], needRestart: [] },
      ...changes,
    });
  });

  it('are taken over by those who hold them, as far as they reload', () => {
    const first = { gateway: { maxAttempts: 1 }, server: { port: 1 }, channels: [], callers: {} };
    const live = liveConfig(of(first));
    const { gateway } = live;

    const callers = { aliases: { a: 'b' } };
    adopt(
      live,
      of({ gateway: { maxAttempts: 2 }, server: { port: 2 }, channels: keyed('one'), callers }),
    );

    expect(gateway.maxAttempts).toBe(2);
    expect(live).toMatchObject({ server: { port: 1 }, channels: [{ name: 'eu' }], callers });
    expect(first.gateway.maxAttempts).toBe(1);
  });
});
