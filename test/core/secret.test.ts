import { expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { Secret } from '../../src/core/secret.js';

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
