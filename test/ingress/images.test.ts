import { describe, expect, it } from '@jest/globals';
import { cohere } from '../../src/ingress/cohere.js';
import { dashscope } from '../../src/ingress/dashscope.js';
import type { IngressDialect } from '../../src/ingress/dialect.js';
import { mixedbread } from '../../src/ingress/mixedbread.js';
import { nvidia } from '../../src/ingress/nvidia.js';
import { pinecone } from '../../src/ingress/pinecone.js';
import { watsonx } from '../../src/ingress/watsonx.js';
import { leftToParser } from '../support/documents.js';
import { mutatedJson } from '../support/mutated.js';
import { fc } from '../support/property.js';
import { readingOf, textsOf, written } from '../support/readings.js';

/** Each form with a body of documents. */
const FORMS: readonly [string, IngressDialect, (documents: string) => string][] = [
  ['cohere', cohere, (documents) => `{"query":"q","documents":${documents}}`],
  [
    'cohere, ranked by texts',
    cohere,
    (documents) => `{"query":"q","documents":${documents},"rank_fields":["text"]}`,
  ],
  ['mixedbread', mixedbread, (documents) => `{"input":${documents},"query":"q"}`],
  ['pinecone', pinecone, (documents) => `{"query":"q","documents":${documents}}`],
  ['dashscope', dashscope, (documents) => `{"input":{"documents":${documents},"query":"q"}}`],
  ['nvidia', nvidia, (documents) => `{"query":{"text":"q"},"passages":${documents}}`],
  ['watsonx', watsonx, (documents) => `{"query":"q","inputs":${documents}}`],
];

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n\u3000', 'a', 'half \ud83d', '"\\', '汉字 🪐'),
  fc.string({ unit: 'grapheme' }),
);
const image = fc.oneof(
  fc.constantFrom('https://images.example/a.png', 'data:image/png;base64,AAAA', 'iVBORw0KGgo='),
  fc.constantFrom('', ' ', '"\\', 'half \ud83d'),
);
const odd = fc.constantFrom<unknown>(null, 0, true, [], {}, { text: 'a', image: 'b' });
/** Mostly what is a document: a text, an image, or both. */
const element = fc.oneof(
  { weight: 1, arbitrary: text },
  {
    weight: 8,
    arbitrary: fc.record(
      { id: fc.nat(9), text, image, meta: odd },
      { requiredKeys: ['text', 'image'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ image, text: fc.constant(null) }, { requiredKeys: ['image'] }),
  },
  { weight: 2, arbitrary: fc.record({ text }) },
  {
    weight: 1,
    arbitrary: fc.record(
      { text: fc.oneof(text, odd), image: fc.oneof(image, odd) },
      { requiredKeys: [] },
    ),
  },
);
const list = fc.array(element, { minLength: 1, maxLength: 6 });

const bodiesOf = (dialect: IngressDialect, body: string): [Buffer, Buffer] => [
  Buffer.from(body),
  Buffer.from(leftToParser(body, dialect.lists[0]?.name ?? '')),
];

describe.each(FORMS)('documents with images, %s', (_name, dialect, bodyOf) => {
  it('are read from their bytes as the plain parser reads them', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(list, fc.nat(3), async (documents, form) => {
        const [body, plain] = bodiesOf(dialect, bodyOf(written(documents, form)));
        const [asBytes, asPlain] = [
          await readingOf(dialect, body),
          await readingOf(dialect, plain),
        ];
        if (!asBytes.wasParsed && JSON.stringify(asBytes.seen).includes('image')) read += 1;

        expect(asBytes.seen).toEqual(asPlain.seen);
      }),
      { numRuns: 200 },
    );
    expect(read).toBeGreaterThan(5);
  });

  it('are the same for mutated bodies', async () => {
    const documents =
      '[{"text":"a","image":"b"},{"image":"c","text":null},{"image":"","text":"d"},{"image":"e"}]';
    await fc.assert(
      fc.asyncProperty(mutatedJson(documents), async (mutated) => {
        const [body, plain] = bodiesOf(dialect, bodyOf(mutated));

        expect((await readingOf(dialect, body)).seen).toEqual(
          (await readingOf(dialect, plain)).seen,
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('documents with images', () => {
  it('are the same wherever a window of the walk ends, and in steps', async () => {
    const documents = [
      { text: 'é', image: 'b' },
      'c',
      { image: 'half \ud83d', id: 1 },
      { text: ' ' },
    ];
    for (let cut = 0; cut < 120; cut += 1) {
      const pad = { text: 'x'.repeat(65_536 - cut) };
      const [body, plain] = bodiesOf(
        cohere,
        JSON.stringify({ query: 'q', documents: [pad, ...documents] }),
      );

      expect((await readingOf(cohere, body, textsOf)).seen).toEqual(
        (await readingOf(cohere, plain, textsOf)).seen,
      );
    }
    const long = [{ text: 'y'.repeat(700_000), image: 'z'.repeat(700_000) }, ...documents];
    const [body, plain] = bodiesOf(cohere, JSON.stringify({ query: 'q', documents: long }));
    const [asBytes, asPlain] = [await readingOf(cohere, body), await readingOf(cohere, plain)];

    expect(asBytes).toEqual({ ...asPlain, wasParsed: false });
  });
});
