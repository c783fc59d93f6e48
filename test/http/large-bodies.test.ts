import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Owned } from '../../src/bytes/memory.js';
import { leftToParser } from '../support/documents.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { takeUncounted, timesLeft } from '../support/memory.js';
import { until } from '../support/until.js';
import { rankLikeCohere, startUpstream, type TestUpstream } from '../support/upstream.js';

const TEXT = 'Saturn has the "most" moons\nof any planet: 汉字 🪐 '.repeat(60_000);

const many = (text: string): string[] =>
  Array.from({ length: 900 }, (_, index) => `${index} ${text.repeat(500)}`);

describe('a body of several megabytes', () => {
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
      ],
      // A failed call is made again if there is time left, however long this machine takes.
      gateway: { attempt_timeout_ms: 100_000, deadline_ms: 100_000 },
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  it.each<[string, unknown[], isPlain?: boolean]>([
    ['strings', [TEXT, 'b', TEXT]],
    ['objects and strings', [{ id: 1, text: TEXT }, 'b', { text: TEXT }]],
    ['halves of characters', [TEXT, 'lone \ud800', { text: `${TEXT}\ud83d` }]],
    ['many halves of characters', [...many('a \ud800'), 'b', 'c']],
    ['images beside texts', [TEXT, { text: TEXT, image: `data:${'A'.repeat(1e6)}` }]],
    ['what only the plain parser reads', [TEXT, 'b', { text: TEXT }], true],
    ['many of what only the plain parser reads', [...many('a'), { text: 'b' }, 'c'], true],
  ])('is ranked as any other: %s', async (_name, documents, isPlain = false) => {
    const asked = { model: 'moon', query: 'q', documents, return_documents: true };
    const json = JSON.stringify(asked);
    const { status, body } = await gateway.post(
      key,
      isPlain ? leftToParser(json, 'documents') : json,
    );

    const texts = documents.map((item) =>
      typeof item === 'string' ? item : (item as { text: string }).text,
    );
    const sent = JSON.parse(upstream.seen.at(-1)?.body ?? '') as { documents: string[] };
    expect([status, body.results.length]).toEqual([200, documents.length]);
    expect(sent.documents).toEqual(texts.map((text) => text.toWellFormed()));
    for (const { index, document } of body.results) {
      const source = documents[index];
      expect(document).toEqual(typeof source === 'string' ? { text: source } : source);
    }
  });

  it('leaves the memory of its reply to others', async () => {
    const documents = [1, 2].map((id) => ({ id, text: TEXT }));
    const asked = { model: 'moon', query: 'q', documents, return_documents: true };
    const { status } = await gateway.post(key, asked);

    expect(status).toBe(200);
    await until('the memory is there', () => {
      const next = Owned.uncleared(4_500_000, () => 0).bytes;
      return next.toString('latin1', 0, 200).includes('"document":{"id":');
    });
  });

  describe('when it has been answered', () => {
    takeUncounted();
    const timesLeftOf = (marker: string) => timesLeft(marker, Buffer.byteLength(TEXT));

    it.each([
      ['ranks alone', 'marked one', {}],
      ['few of its documents', 'marked four', { return_documents: true, top_n: 1 }],
    ])('leaves its memory to others, if that is with %s', async (_with, marker, asked) => {
      const documents = [marker, TEXT];
      const request = { model: 'moon', query: 'q', documents, ...asked };
      const { status, body } = await gateway.post(key, request);

      expect([status, body.results[0]?.index]).toEqual([200, 0]);
      await until('the memory is there', () => timesLeftOf(marker) === 1);
    });

    it.each([
      ['no JSON', 'marked six', (body: string) => Buffer.from(body.slice(0, -1))],
      ['no UTF-8', 'marked seven', (body: string) => Buffer.from([...Buffer.from(body), 0xff])],
    ])('leaves its memory to others, if it was refused as %s', async (_what, marker, written) => {
      const body = JSON.stringify({ model: 'moon', query: 'q', documents: [marker, TEXT] });
      const reply = await fetch(`${gateway.url}/v1/rerank`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: written(body),
      });

      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { error: { code: 'invalid_json' } },
      ]);
      await until('the memory is there', () => timesLeftOf(marker) === 1);
    });

    it('leaves its memory to others, if nobody was asked to rank it', async () => {
      const request = { model: 'nobody', query: 'q', documents: ['marked eight', TEXT] };

      expect((await gateway.post(key, request)).status).toBe(404);
      await until('the memory is there', () => timesLeftOf('marked eight') === 1);
    });

    it('keeps its memory where a call failed that may have read it', async () => {
      const documents = ['marked two', TEXT];
      const calls = upstream.seen.length;
      upstream.answer((_request, res) => {
        upstream.answer(rankLikeCohere);
        res.writeHead(503).end();
      });
      const { status } = await gateway.post(key, { model: 'moon', query: 'q', documents });

      expect([status, upstream.seen.length - calls]).toEqual([200, 2]);
      // The next request is answered after whatever this one leaves: the body of its second call, a copy.
      await gateway.post(key, { model: 'moon', query: 'q', documents: ['a'] });
      expect(timesLeftOf('marked two')).toBe(1);
    });
  });

  it.each([
    [
      'invalid_json',
      400,
      `{"a":${'['.repeat(300)}${']'.repeat(300)},"b":"${'x'.repeat(2_000_000)}"}`,
    ],
    ['payload_too_large', 413, `{"documents":[${'[],'.repeat(700_000)}[]]}`],
    ['payload_too_large', 413, `{"documents":["a"],"query":"${'x'.repeat(1_000_001)}"}`],
    ['invalid_request', 400, `[${'"x",'.repeat(400_000)}"x"]`],
    ['invalid_documents', 400, `{"query":"q","documents":[1,"${'x'.repeat(2_000_000)}"]}`],
    ['invalid_query', 400, `{"query":" ","documents":["\\ud800${'x'.repeat(2_000_000)}"]}`],
  ])('is refused as any other: %s', async (code, status, text) => {
    const reply = await fetch(`${gateway.url}/v1/rerank`, {
      method: 'POST',
      body: text,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });

    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({ error: { code } });
  });

  interface GoogleRecord {
    id?: string;
    title?: string;
    content?: string;
  }

  it.each<[string, GoogleRecord[]]>([
    [
      'that is parsed',
      [
        { id: 'a', title: 'half \ud800', content: TEXT },
        ...many('Io "and"\n汉🪐').map((content) => ({ content })),
        { title: TEXT },
      ],
    ],
    [
      'that stays bytes',
      [
        { id: 'b', title: 'A "title"', content: TEXT },
        ...many('Io "and"\n汉🪐').map((content) => ({ content })),
      ],
    ],
  ])('is answered in full in a form that repeats its texts, %s', async (_name, records) => {
    const response = await fetch(`${gateway.url}/v1/projects/p/locations/l/rankingConfigs/c:rank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'moon', query: 'q', records }),
    });

    const body = (await response.json()) as { records: { id: string; score: number }[] };
    const told = new Map(body.records.map(({ score: _, ...record }) => [record.id, record]));
    const sent = records.map((record, at) => [
      record.id ?? String(at),
      { id: String(at), ...record, ...(record.id === 'a' ? { title: 'half \ufffd' } : {}) },
    ]);
    expect(told).toEqual(new Map(sent as [string, { id: string }][]));
    const { documents } = JSON.parse(upstream.seen.at(-1)?.body ?? '') as { documents: string[] };
    expect(documents).toEqual(
      records.map(({ title, content }) =>
        [title, content]
          .filter((part) => part !== undefined)
          .join('\n')
          .toWellFormed(),
      ),
    );
  });

  it('is refused with the place of its mistake', async () => {
    const broken = `{"model":"moon","query":"q","documents":["${'x'.repeat(2_000_000)}\u0001"]}`;
    const reply = await fetch(`${gateway.url}/v1/rerank`, {
      method: 'POST',
      body: broken,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });

    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain(`not valid JSON (at byte ${broken.length - 4})`);
  });
});
