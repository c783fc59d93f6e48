import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ExportQueue } from '../../src/telemetry/export-queue.js';
import { boundAnswers } from '../../src/telemetry/otlp-answers.js';
import { deferred } from '../support/deferred.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { until } from '../support/until.js';
import { cohereChannel, rankLikeCohere, sendJson } from '../support/upstream.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const ASK = { model: 'moon', query: 'moon', documents: ['sun', 'moon'] };

const open = opened();

async function openReceiver() {
  const receiver = await startOtlpReceiver();
  open.push(receiver);
  return receiver;
}

/** A gateway whose first channel fails, and that exports as `telemetry` says. */
async function gatewayWith(telemetry: Record<string, unknown>): Promise<TestGateway> {
  const bad = await open.upstream((_request, res) => sendJson(res, { message: 'down' }, 503));
  const good = await open.upstream(rankLikeCohere);
  const gateway = await startGateway({
    telemetry,
    prices: { default: { per_request: 10 } },
    channels: [
      cohereChannel('bad', bad.url, { priority: 2, tag: 'red', models: ['moon', 'dusk'] }),
      cohereChannel('good', good.url, { priority: 1, tag: 'blue' }),
    ],
  });
  open.push(gateway);
  return gateway;
}

async function metricOf({ url }: TestGateway, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

afterEach(() => {
  jest.useRealTimers();
});

describe('a recorded trace', () => {
  it('has a span for the request and each of its steps, below the span of the caller', async () => {
    const receiver = await openReceiver();
    const gateway = await gatewayWith({
      ...{ otlp_url: receiver.url, otlp_headers: 'x-tenant=a%20b', trace_ratio: 0 },
      service_name: 'ranker',
    });
    const { key } = await gateway.createKey({ name: 'search' });

    await gateway.post(key, ASK, { traceparent: `00-${TRACE}-${PARENT}-01` });
    await gateway.post(key, ASK);
    await gateway.app.close(5_000);

    const { spans } = receiver;
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [root] = named('POST /v1/rerank');
    expect(spans.map(({ name }) => name).sort()).toEqual(
      ['POST /v1/rerank', 'admit', 'attempt', 'attempt', 'choose'].concat(
        ...['read', 'read', 'receive', 'settle'],
      ),
    );
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(root).toMatchObject({
      ...{ parentSpanId: PARENT, kind: 2, status: { code: 0 } },
      resource: { 'service.name': 'ranker', 'service.version': expect.any(String) },
      attributes: {
        ...{ 'http.response.status_code': 200, 'rerank.outcome': 'ok', 'rerank.model': 'moon' },
        ...{ 'rerank.channel': 'good', 'rerank.provider': 'cohere', 'rerank.tag': 'blue' },
        ...{ 'rerank.documents': 2, 'rerank.attempts': 2, 'rerank.cost_units': 10 },
        ...{ 'rerank.key': 'search', 'rerank.input_tokens': expect.any(Number) },
      },
    });
    const [failed, ranked] = named('attempt');
    expect(failed).toMatchObject({
      ...{ kind: 3, status: { code: 2 } },
      attributes: { 'rerank.channel': 'bad', 'http.response.status_code': 503 },
    });
    expect(ranked).toMatchObject({
      ...{ kind: 3, status: { code: 0 } },
      attributes: { 'rerank.channel': 'good', 'rerank.outcome': 'ok' },
    });
    expect(named('settle')[0]?.attributes).toEqual({ 'rerank.charged': 10 });
    expect(named('read').map(({ parentSpanId }) => parentSpanId)).toEqual([
      ...[failed?.spanId, ranked?.spanId],
    ]);
    for (const name of ['receive', 'admit', 'choose', 'attempt', 'settle']) {
      for (const { parentSpanId } of named(name)) expect(parentSpanId).toBe(root?.spanId);
    }
    for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
      expect(Math.abs(Number(startTimeUnixNano) / 1e6 - Date.now())).toBeLessThan(60_000);
      expect(Number(endTimeUnixNano) / 1e6 - Date.now()).toBeLessThan(60_000);
    }
    expect(receiver.headers[0]).toMatchObject({ 'x-tenant': 'a b' });
  });

  it('begins here for the part that the settings say, refused requests included', async () => {
    const receiver = await openReceiver();
    const gateway = await gatewayWith({ otlp_url: `${receiver.url}/`, trace_ratio: 1 });
    const { key } = await gateway.createKey();

    const { status } = await gateway.post(key, { ...ASK, model: 'nobody' });
    await gateway.post(key, { ...ASK, model: 'dusk' });
    await gateway.app.close(5_000);

    expect(status).toBe(404);
    const [root, broken] = receiver.spans.filter(({ name }) => name === 'POST /v1/rerank');
    expect(root?.parentSpanId).toBeFalsy();
    expect(root?.attributes).toMatchObject({ 'rerank.outcome': 'model_not_found' });
    // The gateway's failure is one of the span, too; the caller's is not.
    expect([root?.status.code, broken?.status.code]).toEqual([0, 2]);
    expect(receiver.lines).toEqual([]);
  });
});

