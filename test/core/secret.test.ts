import { expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { Secret, withoutKeys } from '../../src/core/secret.js';

const VALUE = 'sk-very-secret';

it.each([
  ['a string', (secret: Secret) => `key ${String(secret)}`],
  ['JSON', (secret: Secret) => JSON.stringify({ secret })],
  ['inspection', (secret: Secret) => inspect({ deep: { secret } }, { depth: 5, showHidden: true })],
])('a secret does not show in %s', (_, shown) => {
  expect(shown(new Secret(VALUE))).not.toContain('very-secret');
});

it('is told where it is asked for', () => {
  expect(new Secret(VALUE).reveal()).toBe(VALUE);
});

const KEY = `sk-${'a1B2'.repeat(12)}`;
const TOKEN = `at-${'q_R-5'.repeat(8)}xyz`;

it.each([
  ['a key', KEY, 'sk-a1B2…'],
  ['an access token', TOKEN, 'at-q_R-…'],
  ['a key of a provider', 'sk-ant-api03-Ab12Cd34Ef56Gh78Ij90', 'sk-ant-…'],
  ['two in a sentence', `no "${KEY}" or (${TOKEN}).`, 'no "sk-a1B2…" or (at-q_R-…).'],
  ['one behind a path', `models/${KEY}/x`, 'models/sk-a1B2…/x'],
  ['one behind a line break in JSON', JSON.stringify(`a\n${KEY}`), '"a\\nsk-a1B2…"'],
  ['a model', 'sk-bge-reranker-v2-m3-multilingual', 'sk-bge-reranker-v2-m3-multilingual'],
  ['a word that ends alike', `task-${'a1'.repeat(20)}`, `task-${'a1'.repeat(20)}`],
])('a text is kept without its keys: %s', (_, text, kept) => {
  expect(withoutKeys(text)).toBe(kept);
});

it('a text that tries to be slow to look through is not', () => {
  const texts = ['sk-'.repeat(1e6), `sk-${'aaaaaaaaaaaaaaa-'.repeat(2e5)}`, ' sk-a'.repeat(6e5)];
  const startedMs = performance.now();

  for (const text of texts) withoutKeys(text);

  expect(performance.now() - startedMs).toBeLessThan(2_000);
});
