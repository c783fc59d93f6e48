import { describe, expect, it } from '@jest/globals';
import { partDocuments, stringDocuments, textDocuments } from '../../src/core/documents.js';
import type { JsonFragment } from '../../src/core/json.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());
const fromBytes = (texts: string[]) =>
  stringDocuments(Buffer.from(JSON.stringify(texts)), texts.length);

describe.each([
  ['sent as strings', fromBytes],
  ['parsed', textDocuments],
])('documents %s', (_name, make) => {
  const texts = ['plain', 'with "quotes" and \\ and \n', '', ' \t ', 'été 汉字 🪐'];

  it('give texts, objects and echoes of the same text', () => {
    const documents = make(texts);

    expect(documents.count).toBe(5);
    expect(read(documents.texts())).toEqual(texts);
    expect(read(documents.objects())).toEqual(texts.map((text) => ({ text })));
    expect(read(documents.objects('content'))).toEqual(texts.map((content) => ({ content })));
    expect(read(documents.sources())).toEqual(texts);
    expect(texts.map((_, index) => documents.text(index))).toEqual(texts);
    expect(JSON.parse(documents.echo(1).toString())).toEqual({ text: texts[1] });
    expect(documents.parts().map(({ text }) => text)).toEqual(texts);
  });

  it('find blanks, fill them and leave them out', () => {
    const documents = make(texts);

    expect(documents.blanks()).toEqual([2, 3]);
    expect(read(documents.fillBlanks(' ').texts())).toEqual([
      texts[0],
      texts[1],
      ' ',
      ' ',
      texts[4],
    ]);
    expect(read(documents.pick([4, 0]).texts())).toEqual([texts[4], texts[0]]);
    expect(read(documents.pick([]).texts())).toEqual([]);
  });
});

describe('documents that are objects', () => {
  const image = 'https://images.test/a.png';
  const documents = partDocuments([
    { text: 'a', source: { text: 'a', id: 7 } },
    { image, source: { image } },
    { text: 'lone \ud800', source: 'lone \ud800' },
  ]);

  it('echo the whole object as the caller sent it', () => {
    expect(JSON.parse(documents.echo(0).toString())).toEqual({ text: 'a', id: 7 });
  });

  it('are no blank when they have an image', () => {
    expect(documents.hasImages).toBe(true);
    expect(documents.blanks()).toEqual([]);
  });

  it('leave no lone surrogate in what is sent', () => {
    expect(read(documents.texts())).toEqual(['a', '', 'lone \ufffd']);
    expect(read(documents.objects())).toEqual([{ text: 'a' }, { image }, { text: 'lone \ufffd' }]);
  });
});
