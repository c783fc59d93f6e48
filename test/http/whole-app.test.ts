import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';

const ask = { model: 'moon', query: 'Which planet?', documents: ['Mars', 'Saturn'] };

describe('the app without its server', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let key: string;

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      channels: [
        {
          name: 'c',
          provider: 'cohere',
          base_url: upstream.url,
          credentials: { apiKey: 'up-secret' },
          models: { moon: 'rerank-v4.0-pro' },
        },
        { name: 'here', provider: 'local', models: ['words'] },
      ],
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  it.each(['/v1/rerank', '/v2/rerank', '/jina/v1/rerank', '//rerank/'])(
    'ranks at %s',
    async (path) => {
      const id = `asked${path.replaceAll('/', '-')}`;
      const reply = await request(gateway.app.http)
        .post(path)
        .set('authorization', `Bearer ${key}`)
        .set('x-request-id', id)
        .send(ask);

      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({ model: 'moon', results: [{ index: 0 }, { index: 1 }] });
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': id,
        'x-oneapi-request-id': id,
      });
      // What helmet adds elsewhere costs more than it is worth here.
      expect(reply.headers).not.toHaveProperty('x-frame-options');
      const line = `"requestId":"${id}","method":"POST","route":"/v1/rerank"`;
      // Events reach the log in batches.
      await eventually(line, () => Promise.resolve(gateway.log.some((it) => it.includes(line))));
    },
  );

  // V8 makes a function old that is assigned to a property where it is written (`this.f = () => …`), as it does getters of literals
  // and the maps of generators within functions: what they refer to would stay until the whole heap is marked.
  it.each([
    ['words', (text: string) => text],
    ['moon', (text: string) => ({ text })],
  ])('has nothing old refer to the body of a request for %s', async (model, document) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void;
    const requests = 60;
    const documents = Array(60).fill(document('Saturn. '.repeat(125)));
    const body = Buffer.from(JSON.stringify({ ...ask, model, documents }));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const agent = new Agent({ keepAlive: true });
    const send = async (): Promise<void> => {
      const call = httpRequest(`${gateway.url}/v1/rerank`, { method: 'POST', headers, agent });
      const [reply] = (await once(call.end(body), 'response')) as [IncomingMessage];
      await once(reply.resume(), 'end');
      collect({ type: 'minor' });
    };
    await send();
    collect();
    const { arrayBuffers } = process.memoryUsage();

    for (let sent = 0; sent < requests; sent += 1) await send();
    agent.destroy();
    collect({ type: 'minor' });

    const kept = process.memoryUsage().arrayBuffers - arrayBuffers;
    expect(kept).toBeLessThan((requests * body.length) / 4);
  });

  it('refuses who brings no key, or an unknown one, in the dialect’s form', async () => {
    const nobody = await request(gateway.app.http).post('/v1/rerank').send(ask);
    const stranger = await request(gateway.app.http)
      .post('/voyage/v1/rerank')
      .set('authorization', 'Bearer sk-unknown')
      .send(ask);

    expect(nobody.status).toBe(401);
    expect(nobody.body).toMatchObject({ error: { code: 'missing_api_key' } });
    expect(nobody.headers).toMatchObject({ 'www-authenticate': 'Bearer realm="rerank"' });
    expect(stranger.status).toBe(401);
    expect(stranger.body).toHaveProperty('detail');
  });

  it.each(['get', 'put', 'delete', 'options', 'head'] as const)(
    'refuses to %s where it ranks, and says how to',
    async (method) => {
      const { status, headers } = await request(gateway.app.http)[method]('/v2/rerank');

      expect(status).toBe(405);
      expect(headers).toMatchObject({ allow: 'POST', 'x-frame-options': 'SAMEORIGIN' });
    },
  );

  it('has nothing at a path below the name of a form that has none of that kind', async () => {
    const reply = await request(gateway.app.http).post('/voyage/v1/score').send(ask);

    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({
      error: { message: 'There is nothing at POST /voyage/v1/score.' },
    });
  });

  it('may be mounted below a path of another app', async () => {
    const outer = express().use('/gateway', gateway.app.http);
    const ranked = await request(outer)
      .post('/gateway/v1/rerank')
      .set('authorization', `Bearer ${key}`)
      .send(ask);
    const healthy = await request(outer).get('/gateway/healthz');

    expect(ranked.status).toBe(200);
    expect(ranked.body).toHaveProperty('results.1.index', 1);
    expect(healthy.status).toBe(200);
  });

  it('logs each request but rankings with its route, status and time', async () => {
    await request(gateway.app.http)
      .get('/v1/models')
      .set({ 'x-request-id': 'access-1', authorization: `Bearer ${key}` });

    const written = (): string | undefined => gateway.log.find((it) => it.includes('access-1'));
    await eventually('the line', () => Promise.resolve(written() !== undefined));
    expect(JSON.parse(written() ?? '{}')).toMatchObject({
      ...{ requestId: 'access-1', method: 'GET', route: '/v1/models', status: 200, msg: 'request' },
      durationMs: expect.any(Number),
    });
  });

  describe('at a fault of its own', () => {
    const fault = Object.assign(new Error('a bug near sqlite_master'), { status: 400 });
    const fails = () => Promise.reject(fault);
    let store: TestGateway['store'];
    beforeAll(() => {
      store = { ...gateway.store };
      Object.assign(gateway.store, { findToken: fails, findUser: fails, findSession: fails });
    });
    afterAll(() => {
      Object.assign(gateway.store, store);
    });

    const about = `/api/channel/${'x'.repeat(100)}`;
    it.each([
      ['post', '/v1/rerank', { authorization: 'Bearer sk-not-seen-before' }, 'request failed'],
      ['post', '/api/user/login', {}, 'POST /api/user/login failed'],
      ['get', about, { cookie: 'rerank_session=a' }, `GET ${about.slice(0, 100)}… failed`],
    ] as const)(
      '%s %s gets 500 and the id to quote, and the log what happened',
      async (method, path, header, line) => {
        const id = `fault-${path.slice(0, 8).replaceAll('/', '-')}`;
        const asked = request(gateway.app.http)
          [method](path)
          .set({ 'x-request-id': id, ...header });
        const reply = await (method === 'post'
          ? asked.send({ username: 'ada', password: 'some password' })
          : asked);

        expect(reply.status).toBe(500);
        expect(reply.body).toMatchObject({
          ...{ message: expect.stringContaining('Quote the request id'), request_id: id },
        });
        expect(reply.text).not.toContain('sqlite_master');
        const entry = gateway.log.find((it) => it.includes('sqlite_master') && it.includes(id));
        expect(JSON.parse(entry ?? '{}')).toMatchObject({
          level: 'error',
          requestId: id,
          msg: line,
        });
      },
    );
  });
});
