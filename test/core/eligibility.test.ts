import { describe, expect, it } from '@jest/globals';
import { documentsOf } from '../../src/bytes/index.js';
import { textDocuments } from '../../src/core/text-documents.js';
import { misfitOf, widestRoom, type Room } from '../../src/core/eligibility.js';
import { leastTokens, mostTokens } from '../../src/core/tokens.js';

const ROOM: Room = {
  documents: undefined,
  documentsWithImages: undefined,
  queryCharacters: undefined,
  documentCharacters: undefined,
  requestCharacters: undefined,
  requestBytes: undefined,
  requestTokens: undefined,
  wholeTokens: undefined,
  documentTokens: undefined,
  images: false,
};
const LONG = { limit: 'length' };
/** Between 300 and 2,500 tokens, whatever the model. */
const text = 'Saturn is circled by well over a hundred moons. '.repeat(100);

const asked = (texts: readonly string[], options: { truncation?: boolean } = {}) => ({
  query: 'moons',
  documents: textDocuments(texts),
  options,
});

describe('what a channel takes of a request', () => {
  it.each<[string, Partial<Room>, object | undefined]>([
    ['no limit', {}, undefined],
    ['as many documents', { documents: 2 }, undefined],
    ['fewer documents', { documents: 1 }, { limit: 'documents', most: 1 }],
    ['a shorter query', { queryCharacters: 4 }, LONG],
    ['shorter documents', { documentCharacters: 4_799 }, LONG],
    ['documents as long', { documentCharacters: 4_800 }, undefined],
    ['fewer characters in all', { requestCharacters: 9_604 }, LONG],
    ['as many characters in all', { requestCharacters: 9_605 }, undefined],
    ['fewer bytes', { requestBytes: 9_000 }, LONG],
    ['as many bytes', { requestBytes: 9_700 }, undefined],
    ['fewer tokens than there are for sure', { requestTokens: 700 }, LONG],
    ['as many tokens as there may be', { requestTokens: 2_000 }, undefined],
    ['less of a document, which it cuts', { wholeTokens: 100 }, undefined],
  ])('is told by %s', (_what, given, expected) => {
    expect(misfitOf({ ...ROOM, ...given }, asked([text, text]))).toEqual(expected);
  });

  it('is told by what it reads of a document where nothing may be cut', () => {
    const whole = asked([text, 'short'], { truncation: false });
    const least = leastTokens('moons') + leastTokens(text);

    expect(misfitOf({ ...ROOM, wholeTokens: least }, whole)).toBeUndefined();
    expect(misfitOf({ ...ROOM, wholeTokens: least - 1 }, whole)).toEqual(LONG);
  });

  it('is judged by the tokens that it certainly has, to the last one', () => {
    const request = asked([text, 'short', text]);
    const least = leastTokens('moons') + 2 * leastTokens(text) + leastTokens('short');

    expect(misfitOf({ ...ROOM, requestTokens: least - 1 }, request)).toEqual(LONG);
    expect(misfitOf({ ...ROOM, requestTokens: least }, request)).toBeUndefined();
  });

  it('is the same for a list that was asked about before', () => {
    const request = asked([text, text]);
    const least = leastTokens('moons') + 2 * leastTokens(text);
    const roomFor = (requestTokens: number): Room => ({ ...ROOM, requestTokens });

    const asks = [100, least - 1, least, least - 1, 100].map((most) =>
      misfitOf(roomFor(most), request),
    );

    expect(asks).toEqual([LONG, LONG, undefined, LONG, LONG]);
  });

  it('is told by the longest document, wherever it stands, where nothing may be cut', () => {
    const whole = asked(['short', text, 'short'], { truncation: false });
    const least = leastTokens(text);

    expect(misfitOf({ ...ROOM, documentTokens: least }, whole)).toBeUndefined();
    expect(misfitOf({ ...ROOM, documentTokens: least - 1 }, whole)).toEqual(LONG);
    expect(
      misfitOf({ ...ROOM, documentTokens: least - 1 }, asked(['short', text])),
    ).toBeUndefined();
  });

  it('is asked about images alone if there is no text', () => {
    const documents = documentsOf([{ image: 'https://images.test/a.png', source: {} }]);

    expect(misfitOf(ROOM, { ...asked([]), documents })).toEqual({ limit: 'images' });
    expect(misfitOf({ ...ROOM, images: true }, { ...asked([]), documents })).toBeUndefined();
  });

  it('never turns a request away that may fit', () => {
    for (const script of ['moons ', 'Сатурн ', '土星', '0123 ', '🪐', 'शनि ']) {
      const documents = [script.repeat(500)];
      const most = mostTokens(documents[0] ?? '') + mostTokens('moons');

      expect(misfitOf({ ...ROOM, requestTokens: most }, asked(documents))).toBeUndefined();
    }
  });
});

describe('the room of several channels', () => {
  const room: Room = {
    ...{ documents: 100, documentsWithImages: 10, queryCharacters: 5, documentCharacters: 50 },
    ...{ requestCharacters: undefined, requestBytes: 1_000, requestTokens: 70 },
    ...{ wholeTokens: 7, documentTokens: undefined, images: false },
  };

  it('is the widest of them, and has no limit where one of them has none', () => {
    const other = { ...room, documents: 1_000, queryCharacters: undefined, requestTokens: 60 };

    expect(widestRoom([room, { ...other, images: true }])).toEqual({
      ...room,
      ...{ documents: 1_000, queryCharacters: undefined, images: true },
    });
    expect(widestRoom([room])).toEqual(room);
    expect(widestRoom([])).toEqual({});
  });
});
