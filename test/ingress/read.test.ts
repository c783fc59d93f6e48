import { describe, expect, it } from '@jest/globals';
import { FIELDS, fieldsOf, membersOf, QUERY, textPart, validate } from '../../src/ingress/read.js';

const IMAGE = 'https://example.com/a.png';

describe('an element of a list of documents', () => {
  it.each([
    [{ text: 'a' }, { text: 'a' }],
    [{ text: '' }, { text: '' }],
    [
      { text: 'a', image: IMAGE },
      { text: 'a', image: IMAGE },
    ],
    [{ text: 'a', image: '' }, { text: 'a' }],
    [{ text: 'a', image: { url: IMAGE } }, { text: 'a' }],
    [{ image: IMAGE }, { image: IMAGE }],
    [{ text: null, image: IMAGE }, { image: IMAGE }],
  ])('%j is read as %j', (item, part) => {
    expect(textPart(item, 0, 'documents')).toEqual({ ...part, source: item });
  });

  it.each([
    [{}],
    [{ image: '' }],
    [{ image: 5 }],
    [{ text: 5 }],
    [{ text: 5, image: IMAGE }],
    [{ text: false, image: IMAGE }],
    ['a'],
    [null],
    [['a']],
  ])('%j is refused', (item) => {
    expect(() => textPart(item, 3, 'input.documents')).toThrow(
      expect.objectContaining({
        code: 'invalid_documents',
        param: 'input',
        message: 'input.documents[3] must be an object with "text" as a string.',
      }),
    );
  });
});

it('an empty list of fields counts as none', () => {
  expect([fieldsOf([]), fieldsOf(null), fieldsOf(undefined), fieldsOf(['a'])]).toStrictEqual([
    undefined,
    undefined,
    undefined,
    ['a'],
  ]);
});

it('there may be a hundred fields, and no more', () => {
  const members = membersOf({ rank_fields: FIELDS });
  const fields = Array.from({ length: 101 }, (_, at) => `field ${at}`);
  const most = { rank_fields: fields.slice(1) };

  expect(validate(members, most)).toEqual(most);
  expect(() => validate(members, { rank_fields: fields })).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'rank_fields' }),
  );
});

it.each([
  ['query', undefined, 'invalid_query'],
  ['queries', 'queries', 'invalid_query'],
  ['query', 'queries', 'invalid_request'],
])('a mistake in %s, where the query is in %s, is %s', (param, query, code) => {
  expect(() => validate(membersOf({ [param]: QUERY }), {}, query)).toThrow(
    expect.objectContaining({ code, param }),
  );
});
