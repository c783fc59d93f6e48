import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

describe('health and metrics', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ metrics: { token: 'metrics-token' } });
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('says that the process runs and that it can serve', async () => {
    const healthy = await request(gateway.app.server).get('/healthz');
    const ready = await request(gateway.app.server).get('/readyz');

    expect([healthy.status, healthy.body]).toEqual([200, { status: 'ok' }]);
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
  });

  it('are logged as other requests are, but for those of probes', async () => {
    const ask = (path: string) =>
      fetch(`${gateway.url}${path}`, {
        headers: { 'x-request-id': `asked${path.replace('/', '-')}` },
      });
    for (const path of ['/healthz', '/openapi.json', '/nothing']) await (await ask(path)).text();
    const lines = (): unknown[] =>
      gateway.log
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
        .filter(({ requestId }) => String(requestId).startsWith('asked'));

    await until('the last is logged', () => lines().length > 1);

    expect(lines()).toMatchObject([
      { level: 'info', msg: 'request', requestId: 'asked-openapi.json', route: '/openapi.json' },
      { requestId: 'asked-nothing', method: 'GET', status: 404, route: 'none' },
    ]);
  });

  it('are logged as given up where the caller has left', async () => {
    const caller = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    caller.write(
      'POST /api/user/login HTTP/1.1\r\nhost: x\r\nx-request-id: left\r\nexpect: 100-continue\r\n' +
        'content-type: application/json\r\ncontent-length: 20\r\n\r\n{',
    );
    await once(caller, 'data');
    caller.destroy();

    const lines = (): string[] => gateway.log.filter((line) => line.includes('"left"'));
    await until('it is logged', () => lines().length > 0);

    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ route: '/api/user/login', status: 499 });
  });

  it.each(['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/'])(
    'is read alone, as the documents are: %s',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const refused = await fetch(`${gateway.url}${path}`, { method });

        expect([method, refused.status, refused.headers.get('allow')]).toEqual([
          method,
          405,
          'GET, HEAD',
        ]);
        expect(await refused.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
      }
      const headers = { authorization: 'Bearer metrics-token' };
      for (const method of ['GET', 'HEAD']) {
        expect((await fetch(`${gateway.url}${path}`, { method, headers })).status).toBe(200);
      }
    },
  );

  it('shows metrics without a token to this machine, and to the addresses that are named', async () => {
    const open = await startGateway({
      server: { trusted_proxies: ['127.0.0.1'] },
      metrics: { allow_ips: ['192.0.2.0/24'] },
    });
    const own = await startGateway({ server: { trusted_proxies: ['127.0.0.1'] } });
    const ask = (of: TestGateway, address?: string) =>
      request(of.app.server)
        .get('/metrics')
        .set(address === undefined ? {} : { 'x-forwarded-for': address });

    const statuses = await Promise.all([
      ...[ask(own), ask(own, '192.0.2.7'), ask(open, '192.0.2.7'), ask(open, '198.51.100.1')],
    ]);
    await Promise.all([open.close(), own.close()]);

    expect(statuses.map(({ status }) => status)).toEqual([200, 403, 200, 403]);
  });

  it('asks browsers to insist on https only if that is set', async () => {
    const strict = await startGateway({ server: { hsts_max_age_s: 600 } });

    const [off, on] = await Promise.all([
      request(gateway.app.server).get('/api/user/self'),
      request(strict.app.server).get('/api/user/self'),
    ]);
    await strict.close();

    expect(off.headers).not.toHaveProperty('strict-transport-security');
    expect(on.headers['strict-transport-security']).toBe('max-age=600');
  });

  it.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])(
    'does not take for this machine what a proxy on it passes on: %s',
    async (header) => {
      const gateway = await startGateway({});
      const named = await startGateway({ server: { trusted_proxies: ['127.0.0.1'] } });
      const read = ({ app }: TestGateway, from: string) =>
        request(app.server).get('/metrics').set(header, from);
      try {
        expect((await read(gateway, '198.51.100.7')).status).toBe(403);
        expect((await request(gateway.app.server).get('/metrics')).status).toBe(200);
        // Only this header says where a request comes from.
        const isTold = header === 'x-forwarded-for';
        expect((await read(named, '127.0.0.1')).status).toBe(isTold ? 200 : 403);
      } finally {
        await Promise.all([gateway.close(), named.close()]);
      }
    },
  );

  it.each([
    ['localhost', 200],
    ['LOCALHOST:3000', 200],
    ['gateway.localhost', 200],
    ['127.0.0.1:3000', 200],
    ['[::1]:3000', 200],
    ['rerank.example.com', 200],
    ['evil.example', 403],
    ['evil.example:3000', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['evil', 403],
  ])(
    'shows metrics on this machine to no page that has bound its name to it: %s',
    async (host, status) => {
      const named = await startGateway({ server: { public_url: 'https://Rerank.example.com/x' } });
      const reply = await request(named.app.server).get('/metrics').set('host', host);
      await named.close();

      expect(reply.status).toBe(status);
    },
  );

  it('shows metrics to those who have the token', async () => {
    const refused = await request(gateway.app.server).get('/metrics');
    const shown = await request(gateway.app.server)
      .get('/metrics')
      .set('authorization', 'Bearer metrics-token');

    expect(refused.status).toBe(401);
    expect(shown.text).toContain('rerank_requests_in_flight 0');
  });
});
