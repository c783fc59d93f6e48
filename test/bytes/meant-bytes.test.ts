import { describe, expect, it } from '@jest/globals';
import { documentsOf } from '../../src/bytes/index.js';
import { textDocuments } from '../../src/core/text-documents.js';
import { estimateTokens } from '../../src/core/rerank.js';
import { documentsIn, filled, withTexts } from '../support/documents.js';
import { fc } from '../support/property.js';
import { spelled, spelling, type Spelling } from '../support/spelling.js';

/** What a list means: its texts in UTF-8, with quotes, commas and brackets. */
const meantBy = (texts: readonly string[]): number =>
  texts.reduce((bytes, text) => bytes + Buffer.byteLength(text) + 3, 1);

const SCRIPTS = [
  ...['plain text', 'a "quoted" one\n', '/\\\\/\t\r\f\b', '\u0000\u007f', 'été', 'Ключи подписи'],
  ...[
    '\u07ff\u0800',
    '签名密钥',
    '\ud7ff',
    '\uffff',
    '🪐👩🏻‍💻',
    '\ud83d',
    '\ude00',
    '\u3000',
    '\u00a0 \n',
    'd0d8dc00',
  ],
];
/** Scripts in turn, so that a text is longer than what is walked over at once. */
const text = fc
  .array(fc.oneof(fc.constantFrom(...SCRIPTS), fc.string({ unit: 'binary', maxLength: 8 })), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));
const run = fc
  .tuple(fc.constantFrom(...SCRIPTS), fc.nat({ max: 60 }))
  .map(([part, times]) => part.repeat(times));
const texts = fc.array(fc.tuple(fc.oneof(text, run), spelling, fc.boolean()), {
  minLength: 1,
  maxLength: 5,
});

describe('what documents mean', () => {
  it('does not depend on how they are spelled, all together and each by itself', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(',', ', ', '\n  , '), (all, comma) => {
        const list = all.map(([one, ways, isObject]) => {
          const json = spelled(one, ways);
          return isObject ? `{"id":"\\u00e9\\n","text":${json},"x":"\\u6c49"}` : json;
        });
        const plain = all.map(([one]) => one);
        const documents = documentsIn(`[${list.join(comma)}]`);

        expect(documents.meantBytes).toBe(meantBy(plain));
        expect(plain.map((_, index) => documents.pick([index]).meantBytes)).toEqual(
          plain.map((one) => meantBy([one])),
        );
        expect(estimateTokens('é', documents)).toBe(estimateTokens('é', textDocuments(plain)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on how many short ones follow one another', () => {
    const short = fc.oneof(
      fc.constantFrom('', 'a', '\n', '"', '\\', '\\"\\', 'é\n"b"', '汉字\t', '🪐'),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'a', 'é', '/'), maxLength: 70 }),
    );
    const written = fc.tuple(short, fc.constantFrom<Spelling>([0], [1], [0, 0, 1, 0, 0, 0, 2]));
    const many = fc.array(written, { minLength: 20, maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(many, fc.constantFrom(',', ', ', ',\n '), (all, comma) => {
        const plain = all.map(([one]) => one);
        const list = all.map(([one, ways]) => spelled(one, ways)).join(comma);
        const documents = documentsIn(`[${list}]`);

        expect(plain.map((_, index) => documents.pick([index]).meantBytes)).toEqual(
          plain.map((one) => meantBy([one])),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(SCRIPTS)('does not depend on where a window ends: %j', (script) => {
    const one = `${script}${script} a\n"${script}"`;
    const ways: Spelling = [0, 2, 1, 3, 3, 2];
    for (const json of [spelled(one, ways), spelled(one, [2]), spelled(one, [0])]) {
      for (let shift = 0; shift <= Buffer.byteLength(json) + 1; shift += 1) {
        const before = 'x'.repeat(65_536 - shift);
        const documents = documentsIn(`["${before}",${json}]`);
        expect([shift, documents.meantBytes]).toEqual([shift, meantBy([before, one])]);
      }
    }
  });

  it('is that of new texts where they replace what was sent', () => {
    const sent = documentsIn('["\\u6c49\\u5b57","\\u0041\\n"]');
    const parsed = textDocuments(['汉字', 'A\n']);
    for (const documents of [sent, parsed]) {
      const other = withTexts(documents, [0, 'new "text"\n \ud83d']);
      expect(other.meantBytes).toBe(meantBy(['new "text"\n \ud83d', 'A\n']));
      expect(other.pick([1]).meantBytes).toBe(meantBy(['A\n']));
    }
    expect(filled(documentsIn('[" \\n","\\u0041"]'), 'é\n').meantBytes).toBe(meantBy(['é\n', 'A']));
  });

  it('is the same of documents that were parsed, however long they are', () => {
    const long = '🪐\ud800é"\n'.repeat(150_000);
    const parts = [{ text: long }, { image: 'https://images.test/a.png' }, { text: ' a\\' }];
    const documents = documentsOf(parts.map((part) => ({ ...part, source: part })));
    const without = documents.pick(undefined, { images: 'none' });

    expect(documents.meantBytes).toBe(meantBy([long, '', ' a\\']));
    expect(documents.pick([2, 0]).meantBytes).toBe(meantBy([' a\\', long]));
    expect(without.meantBytes).toBe(meantBy([long, '', ' a\\']));
  });

  it('is two brackets where there is nothing', () => {
    expect([textDocuments([]).meantBytes, documentsIn('[ ]').meantBytes]).toEqual([2, 2]);
  });
});
