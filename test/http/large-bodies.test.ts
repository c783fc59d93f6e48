import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { leftToParser } from '../support/documents.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';

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
    ['what only the plain parser reads', [TEXT.slice(0, 1_500_000), 'b'], true],
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

  it.each([
    [
      'invalid_json',
      400,
      `{"a":${'['.repeat(300)}${']'.repeat(300)},"b":"${'x'.repeat(2_000_000)}"}`,
    ],
    [
      'invalid_json',
      400,
      `{"a":${'['.repeat(300)}${']'.repeat(300)},"b":"${'x'.repeat(5_000_000)}"}`,
    ],
    ['invalid_json', 400, `{"query":"q","documents":["${'x'.repeat(5_000_000)}`],
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
      'with half of a character',
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
      { id: String(at), ...record },
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
    expect(await reply.text()).toContain(`not valid JSON (position ${broken.indexOf('\u0001')})`);
  });

  it.each([
    [
      'documents[1] is neither a string nor an object with a text',
      { documents: [TEXT, { passages: [TEXT, TEXT] }], query: 'q' },
    ],
    ['bytes beside documents', { documents: [TEXT], x: 'y'.repeat(5_000_000) }],
    ['it has no list of documents', { query: 'q', documents: [[TEXT, TEXT]] }],
  ])('is refused if it is larger than an unusual one may be: %s', async (part, asked) => {
    const { status, body } = await gateway.post(key, { model: 'moon', ...asked });

    expect([status, body]).toMatchObject([
      413,
      { error: { code: 'payload_too_large', message: expect.stringContaining(part) as unknown } },
    ]);
  });
});
