import { describe, expect, it } from '@jest/globals';
import { completedBy, either, schemaOf, type JsonSchema } from '../../src/http/json-schema.js';

const text: JsonSchema = { type: 'string' };
const object = (properties: JsonSchema['properties'], ...required: string[]): JsonSchema => ({
  type: 'object',
  properties: properties ?? {},
  required,
});

describe('the schema that values show', () => {
  it.each<[string, readonly unknown[], JsonSchema]>([
    ['a text', ['a'], text],
    ['a number with and without a fraction', [1, 0.5], { type: 'number' }],
    ['a text or nothing', ['a', null], { type: ['string', 'null'] }],
    ['a list', [['a', 'b']], { type: 'array', items: text }],
    ['lists, one of them empty', [[], ['a']], { type: 'array', items: text }],
    ['an object', [{ a: 1 }], object({ a: { type: 'integer' } }, 'a')],
    [
      'a member that may be missing',
      [{ a: '', b: '' }, { a: '' }],
      object({ a: text, b: text }, 'a'),
    ],
    ['a text or an object', ['a', { a: '' }], { anyOf: [text, object({ a: text }, 'a')] }],
    [
      'an object, a text and another object',
      [{ a: '' }, 'a', { b: '' }],
      { anyOf: [object({ a: text, b: text }), text] },
    ],
  ])('of %s', (_name, values, schema) => {
    expect(values.map(schemaOf).reduce(either)).toEqual(schema);
  });
});

describe('a schema that an example completes', () => {
  const example = schemaOf({ query: 'q', input: { documents: ['a'] } });

  it('has the members that only the example has, and requires them', () => {
    expect(
      completedBy(object({ query: { ...text, maxLength: 3 } as JsonSchema }), example),
    ).toEqual({
      ...object({
        query: { ...text, maxLength: 3 } as JsonSchema,
        input: object({ documents: { type: 'array', items: text } }, 'documents'),
      }),
      required: ['input'],
    });
  });

  it('says more where it said nothing', () => {
    const open = object({ input: object({ documents: { description: 'Texts.' } }) }, 'input');

    expect(completedBy(open, example).properties?.input?.properties?.documents).toEqual({
      type: 'array',
      items: text,
      description: 'Texts.',
    });
  });
});
