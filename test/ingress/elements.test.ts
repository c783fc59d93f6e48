import { describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import { encodeJson, UnwrittenJson } from '../../src/bytes/encode.js';
import { JsonFragment } from '../../src/bytes/fragment.js';
import * as dialects from '../../src/ingress/dialects.js';
import type { IngressDialect } from '../../src/ingress/dialect.js';
import { IngressRequest } from '../../src/ingress/read.js';
import { leftToParser } from '../support/documents.js';
import { fc } from '../support/property.js';

/** More than a walk locates. */
const NINE_FIELDS = Array.from('abcdefghi');

/** Forms, with bodies around a list. */
const FORMS: readonly (readonly [IngressDialect, list: string, (list: unknown) => object])[] = [
  [dialects.cohere, 'documents', (documents) => ({ query: 'q', documents })],
  [
    dialects.cohere,
    'documents',
    (documents) => ({
      query: 'q',
      documents,
      rank_fields: NINE_FIELDS,
      return_documents: true,
    }),
  ],
  [dialects.mixedbread, 'input', (input) => ({ query: 'q', input, return_input: true })],
  [
    dialects.mixedbread,
    'input',
    (input) => ({ query: 'q', input, return_input: true, rank_fields: NINE_FIELDS }),
  ],
  [dialects.pinecone, 'documents', (documents) => ({ query: 'q', documents })],
  [dialects.tei, 'texts', (texts) => ({ query: 'q', texts, return_text: true })],
  [dialects.elastic, 'input', (input) => ({ query: 'q', input })],
  [dialects.vllmScore, 'text_2', (list) => ({ text_1: 'q', text_2: list })],
  [dialects.vllmScore, 'documents', (documents) => ({ queries: 'q', documents })],
  [dialects.nvidia, 'passages', (passages) => ({ query: { text: 'q' }, passages })],
  [dialects.watsonx, 'inputs', (inputs) => ({ query: 'q', inputs })],
  [
    dialects.dashscope,
    'input.documents',
    (documents) => ({
      model: 'm',
      input: { query: 'q', documents },
      parameters: { return_documents: true },
    }),
  ],
  [
    dialects.aiGateway,
    'documents.values',
    (values) => ({ query: 'q', documents: { type: 'object', values } }),
  ],
  [dialects.bedrock, 'sources', bedrockBody],
];

function bedrockBody(list: unknown): object {
  const wrapped = (jsonDocument: unknown) =>
    typeof jsonDocument === 'string'
      ? {
          type: 'INLINE',
          inlineDocumentSource: { type: 'TEXT', textDocument: { text: jsonDocument } },
        }
      : { type: 'INLINE', inlineDocumentSource: { type: 'JSON', jsonDocument } };
  const modelArn = 'arn:aws:bedrock:us-west-2::foundation-model/m';
  return {
    queries: [{ textQuery: { text: 'q' } }],
    sources: Array.isArray(list) ? list.map(wrapped) : list,
    rerankingConfiguration: { bedrockRerankingConfiguration: { modelConfiguration: { modelArn } } },
  };
}

/** Half of a pair, as it is written. */
const HALF = String.raw`\ud83d`;
/** So large that elements are read one by one. */
const PADDING = ' '.repeat(70_000);

/** What becomes of a body: what its documents are and how the reply shows them, or why it is refused. */
async function readingOf(dialect: IngressDialect, body: string): Promise<unknown> {
  const request = new IngressRequest(Buffer.from(body), { 'ai-model-id': 'm' }, {}, 8);
  const pause = () => Promise.resolve();
  try {
    const parsed = await request.read(
      () => dialect.lists,
      () => dialect.parse(request),
      pause,
    );
    const { documents, kept } = parsed;
    await documents.prepare(pause, parsed.returnDocuments);
    const each = Array.from({ length: documents.count }, (_, index) => index);
    const rows = each.map((index) => ({ index, score: 1 / (index + 1) }));
    // Halves of pairs are replaced in either form.
    const json = (value: Parameters<typeof encodeJson>[0]) =>
      JSON.stringify(JSON.parse(encodeJson(value).toString())).replaceAll(HALF, '\ufffd');
    const hasHalves = body.includes(HALF);
    const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
    const written = dialect.reply(
      ...([
        'r',
        { ...parsed, model: 'm' },
        { rows, usage, warnings: [], written: undefined },
      ] as const),
      ...([kept, { nowMs: 0, elapsedMs: 0 }] as const),
    );
    return {
      ...{ topN: parsed.topN, options: parsed.options, query: parsed.query },
      ...{
        count: documents.count,
        size: hasHalves || [documents.sizeBytes, documents.meantBytes],
        blanks: documents.blanks(),
      },
      ...{ images: documents.hasImages, lone: documents.hasLoneImages },
      ...{ texts: json(documents.texts()), objects: json(documents.objects('t')) },
      sources: json(documents.sources()),
      echoes: each.map((index) => json(documents.echo(index))),
      single: each.map((index) => documents.text(index).toWellFormed()),
      bytes: hasHalves || each.map((index) => documents.textBytes(index)),
      picked: json(documents.pick(each.slice(1)).texts()),
      reply: String(written instanceof JsonFragment ? written.bytes : written)
        .replaceAll(HALF, '\ufffd')
        .replaceAll(String.raw`\ufffd`, '\ufffd'),
      isUnwritten: written instanceof UnwrittenJson,
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.code, message: error.message, param: error.param };
  }
}

describe('elements that are read one by one', () => {
  const text = fc.oneof(
    fc.constantFrom('', ' ', '\n', 'a', '"\\', '汉字', '\ud83d', '😀', 'b'.repeat(50)),
    fc.string({ maxLength: 5 }),
  );
  const value = fc.oneof(
    text,
    fc.constantFrom(null, true, 0, 1e21, 0.1),
    fc.array(text, { maxLength: 2 }),
    fc.record({ b: text, 1: text }, { requiredKeys: [] }),
  );
  const object = fc.record(
    { a: value, text: value, i: value, image: text, 7: value, '"é': value },
    { requiredKeys: [] },
  );
  const alike = fc.array(fc.record({ title: text, a: value }), { minLength: 1, maxLength: 4 });
  const textual = fc.array(fc.oneof(text, fc.record({ text, a: value }), object), { maxLength: 9 });
  const list = fc.oneof(
    fc.array(fc.oneof({ weight: 4, arbitrary: object }, text, value), { maxLength: 9 }),
    alike,
    textual,
    fc.array(object, { maxLength: 6 }),
    fc.array(value, { maxLength: 3 }),
    value,
  );

  it('are what they are where the whole body is parsed', async () => {
    const outcomes = { read: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FORMS),
        list,

        async (form, items) => {
          const [dialect, name, around] = form;
          const small = JSON.stringify(around(items));
          const body = small.replace('{', `{"padding":"${PADDING}",`);

          const reading = await readingOf(dialect, body);
          expect(reading).toEqual(await readingOf(dialect, leftToParser(body, name)));
          outcomes[(reading as { refused?: string }).refused === undefined ? 'read' : 'refused'] +=
            1;
        },
      ),
      { numRuns: 1_500 },
    );
    expect(outcomes.read).toBeGreaterThan(200);
    expect(outcomes.refused).toBeGreaterThan(200);
  }, 120_000);

  it.each([
    ['no objects', dialects.cohere, { query: 'q', documents: ['a', null, PADDING] }, 'refused'],
    ['lists', dialects.cohere, { query: 'q', documents: [['a'], [PADDING]] }, 'refused'],
    ['numbers', dialects.tei, { query: 'q', texts: ['a', PADDING, 5] }, 'refused'],
    [
      'of many fields',
      dialects.cohere,
      { query: 'q', documents: [{ a: 'b', z: PADDING }], rank_fields: NINE_FIELDS },
      'read',
    ],
    [
      'objects that are unlike',
      dialects.mixedbread,
      { query: 'q', input: [{ a: 1, z: 'z' }, { b: PADDING }, 'c', { text: 'd', e: 'f' }] },
      'read',
    ],
    [
      'objects for texts',
      dialects.aiGateway,
      { query: 'q', documents: { type: 'object', values: [{ a: 1 }, { b: PADDING }] } },
      'read',
    ],
  ])('make no values of the whole body: %s', async (_name, dialect, body, outcome) => {
    const value = jest.spyOn(IngressRequest.prototype, 'value');
    const reading = (await readingOf(dialect, JSON.stringify(body))) as { refused?: string };
    const calls = value.mock.calls.length;
    value.mockRestore();
    expect([calls, reading.refused === undefined ? 'read' : 'refused']).toEqual([0, outcome]);
  });

  /** A request in Mixedbread's form, and how many pauses it took. */
  async function mixedbreadOf(body: object) {
    const request = new IngressRequest(Buffer.from(JSON.stringify(body)), {}, {}, 10_000);
    let pauses = 0;
    const parsed = await request.read(
      () => dialects.mixedbread.lists,
      () => dialects.mixedbread.parse(request),
      () => {
        pauses += 1;
        return Promise.resolve();
      },
    );
    return { parsed, pauses };
  }

  it('of blank texts take steps, however few they are', async () => {
    const input = (text: string) => [{ a: 'b' }, { a: text }, { a: text }];
    const other = await mixedbreadOf({ query: 'q', input: input('a'.repeat(2_000_000)) });
    const blank = await mixedbreadOf({ query: 'q', input: input('\n'.repeat(1_000_000)) });

    expect(blank.parsed.documents.blanks()).toEqual([1, 2]);
    expect(blank.pauses).toBeGreaterThan(other.pauses + 5);
  });

  it('are shown in steps where they are many', async () => {
    const input = Array.from({ length: 2_001 }, (_, at) => ({ a: at }));
    const { parsed } = await mixedbreadOf({ query: 'q', input, return_input: true });
    const ranking = {
      rows: input.map((_, index) => ({ index, score: 0.5 })),
      usage: { inputTokens: 1, searchUnits: 1, estimated: false },
      ...{ warnings: [], written: undefined },
    };
    const clock = { nowMs: 0, elapsedMs: 0 };
    const asked = { ...parsed, model: 'm' };
    const reply = dialects.mixedbread.reply('r', asked, ranking, parsed.kept, clock);

    expect(reply).toBeInstanceOf(UnwrittenJson);
    const { data } = JSON.parse(String(reply)) as { data: { input: object }[] };
    expect(data[2_000]?.input).toEqual({ text: '2000' });
  });
});