describe('the log of requests by OTLP', () => {
  it('has every request and every failed attempt, with the trace if there is one', async () => {
    const receiver = await openReceiver();
    const gateway = await gatewayWith({ otlp_url: receiver.url, trace_ratio: 0, logs: true });
    const { key } = await gateway.createKey();

    await gateway.post(key, ASK, { traceparent: `00-${TRACE}-${PARENT}-00` });
    await gateway.post(key, { ...ASK, model: 'nobody' });
    await gateway.app.close(5_000);

    const { lines } = receiver;
    expect(lines.map(({ body, severityText }) => [body.stringValue, severityText])).toEqual([
      ['attempt failed', 'WARN'],
      ['request', 'INFO'],
      ['request', 'INFO'],
    ]);
    expect(lines[0]?.attributes).toMatchObject({ 'rerank.channel': 'bad' });
    expect(lines[1]).toMatchObject({
      ...{ traceId: TRACE, attributes: { 'rerank.outcome': 'ok', 'rerank.cost_units': 10 } },
      resource: { 'service.name': 'rerank-gateway' },
    });
    expect(lines[2]?.attributes).toMatchObject({ 'rerank.outcome': 'model_not_found' });
    expect(receiver.spans).toEqual([]);
  });
});

describe('an answer of a receiver', () => {
  /** A gateway whose receiver answers so, after a request that it exports. */
  async function exportTo(answer: (res: ServerResponse) => void): Promise<TestGateway> {
    const receiver = await open.upstream((_request, res) => answer(res));
    const gateway = await gatewayWith({ otlp_url: receiver.url, trace_ratio: 1 });
    const { key } = await gateway.createKey();
    await gateway.post(key, ASK);
    return gateway;
  }

  it('that never ends is cut, whatever the size of its pieces', async () => {
    let bytes = 0;
    const closed = deferred();
    const gateway = await exportTo((res) => {
      res.on('close', () => closed.resolve());
      const more = (): void => {
        if (res.destroyed) return;
        for (let at = 0; at < 500; at += 1) res.write(' ');
        bytes += 500;
        setImmediate(more);
      };
      more();
    });

    await closed.promise;
    await gateway.app.close(5_000);

    expect(bytes).toBeLessThan(1_000_000);
  });

  it.each([
    ['trickles', (res: ServerResponse) => void res.write(' ')],
    ['never begins', (res: ServerResponse) => res.writeProcessing()],
  ])('that %s is cut when its time is up', async (_name, more) => {
    const stop = boundAnswers(300);
    open.push({
      close: () => {
        stop();
        return Promise.resolve();
      },
    });
    const closed = deferred();
    const gateway = await exportTo((res) => {
      const timer = setInterval(() => more(res), 100);
      res.on('close', () => {
        clearInterval(timer);
        closed.resolve();
      });
    });

    await closed.promise;
    await gateway.app.close(5_000);

    expect(gateway.log.join('')).toContain('no complete answer in time');
  });

  it('that is put off without an end is cut', async () => {
    const closed = deferred();
    const gateway = await exportTo((res) => {
      res.on('close', () => closed.resolve());
      for (let at = 0; at < 50; at += 1) res.writeContinue();
    });

    await closed.promise;
    await gateway.app.close(5_000);

    expect(gateway.log.join('')).toContain('too many answers of status 1xx');
  });
});

