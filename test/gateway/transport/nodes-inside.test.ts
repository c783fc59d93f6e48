import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { writesBelow } from '../../../src/gateway/transport/nodes-inside.js';

it('notices whether a socket writes by what it has below', () => {
  const elsewhere = Object.assign(new Socket(), { write: () => true });

  expect(writesBelow(new Socket())).toBe(true);
  expect(writesBelow(elsewhere)).toBe(false);
});
