import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { createChannel } from '../../src/management/channels.js';
import { listChannels } from '../../src/management/channel-views.js';
import { channelWire } from '../../src/shapes/channel.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { until } from '../support/until.js';
import { rankLikeCohere, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

const open = opened();
type Answer = Parameters<typeof startUpstream>[0];
const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };
const KEYS = ['key-of-account-aaaa', 'key-of-account-bbbb', 'key-of-account-cccc'];

const keyOf = ({ headers }: Parameters<NonNullable<Answer>>[0]): string =>
  String(headers.authorization).replace('Bearer ', '');

/** An account for each key: what it answers is the test's to say. */
async function accounts(
  answers: Partial<Record<string, NonNullable<Answer>>> = {},
): Promise<TestUpstream> {
  const upstream = await startUpstream((request, res) =>
    (answers[keyOf(request)] ?? rankLikeCohere)(request, res),
  );
  open.push(upstream);
  return upstream;
}

/** A clock on which a minute has just begun, so that none ends during a test. */
function earlyInAMinute(): () => number {
  const aheadMs = 60_000 - (Date.now() % 60_000);
  return () => Date.now() + aheadMs;
}

async function gatewayOn(
  upstream: TestUpstream,
  channel: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): Promise<TestGateway & { readonly ask: () => ReturnType<TestGateway['post']> }> {
  const gateway = await startGateway(
    {
      channels: [
        {
          ...{ name: 'pool', provider: 'cohere', base_url: upstream.url, models: ['moon'] },
          ...{ api_keys: KEYS, ...channel },
        },
      ],
      traffic: { breaker_failures: 2, breaker_open_ms: 60_000, disable_failures: 2 },
      ...more,
    },
    {},
    { now: earlyInAMinute() },
  );
  open.push(gateway);
  const { key } = await gateway.createKey();
  return { ...gateway, ask: () => gateway.post(key, ask) };
}

const refuse: Answer = (_request, res) => sendJson(res, { message: 'invalid api token' }, 401);
const limit: Answer = (_request, res) => {
  res.setHeader('retry-after', '30');
  sendJson(res, { message: 'slow down' }, 429);
};

