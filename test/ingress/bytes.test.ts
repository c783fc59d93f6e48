import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import { readIn, type IngressDialect, type ParsedRerank } from '../../src/ingress/dialect.js';
import { nvidia } from '../../src/ingress/nvidia.js';
import { pinecone } from '../../src/ingress/pinecone.js';
import { IngressRequest } from '../../src/ingress/read.js';
import { cohere } from '../../src/ingress/cohere.js';
import { mixedbread } from '../../src/ingress/mixedbread.js';
import {
  echoOf,
  encodeJson,
  leftToParser,
  openedBody,
  parsesOf,
  readBy,
  readOf,
  requestOf,
} from '../support/documents.js';
import { watsonx } from '../../src/ingress/watsonx.js';

const LISTS = [
  '[{"text":"a"},{"text":"b \\n \\"c\\"","id":9223372036854775807}]',
  '[{"id":1.0,"text":"汉字"}]',
  '[{"text":" "},{"text":"a"}]',
  '["a",{"text":"b"}]',
  '[{"text":"a"},"b"]',
  '[{"text":"a","image":"https://images.example/a.png"}]',
  '[{"text":1}]',
  '[{"text":null}]',
  '[{"title":"a"}]',
  '[]',
  'null',
  '"a"',
  '[{"text":"a"},{"text":"b"},{"text":"c"},{"text":"d"}]',
];

/** What a form makes of a body: its documents in every kind, or why there are none. */
function readingOf(dialect: IngressDialect, body: string): unknown {
  let parsed: ParsedRerank;
  try {
    parsed = readBy(dialect, body, {}, {}, 3);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.message, error.param];
  }
  const { documents, ...rest } = parsed;
  const { count } = documents;
  return {
    ...rest,
    texts: JSON.parse(documents.texts().bytes.toString()) as unknown,
    echoes: Array.from(
      { length: count },
      (_, index) => JSON.parse(encodeJson(echoOf(documents, index)).toString()) as unknown,
    ),
    blanks: documents.blanks,
    hasImages: documents.images !== 'none',
  };
}

describe.each<[string, IngressDialect, string, string]>([
  ['nvidia', nvidia, 'passages', '{"query":{"text":"q"},"truncate":"END","top_n":2,'],
  ['watsonx', watsonx, 'inputs', '{"model_id":"m","query":"q",'],
  ['pinecone', pinecone, 'documents', '{"model":"m","query":"q","top_n":1,'],
])('documents of %s', (_name, dialect, list, head) => {
  it.each(LISTS)('are the same as bytes and as the plain parser reads them: %s', (value) => {
    const body = `${head}"${list}":${value}}`;
    const asBytes = readingOf(dialect, body);
    const asPlain = readingOf(dialect, leftToParser(body, list));

    expect(asBytes).toEqual(asPlain);
  });

  it('are not parsed if they are objects with a text', () => {
    const body = `${head}"${list}":[{"text":"a"},{"text":"b"}]}`;
    const request = new IngressRequest(openedBody(body, dialect.lists), {}, {}, 3);
    const isParsed = parsesOf(request);

    expect(readOf(dialect, request).documents.count).toBe(2);
    expect(isParsed()).toBe(false);
  });
});

describe('documents without a text', () => {
  const MANY = `{${'"x":0,'.repeat(50_000)}"y":0}`;

  it.each<[string, IngressDialect, string, string, boolean]>([
    ['cohere', cohere, '"query":"q","documents"', '["a",{"title":"b"}]', true],
    ['cohere, with a text that is none', cohere, '"query":"q","documents"', '[{"text":0}]', true],
    [
      'cohere, beside images',
      cohere,
      '"query":"q","documents"',
      '[{"image":"i"},{"image":0}]',
      true,
    ],
    ['cohere, too many', cohere, '"query":"q","documents"', '["a","b","c",{}]', true],
    ['cohere, with a large one', cohere, '"query":"q","documents"', `[${MANY}]`, false],
    [
      'nvidia',
      nvidia,
      '"query":{"text":"q"},"passages"',
      '[{"text":"a"},{"x":{"text":"b"}}]',
      true,
    ],
    ['nvidia, beside a string', nvidia, '"query":{"text":"q"},"passages"', '["a",{}]', true],
    ['watsonx', watsonx, '"query":"q","inputs"', '[{"text":"a"},{"text":null}]', true],
  ])('are refused for the first of them: %s', async (_name, dialect, list, documents, isAlone) => {
    const bodies = [
      `{${list}:${documents}}`,
      `{"${dialect.lists[0]?.name}":0,${list}:${documents}}`,
    ];
    const refusals = bodies.map(async (body) => {
      const request = new IngressRequest(openedBody(body, dialect.lists, 3), {}, {}, 3);
      const isParsed = parsesOf(request);
      const reading = async () => readIn(dialect, request);
      const refusal = await reading().catch((error: unknown) => error);
      if (!(refusal instanceof GatewayError)) throw new Error('it was not refused');
      return { wasParsed: isParsed(), said: [refusal.code, refusal.message, refusal.param] };
    });
    const [asBytes, asPlain] = await Promise.all(refusals);

    expect(asBytes?.said).toEqual(asPlain?.said);
    expect([asBytes?.wasParsed, asPlain?.wasParsed]).toEqual([!isAlone, true]);
  });
});

describe('halves of characters', () => {
  const object = '{"title":"\\udc00","text":"half \\uD800"}';

  it.each<[string, IngressDialect, string, string]>([
    ['mixedbread', mixedbread, '"input"', ''],
    ['mixedbread, by fields', mixedbread, '"input"', '"rank_fields":["text"],'],
    ['cohere, by fields', cohere, '"documents"', '"rank_fields":["text"],'],
    ['pinecone, by fields', pinecone, '"documents"', '"rank_fields":["text"],'],
  ])('are shown as they came where the body is parsed: %s', async (_name, dialect, list, more) => {
    for (const length of [0, 100_000, 1_200_000]) {
      const body = `{"query":"q","more":"${'x'.repeat(length)}",${more}${list}:[${object}]}`;
      const request = await requestOf(dialect, Buffer.from(body), {}, {}, 3);
      const { documents } = await readIn(dialect, request);

      expect(encodeJson(echoOf(documents, 0)).toString()).toBe(object);
      expect(JSON.parse(documents.texts().toString())).toEqual(['half \ufffd']);
    }
  });
});