describe('what cannot be exported', () => {
  it('is counted, and reported once', async () => {
    const receiver = await openReceiver();
    receiver.answer(400);
    const gateway = await gatewayWith({ otlp_url: receiver.url, trace_ratio: 0, logs: true });
    const { key } = await gateway.createKey();
    const dropped = () => metricOf(gateway, 'rerank_export_dropped_total{signal="logs"}');

    await gateway.post(key, { ...ASK, model: 'nobody' });
    await until('the first was dropped', async () => (await dropped()) === 1);
    await gateway.post(key, { ...ASK, model: 'nobody' });
    await until('the second was dropped', async () => (await dropped()) === 2);

    expect(gateway.log.filter((line) => line.includes('logs cannot be exported'))).toHaveLength(1);
  });

  it('is reported again once the receiver had come back meanwhile', async () => {
    const codes = [1, 1, 0, 1];
    const faults: string[] = [];
    const lost: number[] = [];
    const queue = new ExportQueue<number>({
      signal: 'logs',
      exporter: {
        export: (_records, done) => done({ code: codes.shift() ?? 0 }),
        shutdown: () => Promise.resolve(),
      },
      observe: (event) => void faults.push(event.kind),
      onDropped: (count) => lost.push(count),
    });

    while (codes.length > 0) {
      for (const record of [1, 2]) queue.add(record);
      await queue.close();
    }

    expect(faults).toEqual(['fault', 'fault']);
    expect(lost).toEqual([2, 2, 2]);
  });

  it('is exported soon, though its turn came while the receiver was slow', async () => {
    jest.useFakeTimers();
    const batches: number[][] = [];
    let sent: () => void = () => undefined;
    const queue = new ExportQueue<number>({
      signal: 'traces',
      exporter: {
        export: (records, done) => {
          batches.push(records);
          sent = () => done({ code: 0 });
        },
        shutdown: () => Promise.resolve(),
      },
      observe: () => undefined,
      onDropped: () => undefined,
    });

    queue.add(1);
    await jest.advanceTimersByTimeAsync(1_000);
    queue.add(2);
    await jest.advanceTimersByTimeAsync(1_000);
    sent();
    await jest.advanceTimersByTimeAsync(1_000);

    expect(batches).toEqual([[1], [2]]);
  });

  it('waits up to a bound, and is dropped beyond it', async () => {
    const sent = deferred();
    const batches: number[] = [];
    const lost: number[] = [];
    const queue = new ExportQueue<number>({
      signal: 'traces',
      exporter: {
        export: (records, done) => {
          batches.push(records.length);
          void sent.promise.then(() => done({ code: 0 }));
        },
        shutdown: () => Promise.resolve(),
      },
      observe: () => undefined,
      onDropped: (count) => lost.push(count),
    });

    for (let at = 0; at < 256 + 8_192 + 3; at += 1) queue.add(at);
    sent.resolve();
    await queue.close();

    expect(lost).toEqual([1, 1, 1]);
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(256 + 8_192);
  });
});

describe('without the packages of OpenTelemetry', () => {
  it('the gateway serves, and its log says what to install', async () => {
    const missing = Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' });
    const { openOtlp } = await import('../../src/assembly/otlp.js');
    const { loadConfig } = await import('../../src/config/load-config.js');
    const { createLogger } = await import('../../src/telemetry/log.js');
    const { telemetry } = loadConfig({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' } });
    const said: string[] = [];
    const logger = createLogger('info', { write: (text) => said.push(text) });

    const otlp = await openOtlp(telemetry, logger, () => Promise.reject(missing));

    expect(otlp).toBeUndefined();
    expect(said.join('')).toContain('npm install @opentelemetry/');
    const broken = openOtlp(telemetry, logger, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
  });
});
