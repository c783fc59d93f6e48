import { describe, expect, it } from '@jest/globals';
import { partDocuments, textDocuments } from '../../src/bytes/documents.js';
import { inSteps } from '../../src/bytes/steps.js';
import { documentsIn, newTexts, withTexts } from '../support/documents.js';
import type { JsonFragment } from '../../src/bytes/fragment.js';
import { encodeJson } from '../../src/bytes/encode.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());
const fromBytes = (texts: string[]) => documentsIn(JSON.stringify(texts));

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
    expect(JSON.parse(encodeJson(documents.echo(1)).toString())).toEqual({ text: texts[1] });
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

describe('documents in a reply', () => {
  const long = 'long '.repeat(50);
  const sources = ['one', { id: 1, text: 'été' }, long, { text: long, more: { text: '汉字' } }, ''];
  const order = [3, 0, 4, 1, 2];

  it.each([
    ['sent', documentsIn(JSON.stringify(sources))],
    [
      'parsed',
      partDocuments(
        sources.map((source) => ({
          text: typeof source === 'string' ? source : source.text,
          source,
        })),
      ),
    ],
  ])('stand each in its row, whole and in pieces: %s', (_name, documents) => {
    // A row is short or long.
    const rows = order.map((index) => `{"at":${' '.repeat(index * 40)}${index}}`).join(',');
    const echoes = documents.echoes(order, Buffer.from(rows));
    const pieces = Buffer.concat([...documents.echoes(order, Buffer.from(rows)).pieces()]);

    expect(JSON.parse(`[${echoes.toString()}]`)).toEqual(
      order.map((index) => {
        const source = sources[index];
        return { at: index, document: typeof source === 'string' ? { text: source } : source };
      }),
    );
    expect(pieces).toEqual(echoes.bytes);
    expect(echoes.size).toBe(echoes.bytes.length);
  });
});

describe('documents with other texts', () => {
  it.each([
    ['sent as strings', fromBytes(['a', 'b'])],
    ['parsed', textDocuments(['a', 'b'])],
  ])('have these as parts too, and echo what was sent: %s', (_name, documents) => {
    const other = withTexts(documents, [1, 'c']);

    expect(other.parts().map(({ text }) => text)).toEqual(['a', 'c']);
    expect(JSON.parse(encodeJson(other.echo(1)).toString())).toEqual({ text: 'b' });
  });

  const sent = '[{"id":1,"text":"one"},"two",{"text":" "}]';
  const image = 'https://images.test/a.png';
  const parts = partDocuments([
    { text: 'one', image, source: { text: 'one', image } },
    { text: 'two', source: 'two' },
  ]);

  it('keep what the caller sent', () => {
    const given = documentsIn(sent);
    const changed = withTexts(given, [0, 'eins']);

    expect(read(changed.texts())).toEqual(['eins', 'two', ' ']);
    expect(encodeJson(changed.echo(0)).toString()).toBe('{"id":1,"text":"one"}');
    expect(changed.blanks()).toEqual([2]);
    expect(withTexts(given)).toBe(given);
  });

  it('keep their images, also when one is there several times', () => {
    const changed = withTexts(parts.pick([0, 0, 1]), [1, 'eins']);

    expect(read(changed.texts())).toEqual(['one', 'eins', 'two']);
    expect(changed.parts()[1]?.image).toBe(image);
  });

  it('know how long each is without reading it', () => {
    expect([0, 1, 2].map((index) => documentsIn(sent).textBytes(index))).toEqual([5, 5, 3]);
    expect(textDocuments(['süß']).textBytes(0)).toBe(5);
    expect(documentsIn(sent).longestBytes()).toBe(5);
    expect(textDocuments(['a', 'süß', 'bc']).longestBytes()).toBe(5);
  });

  it('are not written again, nor measured, where that was done in advance', async () => {
    const image = 'https://images.example/a.png';
    const given = partDocuments([
      { text: 'süß', source: 'süß' },
      { text: 'two', image, source: {} },
      { image, source: {} },
      { text: 'half \ud83d', source: 'half \ud83d' },
    ]);
    await given.prepare(() => Promise.resolve());
    const changed = withTexts(given, [1, 'zwei "2"'], [2, '\ud800']);

    expect([0, 1, 2, 3].map((index) => changed.textBytes(index))).toEqual([7, 12, 5, 10]);
    expect(changed.textJson(0).bytes).toBe(given.textJson(0).bytes);
    expect(read(changed.texts())).toEqual(['süß', 'zwei "2"', '\ufffd', 'half \ufffd']);
    expect(read(changed.objects())).toEqual([
      { text: 'süß' },
      { text: 'zwei "2"', image },
      { text: '\ufffd', image },
      { text: 'half \ufffd' },
    ]);
  });

  it('pause on the way through long ones', async () => {
    const given = textDocuments(['a', 'b', 'c']);
    await given.prepare(() => Promise.resolve());
    const long = 'x'.repeat(500_000);
    let pauses = 0;

    const texts = newTexts([0, 2].map((index) => [index, long]));
    const changed = await inSteps(given.withTextsInSteps(texts), () => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(read(changed.texts())).toEqual([long, 'b', long]);
    expect(pauses).toBe(2);
  });
});
