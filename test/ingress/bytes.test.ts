import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import type { IngressDialect, ParsedRerank } from '../../src/ingress/dialect.js';
import { nvidia } from '../../src/ingress/nvidia.js';
import { pinecone } from '../../src/ingress/pinecone.js';
import { IngressRequest } from '../../src/ingress/read.js';
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
    parsed = dialect.parse(new IngressRequest(Buffer.from(body), {}, {}, 3));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.message, error.param];
  }
  const { documents, ...rest } = parsed;
  const { count } = documents;
  return {
    ...rest,
    texts: JSON.parse(documents.texts().bytes.toString()) as unknown,
    echoes: Array.from({ length: count }, (_, index) => documents.echo(index).toString()),
    blanks: documents.blanks(),
    hasImages: documents.hasImages,
  };
}

describe.each<[string, IngressDialect, string, string]>([
  ['nvidia', nvidia, 'passages', '{"query":{"text":"q"},"truncate":"END","top_n":2,'],
  ['watsonx', watsonx, 'inputs', '{"model_id":"m","query":"q",'],
  ['pinecone', pinecone, 'documents', '{"model":"m","query":"q","top_n":1,'],
])('documents of %s', (_name, dialect, list, head) => {
  it.each(LISTS)('are the same as bytes and as the plain parser reads them: %s', (value) => {
    const asBytes = readingOf(dialect, `${head}"${list}":${value}}`);
    // An escaped key leaves all of it to the plain parser.
    const asPlain = readingOf(dialect, `${head}"\\u${hex(list)}${list.slice(1)}":${value}}`);

    expect(asBytes).toEqual(asPlain);
  });

  it('are not parsed if they are objects with a text', () => {
    const request = new IngressRequest(
      Buffer.from(`${head}"${list}":[{"text":"a"},{"text":"b"}]}`),
      {},
      {},
      3,
    );
    request.value = () => {
      throw new Error('the body was parsed');
    };

    expect(dialect.parse(request).documents.count).toBe(2);
  });
});

function hex(text: string): string {
  return text.charCodeAt(0).toString(16).padStart(4, '0');
}
