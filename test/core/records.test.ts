import { expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { camelCase, camelKeys, mapValues, snakeCase, snakeKeys } from '../../src/core/records.js';

it.each([
  ['name', 'name'],
  ['maxTokensPerDoc', 'max_tokens_per_doc'],
  ['baseUrl', 'base_url'],
])('%s is %s outside', (name, wire) => {
  expect(snakeCase(name)).toBe(wire);
  expect(camelCase(wire)).toBe(name);
});

it('names come back as they were', () => {
  const names = fc.stringMatching(/^[a-z]{1,6}([A-Z][a-z]{0,6}){0,4}$/);
  fc.assert(
    fc.property(fc.dictionary(names, fc.integer()), (members) => {
      expect(camelKeys(snakeKeys(members))).toEqual({ ...members });
    }),
  );
});

it('values are changed one by one', () => {
  expect(mapValues({ one: 1, two: 2 }, (value) => value * 2)).toEqual({ one: 2, two: 4 });
});
