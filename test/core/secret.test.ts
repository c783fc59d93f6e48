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
  ['one behind a hyphen', `x-${KEY}`, 'x-sk-a1B2…'],
  ['a token behind an underscore', `key_${TOKEN}`, 'key_at-q_R-…'],
  ['one behind what is percent-encoded', `?key%3D${KEY}`, '?key%3Dsk-a1B2…'],
  ['a token behind a letter', `Bearer${TOKEN}`, 'Bearerat-q_R-…'],
  ['a long name without a hyphen', `format-${'a'.repeat(43)}`, `format-${'a'.repeat(43)}`],
  ['a long name', `look-at-${'what-it-is-'.repeat(5)}`, `look-at-${'what-it-is-'.repeat(5)}`],
  ['one behind a path', `models/${KEY}/x`, 'models/sk-a1B2…/x'],
  ['one behind a line break in JSON', JSON.stringify(`a\n${KEY}`), '"a\\nsk-a1B2…"'],
  ['a model', 'sk-bge-reranker-v2-m3-multilingual', 'sk-bge-reranker-v2-m3-multilingual'],
  ['a word that ends alike', `task-${'a1'.repeat(20)}`, `task-${'a1'.repeat(20)}`],
])('a text is kept without its keys: %s', (_, text, kept) => {
  expect(withoutKeys(text)).toBe(kept);
});

it.each<[string, (length: number) => string]>([
  ['beginnings alone', (length) => 'sk-'.repeat(length)],
  ['fifteen signs again and again', (length) => `sk-${'aaaaaaaaaaaaaaa-'.repeat(length)}`],
  ['fourteen signs and a hyphen', (length) => `at-${'-at-aaaaaaaaaaaaaa'.repeat(length)}`],
  ['tokens behind letters', (length) => 'aat-'.repeat(length)],
  ['keys that are too short', (length) => ' sk-a'.repeat(length)],
])('a text of %s takes no longer than its length', (_, textOf) => {
  /** Of the processor, so that it does not matter what else the machine does; the least of some tries. */
  const costOf = (text: string, tries: number): number =>
    Math.min(
      ...Array.from({ length: tries }, () => {
        const before = process.cpuUsage();
        withoutKeys(text);
        return process.cpuUsage(before).user;
      }),
    );

  const short = costOf(textOf(500), 5);

  // Sixteen times the length costs 256 times as much where each sign is looked at from each beginning.
  expect(costOf(textOf(8_000), 2)).toBeLessThan(100 * Math.max(short, 500));
});
