import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startGateway, type TestGateway } from '../support/gateway.js';

describe('health and metrics', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ metrics: { token: 'metrics-token' } });
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('says that the process runs and that it can serve', async () => {
    await request(gateway.app.server).get('/healthz').expect(200, { status: 'ok' });
    await request(gateway.app.server).get('/readyz').expect(200, { status: 'ready' });
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

  it('shows metrics to who has their token', async () => {
    const refused = await request(gateway.app.server).get('/metrics');
    const shown = await request(gateway.app.server)
      .get('/metrics')
      .set('authorization', 'Bearer metrics-token');

    expect(refused.status).toBe(401);
    expect(shown.text).toContain('rerank_requests_in_flight 0');
  });
});
