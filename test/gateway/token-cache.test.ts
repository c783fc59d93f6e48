import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { TokenCache } from '../../src/gateway/token-cache.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { credential } from '../support/credential.js';

const HASH = 'a'.repeat(64);

function setUp(lifeMs = 60_000) {
  const store = { known: new Map([[HASH, credential()]]), asked: 0, emptied: false, nowMs: 0 };
  const cache = new TokenCache({
    store: {
      findToken: (hash, nowMs) => {
        expect(nowMs).toBe(store.nowMs);
        store.asked += 1;
        return Promise.resolve(store.known.get(hash));
      },
    },
    isEmptied: () => store.emptied,
    now: () => store.nowMs,
    lifeMs,
  });
  return { store, cache };
}

describe('what a node remembers of keys', () => {
  it('is asked for once', async () => {
    const { store, cache } = setUp();

    expect(cache.peek(HASH)).toBeUndefined();
    const first = await cache.find(HASH);
    const second = await cache.find(HASH);

    expect(second).toBe(first);
    expect(cache.peek(HASH)).toBe(first);
    expect(store.asked).toBe(1);
  });

  it('has room for many keys', async () => {
    const { store, cache } = setUp();
    const hashes = Array.from({ length: 1_000 }, (_, at) => at.toString(16).padStart(64, '0'));
    for (const hash of hashes) store.known.set(hash, credential());

    for (const hash of hashes) await cache.find(hash);
    for (const hash of hashes) await cache.find(hash);

    expect(store.asked).toBe(1_000);
  });

  it('ends with the time of a key that another one has replaced', async () => {
    const { store, cache } = setUp();
    store.known.set(HASH, credential({ endsAtMs: 1_000 }));

    expect(await cache.find(HASH)).toBeDefined();
    store.nowMs = 999;
    expect(cache.peek(HASH)).toBeDefined();
    store.nowMs = 1_000;

    expect(cache.peek(HASH)).toBeUndefined();
    expect(await cache.find(HASH)).toBeUndefined();
  });

  it('never includes that a key is unknown', async () => {
    const { store, cache } = setUp();
    store.known.clear();

    expect(await cache.find(HASH)).toBeUndefined();
    store.known.set(HASH, credential());

    expect(await cache.find(HASH)).toBeDefined();
  });

  it('gives way to what the store says now', async () => {
    const { store, cache } = setUp();
    await cache.find(HASH);
    store.known.clear();

    expect(await cache.findFresh(HASH)).toBeUndefined();
    expect(cache.peek(HASH)).toBeUndefined();
  });

  it('can be replaced, and forgotten as a whole', async () => {
    const { cache } = setUp();
    const newer = credential({ version: 2 });

    cache.remember(HASH, newer);
    expect(await cache.find(HASH)).toBe(newer);
    cache.clear();
    expect(cache.peek(HASH)).toBeUndefined();
  });

  it('ends with its life', async () => {
    const { store, cache } = setUp(20);
    await cache.find(HASH);

    // Longer than its life and the steps in which the clock is looked at.
    await sleep(150);
    await cache.find(HASH);

    expect(store.asked).toBe(2);
  });

  it('does not include that a store which lost everything knows no key', async () => {
    const { store, cache } = setUp();
    await cache.find(HASH);
    store.known.clear();
    store.emptied = true;

    await expect(cache.findFresh(HASH)).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(cache.peek(HASH)).toBeDefined();
  });
});
