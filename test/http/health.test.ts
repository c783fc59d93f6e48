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

  it('shows metrics to who has their token', async () => {
    const refused = await request(gateway.app.server).get('/metrics');
    const shown = await request(gateway.app.server)
      .get('/metrics')
      .set('authorization', 'Bearer metrics-token');

    expect(refused.status).toBe(401);
    expect(shown.text).toContain('rerank_requests_in_flight 0');
  });
});
