import { describe, expect, it } from '@jest/globals';
import type { RequestEvent } from '../../src/gateway/events.js';
import type { RefusedEntry } from '../../src/store/store.js';
import { RefusedLog } from '../../src/telemetry/refused-log.js';
import { callApi, createAccount } from '../support/accounts.js';
import { requestEvent } from '../support/events.js';
import { startGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';

const NOW = 1_800_000_000_000;

function refusedLog() {
  const written: RefusedEntry[] = [];
  const log = new RefusedLog({
    store: {
      appendRefused(entries) {
        written.push(...entries);
        return Promise.resolve();
      },
    },
    observe: () => undefined,
    now: () => NOW,
    maxEntries: 1_000,
    ...{ node: 'node-a', writer: 'w' },
  });
  return { log, written };
}

const refusal = (fields: Partial<RequestEvent> = {}): RequestEvent =>
  requestEvent({
    atMs: NOW,
    admitted: false,
    outcome: 'rate_limited',
    status: 429,
    message: 'Too many requests.',
    address: '192.0.2.1',
    ...fields,
  });

describe('the log of refused requests', () => {
  it('has those that were not admitted, and those alone', async () => {
    const { log, written } = refusedLog();

    log.read([requestEvent(), requestEvent({ outcome: 'upstream_error', status: 502 })]);
    log.read([refusal({ requestId: 'mine', model: 'm'.repeat(2_000) })]);
    await log.close(NOW);

    expect(written).toEqual([
      {
        atMs: NOW,
        requestId: 'mine',
        userId: 1,
        tokenId: 2,
        tokenName: 'token',
        model: 'm'.repeat(256),
        outcome: 'rate_limited',
        status: 429,
        message: 'Too many requests.',
        address: '192.0.2.1',
        node: 'node-a',
        documents: 10,
        durationMs: 21,
        repeated: 0,
      },
    ]);
  });

  it('counts what one address repeats in a second, and loses no other for it', async () => {
    const { log, written } = refusedLog();

    log.read(Array.from({ length: 500 }, () => refusal()));
    log.read([refusal({ address: '192.0.2.2' }), refusal({ outcome: 'invalid_api_key' })]);
    log.read([refusal({ atMs: NOW + 1_000 })]);
    await log.close(NOW);

    const flood = written.filter(
      ({ address, outcome, atMs }) =>
        address === '192.0.2.1' && outcome === 'rate_limited' && atMs === NOW,
    );
    expect(flood).toHaveLength(10);
    expect(flood.reduce((sum, { repeated }) => sum + 1 + repeated, 0)).toBe(500);
    expect(written).toHaveLength(13);
  });

  it('counts each once where some of a second are in the store before it repeats again', async () => {
    const { log, written } = refusedLog();

    log.read(Array.from({ length: 12 }, () => refusal()));
    await log.close(NOW);
    log.read([refusal(), refusal()]);
    await log.close(NOW);

    expect(written.reduce((sum, { repeated }) => sum + 1 + repeated, 0)).toBe(14);
  });
});

describe('a request by its id', () => {
  it('is found whatever the answer was, by admins, and by its own account without what is not theirs', async () => {
    const gateway = await startGateway({
      channels: [{ name: 'inside', provider: 'local', models: { m: 'local/lexical' } }],
    });
    const { store, url } = gateway;
    const admin = await createAccount(store, { role: 10 });
    const other = await createAccount(store);
    const owner = await createAccount(store, { quota: 1_000_000 });
    const { key } = await gateway.createKey({ userId: owner.user.id });
    const body = { model: 'm', query: 'q', documents: ['a'] };
    const idOf = async (sent: string, asked: unknown): Promise<string> =>
      (await gateway.post(sent, asked)).headers.get('x-request-id') ?? '';
    const ids = {
      ok: await idOf(key, body),
      invalid_api_key: await idOf('sk-nobody', body),
      model_not_found: await idOf(key, { ...body, model: 'no such model' }),
      invalid_documents: await idOf(key, { ...body, documents: [] }),
    };
    const read = (id: string, token: string, own = '') =>
      callApi<Record<string, unknown>>(url, 'GET', `/api/log${own}/request/${id}`, { token });

    for (const [outcome, id] of Object.entries(ids)) {
      await eventually('the entry is there', async () => {
        const { body: reply } = await read(id, admin.token);
        return reply.success && reply.data.request_id === id && reply.data.outcome === outcome;
      });
    }
    expect((await read(ids.ok, admin.token)).body.data).toMatchObject({
      kind: 'admitted',
      status: 200,
      channel: 'inside',
      username: owner.user.username,
    });
    expect((await read(ids.model_not_found, admin.token)).body.data).toMatchObject({
      kind: 'refused',
      status: 404,
      model: 'no such model',
      address: '127.0.0.1',
    });
    const mine = (await read(ids.model_not_found, owner.token, '/self')).body.data;
    expect(mine).toMatchObject({ outcome: 'model_not_found' });
    expect(mine).not.toHaveProperty('address');
    expect(mine).not.toHaveProperty('channel');
    expect((await read(ids.model_not_found, other.token, '/self')).status).toBe(404);
    const missing = await read('rr_unknown', admin.token);
    expect(missing.body.message).toMatch(/reach back to .*; of refused ones, they reach back to/);

    const refusals = await callApi<{ total: number; items: unknown[] }>(
      url,
      'GET',
      '/api/log/refused?outcome=invalid_api_key',
      { token: admin.token },
    );
    expect(refusals.body.data.total).toBe(1);
    const own = await callApi<{ items: { outcome: string }[] }>(
      url,
      'GET',
      '/api/log/self/refused',
      {
        token: owner.token,
      },
    );
    expect(own.body.data.items.map(({ outcome }) => outcome).sort()).toEqual([
      'invalid_documents',
      'model_not_found',
    ]);
    await gateway.close();
  });
});
