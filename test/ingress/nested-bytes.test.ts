import { describe, expect, it } from '@jest/globals';
import { openBody } from '../../src/bytes/index.js';
import { GatewayError } from '../../src/core/errors.js';
import { aiGateway } from '../../src/ingress/ai-gateway.js';
import { bedrock } from '../../src/ingress/bedrock.js';
import { dashscope } from '../../src/ingress/dashscope.js';
import { readIn, type IngressDialect } from '../../src/ingress/dialect.js';
import { google } from '../../src/ingress/google.js';
import { huggingface } from '../../src/ingress/huggingface.js';
import { ingressRoute, listsAt } from '../../src/ingress/index.js';
import { IngressRequest } from '../../src/ingress/read.js';
import {
  encodeJson,
  leftToParser,
  openedBody,
  parsesOf,
  readOf,
  requestOf,
} from '../support/documents.js';
import { fc } from '../support/property.js';

const MAX_DOCUMENTS = 3;
const CLOCK = { nowMs: 0, elapsedMs: 1 };

const smallOf = ({ lists }: IngressDialect, body: string) =>
  new IngressRequest(openedBody(body, lists, MAX_DOCUMENTS), {}, {}, MAX_DOCUMENTS);

/** What a form makes of a body: its documents and what it replies, or why there is none. */
function readingOf(dialect: IngressDialect, body: string): unknown {
  try {
    const { kept, ...parsed } = readOf(dialect, smallOf(dialect, body));
    const { documents, ...rest } = parsed;
    const indexes = Array.from({ length: documents.count }, (_, index) => index);
    const rows = indexes.map((index) => ({ index, score: 1 / (index + 1) }));
    const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
    const ranking = { rows, usage, warnings: [], written: undefined };
    const request = { ...parsed, model: 'm' };
    const written = encodeJson(dialect.reply('rr_1', request, ranking, kept, CLOCK));
    const reply = JSON.parse(written.toString()) as unknown;
    return {
      ...rest,
      reply,
      texts: JSON.parse(documents.texts().bytes.toString()) as unknown,
      sources: JSON.parse(documents.sources().bytes.toString()) as unknown,
      each: indexes.map((index) => documents.text(index)),
      picked: documents.pick(indexes.slice(-1)).text(0),
      blanks: documents.blanks,
      hasImages: documents.images !== 'none',
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.message, error.param];
  }
}

