import { LRUCache } from 'lru-cache';
import type { VectorMemory } from '../providers/provider.js';

/** What an entry takes beside its numbers: its key, and what the cache and the engine keep of it. */
const OVERHEAD_BYTES = 250;
/** The same of each vector. */
const VECTOR_BYTES = 120;

/** Remembers vectors up to so many bytes, those that were asked for last; nothing where that is 0. */
export function createVectorMemory(bytes: number): VectorMemory | undefined {
  if (bytes === 0) return undefined;
  return new LRUCache<string, readonly Float32Array[]>({
    maxSize: bytes,
    sizeCalculation: (vectors) =>
      vectors.reduce((sum, vector) => sum + vector.byteLength + VECTOR_BYTES, OVERHEAD_BYTES),
  });
}

/** What is remembered of one server: models of one name need not be the same at another. */
export function memoryOf(
  memory: VectorMemory | undefined,
  server: string,
): VectorMemory | undefined {
  return (
    memory && {
      get: (key) => memory.get(`${server} ${key}`),
      set: (key, vectors) => {
        memory.set(`${server} ${key}`, vectors);
      },
    }
  );
}
