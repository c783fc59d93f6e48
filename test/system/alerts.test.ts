import { describe, expect, it } from '@jest/globals';
import { opened } from '../support/opened.js';
import { startGateway } from '../support/gateway.js';
import { startRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const open = opened();

interface Seen {
  readonly type: string;
  readonly data: { readonly name?: string };
}

describe('two gateways on one Redis', () => {
  it('send each alert once: when a condition begins, and when it ends', async () => {
    const redis = await startRedis();
    open.push({ close: () => redis.stop() });
    const receiver = await open.upstream((_request, res) => void res.writeHead(204).end());
    const settings = {
      alerts: { targets: [{ name: 'hook', webhook: receiver.url }] },
      channels: [{ name: 'local', provider: 'local', models: ['m'] }],
    };
    const one = await startGateway(settings, { REDIS_URL: redis.url });
    const other = await startGateway(settings, { REDIS_URL: redis.url });
    open.push(one, other);
    const { id } = await one.createKey({
      name: 'short lived',
      expiredTime: Math.floor(Date.now() / 1_000) + 3_600,
    });
    const typesOf = (): string[] =>
      receiver.seen
        .map(({ body }) => JSON.parse(body) as Seen)
        .filter(({ data }) => data.name === 'short lived')
        .map(({ type }) => type);

    await until('it is reported', () => typesOf().length > 0, 90_000);
    await one.store.updateToken(id, { expiredTime: -1 }, Date.now());
    await until('its end is reported', () => typesOf().length > 1, 90_000);

    expect(typesOf()).toEqual(['key.ending', 'key.ended']);
    // The receiver has a message a moment before the store knows that it was sent.
    await until('both are sent', async () => {
      const { items } = await other.store.listDeliveries({ offset: 0, limit: 10 });
      return items.length === 2 && items.every(({ state }) => state === 'sent');
    });
  }, 240_000);
});
