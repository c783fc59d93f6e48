import { expect, it } from '@jest/globals';
import { createVectorMemory, memoryOf } from '../../../src/gateway/transport/vector-memory.js';

const vector = (...numbers: number[]): readonly Float32Array[] => [Float32Array.from(numbers)];

it('a memory of no bytes keeps nothing', () => {
  expect(createVectorMemory(0)).toBeUndefined();
  expect(memoryOf(undefined, 'http://one')).toBeUndefined();
});

it('vectors are kept for each server separately', () => {
  const memory = createVectorMemory(10_000);
  const one = memoryOf(memory, 'http://one');
  const two = memoryOf(memory, 'http://two');

  one?.set('model text', vector(1, 2));

  expect(one?.get('model text')).toEqual(vector(1, 2));
  expect(two?.get('model text')).toBeUndefined();
});

it('the least recently used go first when the bytes are used up', () => {
  const memory = createVectorMemory(1_000);
  // Each takes 370 bytes beside its numbers: two fit.
  memory?.set('old', vector(1));
  memory?.set('used', vector(2));
  memory?.get('old');
  memory?.set('new', vector(3));

  expect(memory?.get('old')).toBeDefined();
  expect(memory?.get('used')).toBeUndefined();
  expect(memory?.get('new')).toBeDefined();
});

it('an entry larger than the whole memory is not kept', () => {
  const memory = createVectorMemory(1_000);

  memory?.set('large', [new Float32Array(1_000)]);

  expect(memory?.get('large')).toBeUndefined();
});
