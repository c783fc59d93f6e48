import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { EMPTIED, StoreHealth } from '../../src/gateway/store-health.js';

const ASKED_MS = 1_000_000;
const ANSWERED_MS = 1_000_200;

function setUp() {
  const told: string[] = [];
  const health = new StoreHealth((event: GatewayEvent) => {
    if (event.kind === 'fault') told.push(event.what);
  });
  const hear = (storeTimeMs: number, memory: 'kept' | 'lost' | 'emptied' = 'kept'): void => {
    health.heard({ snapshot: undefined, storeTimeMs, memory }, ASKED_MS, ANSWERED_MS);
  };
  return { health, told, hear };
}

describe('the clock of a node', () => {
  it.each([
    ['between question and answer', ASKED_MS + 100, 0],
    ['ahead of the store', ASKED_MS - 1_500, 1_500],
    ['behind the store', ANSWERED_MS + 2_500, -2_500],
  ])('is compared with the store’s: %s', (_, storeTimeMs, offsetMs) => {
    const { health, hear } = setUp();

    hear(storeTimeMs);

    expect(health.clockOffsetMs).toBe(offsetMs);
    expect(health.warnings()).toHaveLength(offsetMs === 0 ? 0 : 1);
  });

  it('may be a second off', () => {
    const { health, told, hear } = setUp();

    hear(ASKED_MS - 1_000);

    expect(health.warnings()).toEqual([]);
    expect(told).toEqual([]);
  });

  it('is reported once, and again when it goes wrong again', () => {
    const { health, told, hear } = setUp();

    hear(ASKED_MS - 5_000);
    hear(ASKED_MS - 6_000);
    expect(health.warnings()).toEqual([expect.stringContaining('6.0 s ahead of')]);
    hear(ASKED_MS);
    hear(ANSWERED_MS + 5_000);

    expect(told).toEqual(['the clock of this node is wrong', 'the clock of this node is wrong']);
    expect(health.warnings()).toEqual([expect.stringContaining('5.0 s behind')]);
  });
});

it('how long a store takes to answer is told to whoever asks for that', () => {
  const { health, hear } = setUp();
  const times: number[] = [];
  health.timeAnswers((afterMs) => times.push(afterMs));

  hear(ASKED_MS);

  expect(times).toEqual([ANSWERED_MS - ASKED_MS]);
});

describe('a store that was emptied', () => {
  it('is reported once, until it has its data back', () => {
    const { health, told, hear } = setUp();

    for (let answers = 0; answers < 3; answers += 1) hear(ASKED_MS, 'emptied');
    expect(health.isEmptied).toBe(true);
    hear(ASKED_MS, 'kept');

    expect(health.isEmptied).toBe(false);
    expect(told).toEqual(['the store is empty']);
    expect(EMPTIED).toMatch(/backup/);
  });

  it('is heard of again when it is emptied again', () => {
    const { told, hear } = setUp();

    for (const memory of ['emptied', 'kept', 'emptied'] as const) hear(ASKED_MS, memory);

    expect(told).toEqual(['the store is empty', 'the store is empty']);
  });

  it('is not one that lost its latest writes', () => {
    const { health, hear } = setUp();

    hear(ASKED_MS, 'lost');

    expect(health.isEmptied).toBe(false);
  });
});
