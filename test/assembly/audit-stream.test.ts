import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { followAudit } from '../../src/assembly/audit-stream.js';
import type { Config } from '../../src/config/values.js';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { freshManagement } from '../support/management.js';
import { until } from '../support/until.js';

const SECRET = `whsec_${Buffer.from('a secret of the test that is long').toString('base64')}`;

interface Received {
  readonly type: string;
  readonly data: { readonly audit_id: number; readonly action: string; readonly actor: string };
}

let folder = '';
let server: Server;
let received: Received[] = [];
let url = '';
const gateways: TestGateway[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
  received = [];
  server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    req.on('end', () => {
      const headers = req.headers as Record<string, string>;
      // Throws if it is not ours.
      received.push(new Webhook(SECRET).verify(body, headers) as Received);
      res.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

async function start(kinds: readonly string[] = ['audit']): Promise<TestGateway> {
  const targets = [{ name: 'siem', webhook: url, secret: SECRET, kinds }];
  const gateway = await startGateway({ alerts: { targets } }, { DATA_DIR: folder });
  gateways.push(gateway);
  return gateway;
}

async function began({ store }: TestGateway): Promise<void> {
  await until('the stream begins', async () => {
    const duty = await store.readDuty('audit-stream');
    return (duty?.note ?? '') !== '';
  });
}

const actions = (): string[] => received.map(({ data }) => data.action);

it('sends what happens from then on, signed, of the API and of commands on the store', async () => {
  const gateway = await start();
  const { token } = await createAccount(gateway.store, { role: 10 });
  await began(gateway);
  received.length = 0;
  await callApi(gateway.url, 'POST', '/api/token', { token, body: { name: 'a key' } });
  await gateway.store.appendAudit(
    {
      // By a clock that is behind.
      ...{ atMs: Date.now() - 60_000, actorId: undefined, actor: 'cli:alice' },
      action: 'tag.disable',
      ...{ target: 'tag:blue', name: 'blue', detail: { reason: 'a test' }, address: undefined },
    },
    100,
  );

  await until('tag.disable comes', () => actions().includes('tag.disable'));

  expect(actions()).toContain('token.create');
  expect(received.find(({ type }) => type === 'audit.tag.disable')?.data).toMatchObject({
    ...{ actor: 'cli:alice', actor_id: null, target: 'tag:blue', name: 'blue', changes: [] },
    detail: { reason: 'a test' },
  });
});

it('goes on where it was after a restart, and sends nothing twice with two gateways', async () => {
  const first = await start();
  const write = (store: TestGateway['store'], action: string) =>
    store.appendAudit(
      {
        ...{ atMs: Date.now(), actorId: undefined, actor: 'x', action, target: 'tag:x' },
        ...{ detail: {}, address: undefined },
      },
      100,
    );
  await began(first);
  await write(first.store, 'one');
  await until('one comes', () => actions().includes('one'));
  await write(first.store, 'meanwhile');
  await first.close(0);
  gateways.length = 0;
  const [second, third] = [await start(), await start()];
  await write(second.store, 'two');
  await until('two comes', () => actions().includes('two'));
  await write(third.store, 'three');
  await until('three comes', () => actions().includes('three'));

  const ours = actions().filter((action) => ['one', 'meanwhile', 'two', 'three'].includes(action));
  expect(ours).toEqual(['one', 'meanwhile', 'two', 'three']);
});

it('goes on where the store ends if that was restored from a backup', async () => {
  const gateway = await start();
  const { token } = await createAccount(gateway.store, { role: 10 });
  await began(gateway);
  const lost = JSON.stringify({ id: 1_000_000, atMs: Date.now() });
  await gateway.store.endDuty('audit-stream', lost, Date.now(), 1);
  await until('it goes on', async () => {
    const note = (await gateway.store.readDuty('audit-stream'))?.note ?? '';
    return note !== lost;
  });

  await callApi(gateway.url, 'POST', '/api/token', { token, body: { name: 'a key' } });

  await until('the key comes', () => actions().includes('token.create'));
  expect(actions()).toContain('token.create');
});

it('is for targets that name it: others take no duty', async () => {
  const gateway = await start(['channel']);

  expect(await gateway.store.readDuty('audit-stream')).toBeUndefined();
});

describe('a long backlog', () => {
  const management = freshManagement();

  it('is sent in parts, in order and without a gap', async () => {
    const { store, deps } = management;
    const sent: number[] = [];
    const rounds: (() => Promise<void>)[] = [];
    const follower = followAudit(
      { alerts: { targets: [{ kinds: ['audit'] }] } } as unknown as Config,
      {
        ...{ store, now: deps.now },
        run: (_what, round) => void rounds.push(round),
        deliver: ({ data }) => void sent.push(data.audit_id as number),
      },
    );
    follower.stop();
    const round = async (): Promise<void> => {
      await rounds[0]?.();
      management.pass(2_000);
    };
    await round();
    const entry = { actorId: undefined, actor: 'x', action: 'a', target: 't', detail: {} };
    for (let count = 0; count < 501; count += 1)
      await store.appendAudit({ ...entry, atMs: deps.now(), address: undefined }, 1_000);

    const reached: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      await round();
      const { note = '{}' } = (await store.readDuty('audit-stream')) ?? {};
      reached.push((JSON.parse(note) as { readonly id?: number }).id);
    }

    expect(sent).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
    // A round late: what was handed over is written by then, whoever goes on.
    expect(reached).toEqual([0, 500, 501]);
  });
});
