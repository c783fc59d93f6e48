import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { escapedJson } from './bodies.js';
import { CHINESE, ENGLISH, textOf, textsOf, type Case, type Form } from './turn-case.js';

/** Below this, a body is read without a pause unless there is much in it. */
const SMALL = 900_000;

const cohere = (documents: Case['documents'], rest: Partial<Case> = {}): Case => ({
  model: 'cohere',
  documents,
  ...rest,
});

/** The body, with JSON text in front of its first member. */
const after = (text: string) => (body: object) => `{${text},${JSON.stringify(body).slice(1)}`;

/** A list by the name of the documents' comes first, which only the plain parser can tell from the real one. */
const TWICE = after('"documents":[]');

const many = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(',');

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const tiny = (count: number): string[] => Array.from({ length: count }, (_, at) => `t${at}`);

const objects = (texts: readonly string[]): object[] =>
  texts.map((text, id) => ({ id, text, at: 'x' }));

const MIXEDBREAD: Form = {
  path: '/v1/reranking',
  body: ({ model, query, documents }) => ({ model, query, input: documents }),
};

const RETURNED = { return_documents: true };

/** Bodies as hardly anyone sends them. */
export const oddCases = (UNITS: number): Readonly<Record<string, Case>> => ({
  ...besides('below 1 MB', SMALL, 10),
  ...besides('large', UNITS, 3),
  'below 1 MB: 10 000 tiny texts': cohere(() => tiny(10_000)),
  'below 1 MB: 10 000 tiny texts, returned': cohere(() => tiny(10_000), { more: RETURNED }),
  'below 1 MB: 10 000 tiny objects': cohere(() => objects(tiny(10_000))),
  'below 1 MB: 10 000 tiny objects, returned': cohere(() => objects(tiny(10_000)), {
    more: RETURNED,
  }),
  'below 1 MB: 10 000 tiny texts to embed': { model: 'embeddings', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts to embed, 32 at once': {
    model: 'tei-embeddings',
    documents: () => tiny(10_000),
  },
  'below 1 MB: 10 000 tiny texts ranked inside': { model: 'local', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, cached': { model: 'cached', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, split': { model: 'split', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, cut': { model: 'cut', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, tei': { model: 'tei', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, voyage': { model: 'voyage', documents: () => tiny(10_000) },
  'below 1 MB: 10 000 tiny texts, explained': cohere(() => tiny(10_000), {
    form: { path: '/v1/rerank?explain=after', body: (asked) => asked },
  }),
  'below 1 MB: 10 000 pairs': cohere(() => tiny(10_000), {
    form: {
      path: '/models/cohere',
      body: ({ query, documents }) => ({
        inputs: documents.map((text) => ({ text: query, text_pair: text })),
      }),
    },
  }),
  'below 1 MB: 10 000 records': cohere(() => tiny(10_000), {
    form: {
      path: '/v1/projects/p/locations/l/rankingConfigs/c:rank',
      body: ({ model, query, documents }) => ({
        model,
        query,
        records: documents.map((content, id) => ({ id: `${id}`, title: 'One', content })),
      }),
    },
  }),
  'below 1 MB: 10 000 objects without a text': cohere(() =>
    tiny(10_000).map((body, id) => ({ id, body })),
  ),
  'below 1 MB: 100 000 empty objects': cohere(() => tiny(100_000).map(() => ({}))),
  'below 1 MB: 300 000 numbers': cohere(() => tiny(300_000).map(() => 0)),
  'below 1 MB: a long query': cohere(() => ['a', 'b'], { query: textOf(ENGLISH, SMALL) }),
  'below 1 MB: a long Chinese query': cohere(() => ['a', 'b'], {
    query: textOf(CHINESE, SMALL / 3),
  }),
  'below 1 MB: a long query in escapes': cohere(() => ['a', 'b'], {
    query: textOf(CHINESE, SMALL / 6),
    written: (body) => escapedJson(JSON.stringify(body)),
  }),
  'a list of 1 000 embeddings': { model: 'vectors', documents: () => tiny(1_000) },
  'a list of 1 000 embeddings in base64': { model: 'encoded', documents: () => tiny(1_000) },
  'a list of 1 000 embeddings of integers': { model: 'integers', documents: () => tiny(1_000) },
  'a list of embeddings of tokens': { model: 'tokens', documents: () => tiny(300) },
  'a page for a reply': { model: 'page', documents: () => tiny(1_000) },
  'a page for an error': { model: 'away', documents: () => tiny(1_000) },
  'an error with a long message': { model: 'mistake', documents: () => tiny(1_000) },
  'an error that repeats what was sent': { model: 'repeated', documents: () => tiny(1_000) },
  'metadata of objects': {
    model: 'contextual',
    documents: () => textsOf(ENGLISH, 500, UNITS).map((meta) => ({ meta, text: 'a' })),
  },
  'objects of several kinds, ranked by all that they have': cohere(
    () => textsOf(ENGLISH, 5_000, UNITS).map((text, id) => ({ [`m${id % 7}`]: text, id })),
    { more: { return_input: true }, form: MIXEDBREAD },
  ),
  'texts, and objects ranked by all that they have': cohere(
    () => textsOf(ENGLISH, 5_000, UNITS).map((text, id) => (id % 2 === 0 ? text : { id, text })),
    { more: { return_input: true }, form: MIXEDBREAD },
  ),
  'objects for texts': cohere(
    () => textsOf(ENGLISH, 500, UNITS).map((text, id) => ({ id, text })),
    {
      form: {
        path: '/v3/ai/reranking-model',
        headers: { 'ai-model-id': 'cohere' },
        body: ({ query, documents }) => ({
          query,
          documents: { type: 'object', values: documents },
        }),
      },
    },
  ),
  'objects ranked by nine fields': cohere(
    () => textsOf(ENGLISH, 500, UNITS).map((t0, t8) => ({ t0, t8 })),
    { more: { ...RETURNED, rank_fields: tiny(9) } },
  ),
  'null at the end': cohere(() => [...textsOf(ENGLISH, 5_000, UNITS), null]),
  'a million of null': cohere(() => new Array<null>(1e6).fill(null)),
  'more fields than may be': cohere(() => [{ text: 'a' }], {
    more: { rank_fields: tiny(400_000) },
  }),
  'blank texts': cohere(() => new Array<string>(500).fill('\n'.repeat(UNITS / 1_000))),
  'nothing but quotes': cohere(() => [], { written: () => '"'.repeat(UNITS) }),
  'nothing but words': cohere(() => [], { written: () => textOf('words and words ', UNITS) }),
  'the caller leaves after 20 ms': cohere(() => textsOf(ENGLISH, 1000, UNITS), { leavesMs: 20 }),
  'the caller leaves after 60 ms': cohere(() => textsOf(ENGLISH, 1000, UNITS), { leavesMs: 60 }),
});

/** What is beside the documents, or how they are written, in a body of `units`. */
function besides(title: string, units: number, times: number): Readonly<Record<string, Case>> {
  const texts = (): string[] => textsOf(ENGLISH, 500, units);
  const few = (): string[] => ['a', 'b'];
  const json = (body: object): string => JSON.stringify(body);
  const cases: Readonly<Record<string, Case>> = {
    'two lists': cohere(texts, { written: TWICE }),
    'two lists, Chinese': cohere(() => textsOf(CHINESE, 500, units / 3), { written: TWICE }),
    'two lists, one Chinese text': cohere(() => textsOf(CHINESE, 1, units / 3), { written: TWICE }),
    'two lists, escapes': cohere(() => textsOf(CHINESE, 500, units / 6), {
      written: (body) => escapedJson(TWICE(body)),
    }),
    'two lists, one text of escapes': cohere(() => textsOf(CHINESE, 1, units / 6), {
      written: (body) => escapedJson(TWICE(body)),
    }),
    'two lists, objects returned': cohere(() => objects(textsOf(ENGLISH, 5_000, units)), {
      written: TWICE,
      more: RETURNED,
    }),
    '64 levels': cohere(texts, { written: after(`"deep":${deep(64)}`) }),
    '256 levels': cohere(texts, { written: after(`"deep":${deep(250)}`) }),
    'too many levels': cohere(texts, { written: after(`"deep":${deep(10_000)}`) }),
    'all levels': cohere(few, { written: after(`"deep":${deep(units / 2)}`) }),
    'levels that close': cohere(few, {
      written: after(`"deep":[${many(units / 101, () => deep(50))}]`),
    }),
    'members that nobody knows': cohere(few, {
      written: after(many(units / 24, (at) => `"member${at}":${at}`)),
    }),
    'a long member that nobody knows': cohere(few, { more: { user: textOf(ENGLISH, units) } }),
    'a long key': cohere(few, { written: after(`"${'key'.repeat(units / 3)}":1`) }),
    'a long key in escapes': cohere(few, {
      written: after(`"${'\\u6c49'.repeat(units / 6)}":1`),
    }),
    'a long model': cohere(few, {
      written: (body) => json({ ...body, model: textOf(ENGLISH, units) }),
    }),
    'a query of all units': cohere(few, { query: textOf(ENGLISH, units) }),
    'lists of two names': cohere(texts, { more: { texts: texts() } }),
    'a list of lists': cohere(() => texts().map((text) => [text])),
    'a text for a list': cohere(few, {
      written: (body) => json({ ...body, documents: texts().join() }),
    }),
    'objects ranked by all that they have': cohere(
      () => texts().map((body, id) => ({ id, body })),
      {
        form: MIXEDBREAD,
      },
    ),
    'a long text for a number': cohere(few, { more: { top_n: textOf(ENGLISH, units) } }),
    'objects with long keys': cohere(
      () =>
        Array.from({ length: 10 }, () => ({ [textOf(ENGLISH, units / 10)]: 'text', text: 'a' })),
      { more: RETURNED },
    ),
    'objects with many members': cohere(
      () =>
        Array.from({ length: 50 }, () => ({
          ...Object.fromEntries(tiny(units / 750).map((name) => [name, 1])),
          text: 'a',
        })),
      { more: RETURNED },
    ),
    'objects of objects': cohere(() =>
      Array.from({ length: 1_000 }, (_, id) => ({ id, meta: tiny(units / 9_000) })),
    ),
    images: cohere(() =>
      Array.from({ length: 10 }, () => ({ text: 'a', image: `data:${'A'.repeat(units / 10)}` })),
    ),
    'images alone': cohere(() =>
      Array.from({ length: 10 }, () => ({ image: `data:${'A'.repeat(units / 10)}` })),
    ),
    'objects without a text': cohere(() => texts().map((body, id) => ({ id, body }))),
    'texts that nobody knows': cohere(few, { more: { extra: texts() } }),
    'numbers that nobody knows': cohere(few, { more: { extra: tiny(units / 80).map(() => 0.5) } }),
    'a number of digits': cohere(few, { written: after(`"number":${'1'.repeat(units)}`) }),
    'white space': cohere(few, { written: (body) => ' '.repeat(units) + json(body) }),
    'white space within': cohere(() => tiny(5_000), {
      written: (body) => json(body).replaceAll(',', `,${' '.repeat(units / 5_000)}`),
    }),
    'indented objects': cohere(() => objects(textsOf(ENGLISH, 5_000, units)), {
      written: (body) => JSON.stringify(body, null, 2),
    }),
    'two lists, white space': cohere(few, {
      written: (body) => TWICE(body).replace('[]', `[${' '.repeat(units)}]`),
    }),
    'invalid at the end': cohere(texts, { written: (body) => json(body).slice(0, -1) }),
    'invalid within the last text': cohere(texts, { written: (body) => json(body).slice(0, -10) }),
    'not UTF-8 at the end': cohere(texts, {
      written: (body) => Buffer.concat([Buffer.from(json(body)), Buffer.of(0xff)]),
    }),
    'a list': cohere(texts, { written: (body) => `[${json(body)}]` }),
    'one text': cohere(texts, { written: (body) => JSON.stringify(json(body)) }),
    'UTF-16': cohere(texts, {
      form: inHeaders({ 'content-type': 'application/json; charset=utf-16le' }),
      written: (body) => Buffer.from(json(body).slice(0, units / 2 - 3) + '"]}', 'utf16le'),
    }),
    gzip: cohere(texts, {
      form: inHeaders({ 'content-encoding': 'gzip' }),
      written: (body) => gzipSync(json(body)),
    }),
    'brotli of one letter': cohere(() => ['a'.repeat(units)], {
      form: inHeaders({ 'content-encoding': 'br' }),
      written: (body) =>
        brotliCompressSync(json(body), { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    }),
  };
  return Object.fromEntries(
    Object.entries(cases).map(([name, one]) => [`${title}: ${name}`, { times, ...one }]),
  );
}

function inHeaders(headers: Readonly<Record<string, string>>): Form {
  return { path: '/v1/rerank', headers, body: (asked) => asked };
}