describe('a channel with several keys', () => {
  it('uses them in turn', async () => {
    const upstream = await accounts();
    const gateway = await gatewayOn(upstream);

    for (let count = 0; count < 6; count += 1) expect((await gateway.ask()).status).toBe(200);

    expect(upstream.seen.map(keyOf)).toEqual([...KEYS, ...KEYS]);
  });

  it.each([
    ['is refused', refuse, 'open', 'misconfigured'],
    [
      'has no credit',
      ((_request, res) => sendJson(res, {}, 402)) satisfies Answer,
      'open',
      'misconfigured',
    ],
    ['is limited', limit, 'cooling', 'busy'],
  ] as const)(
    'loses one that %s alone, and no caller notices',
    async (_what, answer, state, reason) => {
      const [bad = ''] = KEYS;
      const upstream = await accounts({ [bad]: answer });
      const gateway = await gatewayOn(upstream);

      for (let count = 0; count < 8; count += 1) expect((await gateway.ask()).status).toBe(200);

      expect(upstream.seen.filter((request) => keyOf(request) === bad)).toHaveLength(1);
      expect((await gateway.store.loadChannels()).channels[0]?.status).toBe(1);
      expect(gateway.log.filter((line) => line.includes('circuit'))).toEqual([]);
      const deps = { store: gateway.store, now: Date.now };
      await until('it can be seen', async () => {
        const [shown] = await listChannels(deps);
        return (shown?.sighted.pauses.length ?? 0) > 0;
      });
      const [shown] = await listChannels(deps);
      expect(shown?.sighted.pauses).toEqual([
        expect.objectContaining({ key: '…aaaa', state, reason }),
      ]);
    },
  );

  it('is left alone as a whole when its server fails, whatever the key', async () => {
    const down: Answer = (_request, res) => sendJson(res, { message: 'down' }, 500);
    const upstream = await accounts(Object.fromEntries(KEYS.map((key) => [key, down])));
    const gateway = await gatewayOn(upstream);

    for (let count = 0; count < 5; count += 1) await gateway.ask();

    expect(upstream.seen.length).toBeLessThanOrEqual(3);
    expect(gateway.log.some((line) => line.includes('"state":"open"'))).toBe(true);
  });

  it('is disabled for all nodes once every key is refused, each in its own way, and returns when one is not', async () => {
    const [first = '', , last = ''] = KEYS;
    const broke: Answer = (_request, res) => sendJson(res, { message: 'payment required' }, 402);
    let isMended = false;
    const recovering: Answer = (request, res) =>
      void (isMended ? rankLikeCohere : refuse)(request, res);
    const upstream = await accounts({
      ...Object.fromEntries(KEYS.map((key) => [key, refuse])),
      ...{ [first]: broke, [last]: recovering },
    });
    const traffic = { breaker_failures: 2, breaker_open_ms: 50, disable_failures: 3 };
    const gateway = await gatewayOn(
      upstream,
      {},
      { traffic: { ...traffic, return_after_ms: 100, return_longest_ms: 200 } },
    );
    const channelOf = async () => (await gateway.store.loadChannels()).channels[0];

    await until('it is disabled', async () => {
      expect((await gateway.ask()).status).toBeGreaterThanOrEqual(500);
      return (await channelOf())?.status === 3;
    });
    expect((await channelOf())?.outage).toMatchObject({
      reason: expect.stringMatching(/^(credentials_refused|no_credit)$/) as unknown,
    });
    expect(new Set(upstream.seen.map(keyOf)).size).toBe(3);

    isMended = true;
    await until('it has returned', async () => (await channelOf())?.status === 1);
    await until('it serves', async () => (await gateway.ask()).status === 200);
  });

  it('is not disabled while one of its keys only rests', async () => {
    const [first = ''] = KEYS;
    const upstream = await accounts(
      Object.fromEntries(KEYS.map((key) => [key, key === first ? limit : refuse])),
    );
    const gateway = await gatewayOn(
      upstream,
      {},
      { traffic: { breaker_failures: 2, breaker_open_ms: 1, disable_failures: 1 } },
    );

    for (let count = 0; count < 5; count += 1) await gateway.ask();

    expect((await gateway.store.loadChannels()).channels[0]?.status).toBe(1);
  });

  it('says that it is busy, and until when, while all of them rest', async () => {
    const upstream = await accounts(Object.fromEntries(KEYS.map((key) => [key, limit])));
    const gateway = await gatewayOn(upstream);

    await gateway.ask();
    const { status, headers } = await gateway.ask();

    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(20);
    expect(upstream.seen).toHaveLength(3);
  });

  it('has no more attempts at once with one key than it may', async () => {
    const waiting: (() => void)[] = [];
    const hold: Answer = (request, res) =>
      void waiting.push(() => void rankLikeCohere(request, res));
    const upstream = await accounts(Object.fromEntries(KEYS.map((key) => [key, hold])));
    const gateway = await gatewayOn(upstream, { key_max_concurrency: 1 });

    const asked = Array.from({ length: 3 }, () => gateway.ask());
    await upstream.reached(3);
    const refused = await gateway.ask();
    for (const answer of waiting) answer();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);

    expect([refused.status, ...statuses]).toEqual([503, 200, 200, 200]);
    expect(new Set(upstream.seen.map(keyOf)).size).toBe(3);
  });

  it('sends no more a minute with each than its account takes, and passes it over until there is room', async () => {
    const upstream = await accounts();
    const gateway = await gatewayOn(upstream, { key_requests_per_minute: 2 });
    const deps = { store: gateway.store, now: Date.now };

    const statuses = await Promise.all(Array.from({ length: 9 }, () => gateway.ask()));

    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(6);
    expect(statuses.filter(({ status }) => status === 503)).toHaveLength(3);
    expect([...upstream.seen.map(keyOf)].sort()).toEqual([...KEYS, ...KEYS].sort());
    await until('it can be seen', async () => {
      const [shown] = await listChannels(deps);
      return shown?.sighted.pauses.length === 3;
    });
    const [shown] = await listChannels(deps);
    expect(shown?.sighted.pauses).toContainEqual(
      expect.objectContaining({
        ...{ key: '…aaaa', state: 'cooling', reason: 'key_requests_per_minute' },
      }),
    );
    const refused = await gateway.ask();
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    const { key } = await gateway.createKey({ policy: { mayExplain: true } });
    const explained = await gateway.post(key, ask, { 'x-rerank-explain': '1' });
    expect(JSON.stringify(explained.body)).toContain('"at_limit"');
    expect(JSON.stringify(explained.body)).toContain('each of its keys');
  });

  it('sends no more tokens a minute with each than its account takes', async () => {
    const upstream = await accounts();
    // A call that needs more than all of it passes alone.
    const gateway = await gatewayOn(upstream, { key_tokens_per_minute: 1 });

    for (let count = 0; count < 3; count += 1) expect((await gateway.ask()).status).toBe(200);

    expect((await gateway.ask()).status).toBe(503);
    expect(new Set(upstream.seen.map(keyOf)).size).toBe(3);
  });

  it('has the limits of one where it is the only one', async () => {
    const [only = ''] = KEYS;
    const upstream = await accounts();
    const gateway = await gatewayOn(upstream, { api_keys: [only], key_requests_per_minute: 2 });

    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await gateway.ask()).status);

    expect(statuses).toEqual([200, 200, 503]);
  });

  it('that is kept in the store has them encrypted, and shows how many', async () => {
    const upstream = await accounts();
    const gateway = await gatewayOn(upstream, { models: ['other'] });
    const deps = {
      store: gateway.store,
      now: Date.now,
      randomBytes: (count: number) => new Uint8Array(count),
      allowPrivateUpstreams: true,
      allowMetadataUpstreams: false,
    };
    const apiKey = new Secret(KEYS.join('\n'));
    const draft = { name: 'stored', provider: 'cohere', baseUrl: upstream.url };

    const { channel } = await createChannel(
      deps,
      { ...draft, models: { moon: 'moon' }, credentials: { apiKey } },
      { id: 1, name: 'olga', role: 100, address: undefined },
    );
    await gateway.app.gateway.channels.refresh();
    for (let count = 0; count < 3; count += 1) expect((await gateway.ask()).status).toBe(200);

    expect(new Set(upstream.seen.map(keyOf))).toEqual(new Set(KEYS));
    expect(channelWire(channel)).toMatchObject({ credential_names: ['api_key'], key_count: 3 });
    expect(JSON.stringify(channelWire(channel))).not.toContain('account');
    const audit = await gateway.store.listAudit({ offset: 0, limit: 10 });
    expect(JSON.stringify(audit)).not.toContain('account-aaaa');
  });
});

it('is refused where a key signs or fetches a token', async () => {
  const upstream = await accounts();
  await expect(
    gatewayOn(upstream, { provider: 'watsonx', settings: { project_id: 'p' } }),
  ).rejects.toThrow(/one key/);
});
