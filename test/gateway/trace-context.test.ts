import { describe, expect, it } from '@jest/globals';
import { attemptSpan, startTraces, traceparentOf } from '../../src/gateway/trace-context.js';
import { opened } from '../support/opened.js';
import { startGateway } from '../support/gateway.js';
import { cohereChannel, rankLikeCohere, sendJson } from '../support/upstream.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const HEADER = `00-${TRACE}-${PARENT}-01`;
const follow = startTraces(undefined, () => 0);

describe('a traceparent', () => {
  it('is followed, with a span for the request and one for each attempt', () => {
    const trace = follow(HEADER);
    if (trace === undefined) throw new Error('it was not followed');
    const spans = [attemptSpan(trace), attemptSpan(trace)];

    expect(trace).toMatchObject({ traceId: TRACE, parentId: PARENT, isSampled: true });
    expect(spans.map(traceparentOf)).toEqual(spans.map(({ id }) => `00-${TRACE}-${id}-01`));
    const ids = [PARENT, trace.spanId, ...spans.map(({ id }) => id)];
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([
    ['with an unknown flag', `00-${TRACE}-${PARENT}-ff`, true],
    ['that is not sampled', `00-${TRACE}-${PARENT}-00`, false],
    ['of a later version, with more in it', `cc-${TRACE}-${PARENT}-01-what-comes`, true],
  ])('%s is followed', (_, header, isSampled) => {
    expect(follow(header)).toMatchObject({ traceId: TRACE, parentId: PARENT, isSampled });
  });

  it.each([
    ['a version that cannot be', `ff-${TRACE}-${PARENT}-01`],
    ['more than version 00 has', `${HEADER}-more`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capital letters', HEADER.toUpperCase()],
    ['no flags', `00-${TRACE}-${PARENT}`],
    ['anything else', 'a'],
  ])('with %s is as if it were absent', (_, header) => {
    expect(follow(header)).toBeUndefined();
  });
});

describe('recording', () => {
  it('begins traces for the part of the requests that the ratio says', () => {
    const draws = [0.009, 0.01, 0.5];
    const start = startTraces(0.01, () => draws.shift() ?? 1);

    const traces = [start(undefined), start(undefined), start(undefined)];

    expect(traces[0]).toMatchObject({ parentId: undefined, isSampled: true, isRecorded: true });
    expect(traces.slice(1)).toEqual([undefined, undefined]);
  });

  it('follows the decision of the caller', () => {
    const start = startTraces(0.5, () => 0);

    expect(start(HEADER)).toMatchObject({ isSampled: true, isRecorded: true });
    expect(start(HEADER.replace(/01$/, '00'))).toMatchObject({ isRecorded: false });
    expect(follow(HEADER)).toMatchObject({ isSampled: true, isRecorded: false });
  });
});

describe('over sockets', () => {
  const open = opened();

  it('each attempt sends a span of its own, and the log has the trace', async () => {
    const bad = await open.upstream((_request, res) => sendJson(res, { message: 'down' }, 500));
    const good = await open.upstream(rankLikeCohere);
    const gateway = await startGateway({
      channels: [
        cohereChannel('bad', bad.url, { priority: 2 }),
        cohereChannel('good', good.url, { priority: 1 }),
      ],
    });
    open.push(gateway);
    const { key } = await gateway.createKey();
    const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon'] };

    expect((await gateway.post(key, ask, { traceparent: HEADER })).status).toBe(200);
    expect((await gateway.post(key, ask)).status).toBe(200);
    await gateway.app.close(1_000);

    const sent = [bad, good].map(({ seen }) => seen.map(({ headers }) => headers.traceparent));
    const lines = gateway.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const failed = lines.filter(({ msg }) => msg === 'attempt failed');
    const requests = lines.filter(({ msg }) => msg === 'request');
    expect(sent[0]?.[0]).toBe(`00-${TRACE}-${String(failed[0]?.spanId)}-01`);
    expect(sent[1]?.[0]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(sent[1]?.[0]).not.toBe(sent[0]?.[0]);
    expect(requests[0]).toMatchObject({
      traceId: TRACE,
      spanId: expect.stringMatching(/^\w{16}$/),
    });
    expect(sent.map((headers) => headers[1])).toEqual([undefined, undefined]);
    expect(requests[1]).not.toHaveProperty('traceId');
  });
});