const CASES: readonly (readonly [
  name: string,
  dialect: IngressDialect,
  body: (list: string) => string,
  asBytes: readonly string[],
  others: readonly string[],
])[] = [
  [
    'dashscope',
    dashscope,
    (list) =>
      `{"model":"m","input":{"query":"q","documents":${list}},"parameters":{"top_n":2,"return_documents":true}}`,
    ['["a","b \\n \\"c\\""]', '["a",{"text":"汉字","id":1}]', '[" ",{"text":"\\u3000"}]', '[""]'],
    [
      '[{"text":"a","image":"https://images.example/a.png"}]',
      '[{"title":"a"}]',
      '["a",1]',
      '[]',
      'null',
      '"a"',
      '{"a":"b"}',
      '["a","b","c","d"]',
    ],
  ],
  [
    'ai-gateway, texts',
    aiGateway,
    (list) => `{"query":"q","documents":{"type":"text","values":${list}},"topN":1}`,
    ['["a","b \\n \\"c\\""]', '["汉字"," "]'],
    ['["a",{"text":"b"}]', '[{"text":"a"}]', '[1]', '[]', 'null', '"a"', '["a","b","c","d"]'],
  ],
  [
    'ai-gateway, objects',
    aiGateway,
    (list) => `{"query":"q","documents":{"values":${list},"type":"object"}}`,
    ['[{"text":"a"},{"x":1,"text":"b"}]'],
    ['["a"]', '[{"text":"a"},"b"]', '[{"title":"a"},{"text":"b"}]', '[{"text":1}]', '[]', 'null'],
  ],
  [
    'huggingface, sentences',
    huggingface,
    (list) => `{"inputs":{"source_sentence":"q","sentences":${list}}}`,
    ['["a","b \\n \\"c\\""]', '[" "]'],
    [
      '[{"text":"a"}]',
      '[{"x":1}]',
      '["a",{"text":"b","image":"c"}]',
      ...['[1]', '[]', 'null', '"a"', '["a","b","c","d"]'],
    ],
  ],
  [
    'huggingface, pairs',
    huggingface,
    (list) => `{"inputs":${list},"options":{"wait_for_model":true}}`,
    [
      '[{"text":"q","text_pair":"a"},{"text_pair":"b\\n","text":"q"}]',
      '[{"text":"q","text_pair":" "}]',
      '[{"text":"q","text_pair":"a"},{"text":"other","text_pair":"a"}]',
      '[{"text":" ","text_pair":"a"}]',
      '[{"text":1,"text_pair":"a"}]',
      '[{"text_pair":"a"}]',
      '[{"text":"q","text_pair":"a"},{"text":"\\u0071","text_pair":"b"}]',
      '[{"text":"\\ud83d","text_pair":"a"},{"text":"\\ud83e","text_pair":"b"}]',
      '[{"text":"\\ud83d","text_pair":"a"},{"text":"\\uD83D","text_pair":"b"}]',
      '[{"text":"q"}]',
      '[]',
    ],
    [
      '["a"]',
      '{"text":"q","text_pair":"a"}',
      '[["q","a"],["q","b"]]',
      '[{"text":"q","text_pair":"a"},["q","b"]]',
      'null',
      '"a"',
    ],
  ],
  [
    'huggingface, a form of none',
    huggingface,
    (rest) => `{"inputs":{"sentences":["a"],${rest}}}`,
    ['"source_sentence":1', '"source_sentence":" "', '"x":0'],
    [],
  ],
  [
    'google',
    google,
    (list) => `{"query":"q","records":${list},"topN":2}`,
    [
      '[{"id":"1","content":"a"},{"content":"b \\n \\"c\\""}]',
      '[{"id":"1","title":"One \\"1\\"","content":"a"},{"title":null,"content":"b"}]',
      '[{"title":"汉字","content":"\\u6c49"},{"title":"","content":" "},{"title":" ","content":""}]',
      '[{"title":"\\u6c49","content":"汉"}]',
      '[{"content":"a","title":"a title behind it"}]',
      '[{"content":"a","title":"1"},{"id":2,"content":"b"}]',
      '[{"id":1,"content":"a"},{"title":2,"content":"b"}]',
      '[{"title":2,"content":"b"}]',
      '[{"content":"a"},{"content":"b"},{"content":"c"},{"content":"d"}]',
      '[{"title":"a"},{"content":"b"}]',
      '[{"title":"a","content":null}]',
      '[{"content":1}]',
      '[{}]',
      '[]',
    ],
    [
      '["a"]',
      '[{"content":"a"},"b"]',
      '[{"content":"a","content":"b"}]',
      '[{"content":"a"},1]',
      'null',
      '"a"',
    ],
  ],
  [
    'google, without details',
    google,
    (list) => `{"query":"q","records":${list},"ignoreRecordDetailsInResponse":true}`,
    ['[{"id":"1","title":"t","content":"a"}]'],
    [],
  ],
  [
    'bedrock',
    bedrock,
    (list) =>
      `{"queries":[{"type":"TEXT","textQuery":{"text":"q"}}],"sources":${list},"rerankingConfiguration":{"bedrockRerankingConfiguration":{"modelConfiguration":{"modelArn":"arn:aws:bedrock:us-west-2::foundation-model/m","additionalModelRequestFields":{"rank_fields":["b"]}}}}}`,
    [
      '[{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":"a\\n"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":"c"},"textDocument":{"text":" "}}}]',
    ],
    [
      '[{"inlineDocumentSource":{"type":"JSON","jsonDocument":{"a":"b","b":"c"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":{"x":[1]},"a":"b"}}},{"inlineDocumentSource":{"jsonDocument":{"b":"\\n","a":0}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":" "},"textDocument":{"text":1}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"a":"b","b":"c"}}},{"inlineDocumentSource":{"jsonDocument":{"b":"c","a":"b"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":"c"}}},{"inlineDocumentSource":{"jsonDocument":{"b":"c"},"textDocument":{"text":"a"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":null}}},{"inlineDocumentSource":{"jsonDocument":{"b":"c"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"b":"c","b":"d"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{"a":"c"}}}]',
      '[{"inlineDocumentSource":{"jsonDocument":{}}}]',
      '[{"inlineDocumentSource":{"textDocument":{"text":1},"jsonDocument":{"b":"c"}}}]',
      '[{"inlineDocumentSource":{"textDocument":{"text":"a"}}},{"text":"b"}]',
      '[{"inlineDocumentSource":null}]',
      '["a"]',
      '[]',
      'null',
    ],
  ],
];

