import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { sha256Of } from '../../../src/gateway/transport/body-hash.js';

const MEGABYTE = 1_048_576;

it.each([0, 1_000, MEGABYTE, MEGABYTE + 1, 3 * MEGABYTE])('hashes %i bytes', async (size) => {
  const body = Buffer.alloc(size, 'moon');
  const hash = sha256Of(body);

  // A large one is hashed on another thread.
  expect(Buffer.isBuffer(hash)).toBe(size <= MEGABYTE);
  expect((await hash).equals(createHash('sha256').update(body).digest())).toBe(true);
});
