import { expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import {
  camelCase,
  camelKeys,
  canonicalJson,
  isSameJson,
  mapValues,
  own,
  snakeCase,
  snakeKeys,
} from '../../src/core/records.js';

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

it('what every object inherits is no member of a record', () => {
  expect(own({ one: 1 }, 'one')).toBe(1);
  expect(own<unknown>({ one: 1 }, 'constructor')).toBeUndefined();
});

it('the order of members makes no difference to canonical JSON, that of elements does', () => {
  const json = canonicalJson({ b: [{ d: 1, c: null }, 2], a: 'x' });

  expect(json).toBe('{"a":"x","b":[{"c":null,"d":1},2]}');
  expect(canonicalJson({ a: 'x', b: [{ c: null, d: 1 }, 2] })).toBe(json);
  expect(canonicalJson({ a: 'x', b: [2, { c: null, d: 1 }] })).not.toBe(json);
});

it('values are the same exactly if their canonical JSON is', () => {
  const one = { a: { b: [1, { c: null }], gone: undefined }, d: 'x' };

  expect(isSameJson(one, { d: 'x', a: { b: [1, { c: null }] } })).toBe(true);
  for (const other of [
    { ...one, d: 'y' },
    { ...one, more: 0 },
    { a: one.a },
    { ...one, a: { b: [1, { c: {} }] } },
    { ...one, a: { b: { 0: 1, 1: { c: null } } } },
    // What every object inherits is no member.
    { ...one, constructor: 'model' },
  ]) {
    expect(isSameJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
    expect(isSameJson(other, one)).toBe(false);
  }
});