describe.each(CASES)('documents of %s', (_name, dialect, bodyOf, asBytes, others) => {
  it.each([...asBytes, ...others])('are the same as bytes and as parsed values: %s', (list) => {
    const body = bodyOf(list);

    const plain = leftToParser(body, dialect.lists[0]?.name ?? '');
    expect(readingOf(dialect, body)).toEqual(readingOf(dialect, plain));
  });

  it.each(asBytes)('are not parsed: %s', (list) => {
    const request = smallOf(dialect, bodyOf(list));
    const isParsed = parsesOf(request);

    try {
      readOf(dialect, request);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
    expect(isParsed()).toBe(false);
  });
});

/** JSON as others write it: everything beyond ASCII escaped, or with white space, or both. */
function written(json: unknown, form: number): string {
  const all = JSON.stringify(json, null, form & 1 ? 2 : 0);
  return (form & 2) === 0
    ? all
    : all.replace(/[^\0-\x7f]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
}

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n\u3000', 'q', 'half \ud83d', '\udc00', '"\\', '汉字 🪐', ' \u0085'),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
);
/** Mostly texts. */
const some = fc.oneof(
  { weight: 30, arbitrary: text },
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(0, true, [], {}, ['a'], { id: 'a' }) },
);
const element = fc.oneof(
  { weight: 1, arbitrary: text },
  {
    weight: 20,
    arbitrary: fc.dictionary(
      fc.constantFrom('id', 'title', 'content', 'text', 'text_pair', '__proto__', 'x'),
      some,
    ),
  },
);

describe.each([
  ['google', google, '{"query":"q","records":'],
  ['huggingface', huggingface, '{"inputs":'],
])('elements of which several members count, %s', (name, dialect, head) => {
  it('mean the same as bytes and as parsed values', () => {
    let read = 0;
    const own: Record<string, unknown> =
      name === 'google' ? { content: 'a' } : { text: 'q', text_pair: 'b' };
    const elements = fc.array(
      element.map((one) => (typeof one === 'string' ? one : { ...own, ...one })),
      { minLength: 1, maxLength: MAX_DOCUMENTS + 1 },
    );
    fc.assert(
      fc.property(elements, fc.nat(3), (list, form) => {
        const body = `${head}${written(list, form)}}`;
        const asBytes = readingOf(dialect, body);
        if (!Array.isArray(asBytes)) read += 1;

        const plain = leftToParser(body, dialect.lists.at(-1)?.name ?? '');
        expect(wellFormed(asBytes)).toEqual(wellFormed(readingOf(dialect, plain)));
      }),
      { numRuns: 1_000 },
    );
    expect(read).toBeGreaterThan(100);
  });
});

