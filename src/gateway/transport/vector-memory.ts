import { LRUCache } from 'lru-cache';
import type { VectorMemory } from '../../providers/provider.js';

/** The size of an entry beside its numbers: its key, and what the cache and the engine add. */
const OVERHEAD_BYTES = 250;
/** The same for each vector. */
const VECTOR_BYTES = 120;

/** Remembers vectors up to a number of bytes, dropping those not used for longest; keeps nothing if that is 0. */
export function createVectorMemory(bytes: number): VectorMemory | undefined {
  if (bytes === 0) return undefined;
  const cache = new LRUCache<string, readonly Float32Array[]>({
    maxSize: bytes,
    sizeCalculation: (vectors) =>
      vectors.reduce((sum, vector) => sum + vector.byteLength + VECTOR_BYTES, OVERHEAD_BYTES),
  });
  return {
    get: (key) => cache.get(key),
    set: (key, vectors) => {
      cache.set(key, vectors);
    },
  };
}

/** What is remembered about one server: models of the same name may differ on another. */
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
