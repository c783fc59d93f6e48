import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createAlerts } from '../../src/assembly/alerts.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { Config } from '../../src/config/values.js';
import { EVENT_KINDS } from '../../src/core/delivery.js';
import { Secret } from '../../src/core/secret.js';
import { Background } from '../../src/gateway/background.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import type { Mail } from '../../src/management/mail.js';
import type { Store } from '../../src/store/store.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { freshManagement } from '../support/management.js';
import { until } from '../support/until.js';
import { rankLikeCohere, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  jest.useRealTimers();
  for (const part of open.splice(0).reverse()) await part.close();
});

type Answer = Parameters<typeof startUpstream>[0];

async function serverWith(answer: Answer): Promise<TestUpstream> {
  const server = await startUpstream(answer);
  open.push(server);
  return server;
}

const take: Answer = (_request, res) => void res.writeHead(204).end();
const fail: Answer = (_request, res) => sendJson(res, { message: 'down' }, 500);
const refuse: Answer = (_request, res) => sendJson(res, { message: 'invalid api token' }, 401);
const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };

async function gatewayWith(
  sick: TestUpstream,
  alerts: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<TestGateway & { readonly ask: () => Promise<unknown> }> {
  const channel = { provider: 'cohere', credentials: { apiKey: 'the-key' }, models: ['moon'] };
  const gateway = await startGateway({
    channels: [{ ...channel, name: 'sick', base_url: sick.url }],
    traffic: {
      ...{ breaker_failures: 2, breaker_open_ms: 200, retry_percent: 0 },
      ...{ disable_failures: 3, return_after_ms: 200 },
    },
    alerts,
    ...more,
  });
  open.push(gateway);
  const { key } = await gateway.createKey();
  return { ...gateway, ask: () => gateway.post(key, ask) };
}

const alertsOf = (receiver: TestUpstream): Record<string, unknown>[] =>
  receiver.seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe('a webhook', () => {
  it('is told of a circuit that opens and closes, once each, with a signature', async () => {
    const receiver = await serverWith(take);
    const sick = await serverWith(fail);
    const gateway = await gatewayWith(sick, {
      webhook_url: `${receiver.url}/hook?team=search`,
      webhook_secret: 'a secret of ours',
    });

    // Its circuit opens, and opens again after each probe that fails.
    await until('it was probed in vain', async () => {
      await gateway.ask();
      return sick.seen.length >= 4;
    });
    sick.answer(rankLikeCohere);
    await until('the receiver has both', async () => {
      await gateway.ask();
      return receiver.seen.length >= 2;
    });

    const [first, second] = alertsOf(receiver);
    expect(first).toMatchObject({
      type: 'channel.circuit_opened',
      channel: { id: expect.any(Number), name: 'sick' },
      reason: 'transient',
      since: expect.any(Number),
      until: expect.any(Number),
    });
    expect(second).toMatchObject({ type: 'channel.circuit_closed', reason: null, until: null });
    expect(receiver.seen).toHaveLength(2);
    for (const { path, headers, body } of receiver.seen) {
      const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const mac = createHmac('sha256', 'a secret of ours').update(text).digest('base64');
      expect([path, headers['webhook-signature']]).toEqual(['/hook?team=search', `v1,${mac}`]);
    }
  });

  it('is told of a channel that is disabled and returns, in order, though it fails at first', async () => {
    let failures = 2;
    const receiver = await serverWith((request, res) => {
      failures -= 1;
      return failures >= 0 ? fail(request, res) : take(request, res);
    });
    const sick = await serverWith(refuse);
    const gateway = await gatewayWith(
      sick,
      { webhook_url: receiver.url },
      { traffic: { breaker_failures: 0, disable_failures: 2, return_after_ms: 200 } },
    );

    await gateway.ask();
    await gateway.ask();
    await until('it is tried again', () => sick.seen.length >= 3);
    sick.answer(rankLikeCohere);
    await receiver.reached(4);

    const alerts = alertsOf(receiver);
    expect(alerts.map(({ type }) => type)).toEqual([
      'channel.disabled',
      'channel.disabled',
      'channel.disabled',
      'channel.returned',
    ]);
    expect(new Set(alerts.map(({ id }) => id)).size).toBe(2);
    expect(alerts[0]).toMatchObject({
      reason: 'credentials_refused',
      message: 'invalid api token',
    });
    expect(receiver.seen[0]?.headers['webhook-signature']).toBeUndefined();
  });

  it('that hangs keeps nobody waiting, neither callers nor the end', async () => {
    const receiver = await serverWith(() => undefined);
    const sick = await serverWith(fail);
    const gateway = await gatewayWith(sick, { webhook_url: receiver.url });

    for (let count = 0; count < 4; count += 1) await gateway.ask();
    await receiver.reached(1);
    const startMs = Date.now();
    await open.pop()?.close();

    expect(Date.now() - startMs).toBeLessThan(20_000);
  });

  it('is not called at an address that upstreams may not have', async () => {
    const receiver = await serverWith(take);
    const sick = await serverWith(fail);
    const gateway = await gatewayWith(
      sick,
      { webhook_url: receiver.url },
      {
        channels: [{ name: 'sick', provider: 'local', models: ['moon'] }],
        gateway: { allow_private_upstreams: false },
      },
    );
    gateway.app.gateway.observe({
      ...{ kind: 'breaker', channelId: 1, channel: 'sick', state: 'open' },
      ...{ reason: 'timeout', sinceMs: 1, forMs: 1 },
    });
    await new Promise((resolve) => setTimeout(resolve, 500));

    expect(receiver.seen).toHaveLength(0);
  });
});

describe('alerts', () => {
  const management = freshManagement();
  const usual = loadConfig({ env: {}, folder: 'none' });

  /** What alerts people, by mail or a webhook, and how to let time pass. */
  function alertsOn(store: Store, settings: Partial<Config>) {
    const mails: Mail[] = [];
    const faults: GatewayEvent[] = [];
    const background = new Background((event) => void faults.push(event));
    const alerts = createAlerts(
      { ...usual, ...settings },
      {
        ...{ store, background, node: 'one', now: Date.now, random: () => 1 },
        observe: () => undefined,
        sendMail: (mail) => Promise.resolve(void mails.push(mail)),
      },
    );
    open.push(alerts);
    return {
      ...{ alerts, mails, faults },
      pass: async (ms: number) => {
        jest.advanceTimersByTime(ms);
        await background.drained();
      },
    };
  }

  const mailTo = (...to: string[]): Config['alerts'] => ({
    ...usual.alerts,
    targets: [
      { name: 'mail', form: 'mail', url: undefined, secret: undefined, to, kinds: EVENT_KINDS },
    ],
  });

  it('of gateways on one store are the same message, and those on others are not', async () => {
    // All within the ten minutes of one message.
    jest.useFakeTimers({ now: 1_800_000_000_000 });
    const down = { ...management.store, ping: () => Promise.reject(new Error('away')) };
    const idOf = async (store: Partial<Config['store']>): Promise<string | undefined> => {
      const { alerts, mails } = alertsOn(down, {
        ...{ alerts: mailTo('a@example.com'), store: { ...usual.store, ...store } },
      });
      alerts.start();
      await jest.advanceTimersByTimeAsync(15_000);
      return mails[0]?.id;
    };
    const redisUrl = (user: string, port = 6379): Secret =>
      new Secret(`redis://${user}redis.example:${port}`);

    const ids = [
      await idOf({ redisUrl: redisUrl('') }),
      await idOf({ redisUrl: redisUrl('me:secret@') }),
      await idOf({ redisUrl: redisUrl('you:other@'), dataDir: 'elsewhere' }),
      await idOf({ redisUrl: redisUrl('', 6380) }),
      await idOf({ redisUrl: redisUrl(''), redisPrefix: 'other' }),
      await idOf({}),
      await idOf({ dataDir: 'elsewhere' }),
    ];

    expect(ids.map((id) => ids.indexOf(id))).toEqual([0, 0, 0, 3, 4, 5, 6]);
    expect(ids[0]).toMatch(/^msg_store_down_[0-9a-f]{12}_\d+$/);
  });

  it('follow the targets and rules of a reload', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    const madeDaysAgo = (days: number): void => {
      const file = join(folder, `of ${days} days ago`);
      writeFileSync(file, '');
      utimesSync(file, new Date(0), new Date(Date.now() - days * 86_400_000));
    };
    const begun: (string | undefined)[] = [];
    const store: Store = {
      ...management.store,
      addDeliveries(deliveries, nowMs, most, condition) {
        if (condition?.key !== 'store') begun.push(condition?.key);
        return management.store.addDeliveries(deliveries, nowMs, most, condition);
      },
    };
    const { alerts, pass, faults } = alertsOn(store, {});
    alerts.start();
    for (const days of [30, 3, 9]) madeDaysAgo(days);
    const rules = mailTo('a@example.com');

    alerts.reload({ ...usual, alerts: rules });
    await pass(15_000);
    alerts.reload({ ...usual, alerts: { ...rules, backupDir: folder, backupMaxDays: 5 } });
    await pass(60_000);
    const before = [...begun];
    alerts.reload({ ...usual, alerts: { ...rules, backupDir: folder, backupMaxDays: 1 } });
    await pass(60_000);

    // That there was no backup yet is no fault either.
    expect([before, begun, faults]).toEqual([[], ['backup::'], []]);
    rmSync(folder, { recursive: true });
  });

  it('close the connections to the targets before a reload', async () => {
    const receiver = await serverWith(take);
    const [url, to] = [new Secret(receiver.url), []];
    const targets = [
      { name: 'hook', form: 'webhook', url, secret: undefined, to, kinds: EVENT_KINDS },
      ...mailTo('a@example.com').targets,
    ] as const;
    const { alerts, mails } = alertsOn(management.store, { alerts: { ...usual.alerts, targets } });

    const results = await alerts.alerting.test(['hook'], 'me');
    const before = receiver.connections();
    alerts.reload(usual);

    expect([...results, before, mails]).toEqual([['hook', ''], 1, []]);
    // By itself an unused connection ends after some seconds.
    await until('nobody is connected', () => receiver.connections() === 0, 1_500);
  });
});
