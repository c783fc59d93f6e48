import { expect, it } from '@jest/globals';
import { apiKeysOf, joinApiKeys, keyHint } from '../../src/core/api-keys.js';
import { Secret } from '../../src/core/secret.js';

it.each([
  [undefined, []],
  ['one', ['one']],
  // A single key is as its owner entered it.
  [' one ', [' one ']],
  ['one\ntwo', ['one', 'two']],
  [' two \r\n\n one\ntwo\n', ['two', 'one']],
  ['\n\n', []],
])('the keys in %j are %j', (text, keys) => {
  const credential = text === undefined ? undefined : new Secret(text);

  expect(apiKeysOf(credential).map((key) => key.reveal())).toEqual(keys);
});

it('keys that are joined are the same keys', () => {
  const keys = ['b', 'a', 'c'];

  expect(apiKeysOf(new Secret(joinApiKeys(keys))).map((key) => key.reveal())).toEqual(keys);
});

it.each([
  ['sk-0123456789abcd', '…abcd'],
  ['123456789012', '…9012'],
  // Too little would stay hidden.
  ['12345678901', '…'],
  ['', '…'],
])('people recognise %s by %s', (key, hint) => {
  expect(keyHint(new Secret(key))).toBe(hint);
});
