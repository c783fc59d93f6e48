import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, PASSWORD } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { cohereChannel, sendJson, startUpstream } from '../support/upstream.js';

const KEY = `sk-${'Ab1'.repeat(16)}`;
const TOKEN = `at-${'x_Y-z'.repeat(8)}abc`;
const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon'] };

describe.each([
  ['an API key', KEY],
  ['an access token', TOKEN],
])('%s in the wrong place', (_, secret) => {
  const folder = mkdtempSync(join(tmpdir(), 'misplaced-'));
  let gateway: TestGateway;
  let api: (method: string, path: string, body?: unknown) => ReturnType<typeof callApi>;
  const close = { upstream: (): Promise<void> => Promise.resolve() };

  beforeAll(async () => {
    const upstream = await startUpstream((_request, res) =>
      sendJson(res, { message: `no such account: ${secret}` }, 500),
    );
    close.upstream = () => upstream.close();
    gateway = await startGateway(
      { channels: [cohereChannel('a', upstream.url)] },
      { DATA_DIR: folder },
    );
    const { token } = await createAccount(gateway.store, { role: 100, username: 'admin' });
    api = (method, path, body) =>
      callApi(gateway.url, method, path, { token, ...(body === undefined ? {} : { body }) });
  });
  afterAll(async () => {
    await close.upstream();
    rmSync(folder, { recursive: true });
  });

  it('is in no log, no answer of the management API, no metric, and not in the store', async () => {
    const { key } = await gateway.createKey();
    await gateway.post(key, { ...ask, model: secret });
    await gateway.post(key, { ...ask, model: `prefix/${secret}` });
    await gateway.post(key, ask);
    await gateway.post(key, ask, { 'x-rerank-tag': secret });
    await gateway.post(key, ask, { 'x-request-id': secret, 'user-agent': secret });
    await gateway.post(key, ask, { [secret.toLowerCase()]: secret, 'x-rerank-timeout-ms': secret });
    await gateway.post(secret, ask);
    await gateway.post(key, { ...ask, [secret]: secret });
    await gateway.post(key, { ...ask, tag: secret, user: secret, extra_body: { key: secret } });
    await fetch(`${gateway.url}/v1/models/${secret}?key=${secret}`);
    await fetch(`${gateway.url}/${secret}`, { method: 'POST' });
    await callApi(gateway.url, 'POST', '/api/user/login', {
      body: { username: 'admin', password: PASSWORD },
      headers: { 'user-agent': `tool ${secret}` },
    });
    await callApi(gateway.url, 'POST', '/api/user/login', {
      body: { username: secret, password: secret },
    });
    const content = { query: `a\n${secret}`, documents: [secret] };
    const written = [
      await api('POST', '/api/channel/batch/status', {
        ids: [1],
        status: 2,
        reason: `\n${secret}`,
      }),
      await api('POST', '/api/playground/example', { name: 'mine', shared: false, content }),
    ];
    expect(written.map(({ status }) => status)).toEqual([200, 200]);
    await gateway.app.gateway.settlements.drained();
    gateway.app.gateway.observe({ kind: 'fault', what: 'x', error: new Error(`a\n${secret}`) });

    const logged = async (): Promise<string> =>
      JSON.stringify((await api('GET', '/api/log/refused')).body);
    await until('the log has what was refused', async () => (await logged()).includes('prefix/'));
    const shown = await Promise.all(
      ['log', 'log/refused', 'audit', 'user/session', 'playground/example/1'].map(async (path) =>
        JSON.stringify((await api('GET', `/api/${path}`)).body),
      ),
    );
    shown.push(await (await fetch(`${gateway.url}/metrics`)).text());
    await gateway.close();
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));

    expect(gateway.log.join('')).not.toContain(secret);
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
    expect(files.filter((text) => text.includes(secret))).toEqual([]);
    // What happened can be read all the same.
    expect(gateway.log.join('')).toContain(`"model":"${secret.slice(0, 7)}…"`);
    expect(shown.join('')).toContain(`prefix/${secret.slice(0, 7)}…`);
  });
});

it.each([
  ['name', '/api/token/', { name: KEY }],
  ['labels', '/api/token/', { name: 'mine', labels: `key=${KEY}` }],
  ['labels', '/api/user/', { username: 'ann', password: PASSWORD, labels: `key=${KEY}` }],
  ['username', '/api/user/', { username: KEY, password: PASSWORD }],
  ['email', '/api/user/', { username: 'ann', password: PASSWORD, email: `${KEY}@example.com` }],
])('a %s that looks like a key is refused: %s', async (param, path, body) => {
  const gateway = await startGateway({});
  try {
    const { token } = await createAccount(gateway.store, { role: 100 });
    const reply = await callApi(gateway.url, 'POST', path, { token, body });

    expect([reply.status, reply.body.param]).toEqual([400, param]);
    expect(JSON.stringify(reply.body)).not.toContain(KEY);
  } finally {
    await gateway.close();
  }
});