/** Halves of characters as they are replaced, since not all that is asked of parsed documents does so. */
function wellFormed(reading: unknown): unknown {
  return JSON.parse(JSON.stringify(reading).replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd'));
}

const LONG = 'x'.repeat(2_000_000);

it.each([
  [
    '/api/v1/services/rerank/text-rerank/text-rerank',
    dashscope,
    `{"input":{"query":"q","documents":["${LONG}"]}}`,
  ],
  [
    '/v3/ai/reranking-model',
    aiGateway,
    `{"query":"q","documents":{"type":"text","values":["${LONG}"]}}`,
  ],
  ['/models/m', huggingface, `{"inputs":{"source_sentence":"q","sentences":["${LONG}"]}}`],
  ['/models/m', huggingface, `{"inputs":[{"text":"q","text_pair":"${LONG}"}]}`],
  [
    '/v1/projects/p/locations/l/rankingConfigs/c:rank',
    google,
    `{"query":"q","records":[{"id":"1","title":"a","content":"${LONG}"}]}`,
  ],
  [
    '/rerank',
    bedrock,
    `{"queries":[{"textQuery":{"text":"q"}}],"sources":[{"inlineDocumentSource":{"textDocument":{"text":"${LONG}"}}}],"rerankingConfiguration":{"bedrockRerankingConfiguration":{"modelConfiguration":{"modelArn":"arn:aws:bedrock:us-west-2::foundation-model/m"}}}}`,
  ],
] as const)('a large body is not parsed: %s', async (path, dialect, body) => {
  const route = ingressRoute(path);
  if (route === undefined) throw new Error('nothing is there');
  const opened = await openBody(Buffer.from(body), listsAt(route), MAX_DOCUMENTS);
  const request = new IngressRequest(opened, {}, route.params, MAX_DOCUMENTS);
  const isParsed = parsesOf(request);

  const { documents } = await readIn(dialect, request);

  expect(documents.count).toBe(1);
  expect(isParsed()).toBe(false);
  expect(documents.text(0).endsWith(LONG)).toBe(true);
});

it.each([2, 2_500])('records are shown as they came, %i of them', async (count) => {
  const records = Array.from({ length: count }, (_, at) => ({
    ...(at % 3 !== 0 && { id: `é${at}` }),
    ...(at % 2 === 0 && { title: `"${at}"\n` }),
    content: `c ${at} \n`,
  }));
  const body = Buffer.from(JSON.stringify({ query: 'q', records }));
  const request = await requestOf(google, body, {}, {}, count);

  const { kept, ...parsed } = await readIn(google, request);
  const rows = records.map((_, at) => ({ index: count - 1 - at, score: 1.5 / (at + 1) }));
  const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
  const ranking = { rows, usage, warnings: [], written: undefined };
  const reply = google.reply('r', { ...parsed, model: 'm' }, ranking, kept, CLOCK);

  const shown = rows.map(({ index, score }) => ({ id: String(index), ...records[index], score }));
  expect(encodeJson(reply).toString()).toBe(JSON.stringify({ records: shown }));
});

it('records are located beside the lists of other forms', async () => {
  const route = ingressRoute('/v1/rerank');
  if (route === undefined) throw new Error('nothing is there');
  for (const content of ['a', LONG]) {
    const records = [{ content, title: 't', x: [1], id: '5' }, { content: 'b' }];
    const body = `{"model":"m","query":"q","records":${JSON.stringify(records)}}`;
    const opened = await openBody(Buffer.from(body), listsAt(route, 'google'), 10);
    const request = new IngressRequest(opened, {}, {}, 10);
    const isParsed = parsesOf(request);

    const { documents } = await readIn(google, request);

    expect(isParsed()).toBe(false);
    expect(JSON.parse(documents.texts().toString())).toEqual([`t\n${content}`, 'b']);
  }
});

it('the form that a key names has its lists looked for first', () => {
  const route = ingressRoute('/v1/rerank');
  if (route === undefined) throw new Error('nothing is there');
  const names = (setting?: string) => listsAt(route, setting).map(({ name }) => name);

  expect(names()).toEqual(expect.arrayContaining(['documents', 'texts', 'sources']));
  expect(names()).not.toContain('input.documents');
  expect(names('dashscope')).toEqual(['input.documents', ...names()]);
  expect(names('nothing')).toEqual(names());
});
