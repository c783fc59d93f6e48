import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/bytes/documents.js';
import { documentsIn } from '../support/documents.js';

const TEXTS = ['plain', 'quo"te\n', ''];
const BYTES = Buffer.from(JSON.stringify(TEXTS));

describe.each([
  ['documents kept as bytes', documentsIn(BYTES)],
  ['documents that were parsed', textDocuments(TEXTS)],
])('around, for %s', (_name, documents) => {
  it('puts the same JSON around each text', () => {
    const { bytes } = documents.around('{"a":1,"text":', '}');

    expect(JSON.parse(bytes.toString('utf8'))).toEqual(TEXTS.map((text) => ({ a: 1, text })));
  });

  it('may name the place of each', () => {
    const { bytes } = documents.around((index) => `{"id":"${index}","content":`, '}');

    expect(JSON.parse(bytes.toString('utf8'))).toEqual(
      TEXTS.map((content, index) => ({ id: String(index), content })),
    );
  });

  it.each(['n', 'ñ'])('writes the same in one go and piece by piece: %s', (name) => {
    const around = () => documents.around((index) => `{"${name}${index}":1,"text":`, ',"b":2}');

    expect(JSON.parse(around().bytes.toString('utf8'))).toEqual(
      TEXTS.map((text, index) => ({ [`${name}${index}`]: 1, text, b: 2 })),
    );
    expect(Buffer.concat([...around().pieces()]).equals(around().bytes)).toBe(true);
    expect(around().size).toBe(around().bytes.length);
  });

  it('makes an empty array of no documents', () => {
    expect(documents.pick([]).around('{"a":', '}').bytes.toString('utf8')).toBe('[]');
  });
});
