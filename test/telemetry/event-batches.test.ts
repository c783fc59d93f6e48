import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { EventBatches } from '../../src/telemetry/event-batches.js';
import { attemptEvent, requestEvent } from '../support/events.js';
import { until } from '../support/until.js';

const attempt = (requestId: string) => attemptEvent({ requestId });

function watch() {
  const batches: GatewayEvent[][] = [];
  const events = new EventBatches([(batch) => batches.push([...batch])]);
  return { events, batches };
}

describe('events in batches', () => {
  it('reach every reader once, in order, when they are asked for', () => {
    const [first, second]: [GatewayEvent[], GatewayEvent[]] = [[], []];
    const events = new EventBatches([
      (batch) => first.push(...batch),
      (batch) => second.push(...batch),
    ]);
    const happened = Array.from({ length: 300 }, (_, index) => attempt(String(index)));

    for (const event of happened) events.observe(event);
    events.flush();
    events.flush();

    expect(first).toEqual(happened);
    expect(second).toEqual(happened);
  });

  it('have no key that a caller put where a model belongs, nor one in a message', () => {
    const { events, batches } = watch();
    const key = `sk-${'a1B2'.repeat(12)}`;

    events.observe(requestEvent({ model: key, message: `There is no model ${key}.` }));
    events.flush();

    expect(batches.flat()).toHaveLength(1);
    expect(JSON.stringify(batches)).not.toContain(key);
  });

  it('reach a reader that comes later from then on', () => {
    const { events, batches } = watch();
    const late: GatewayEvent[] = [];
    events.observe(attempt('a'));
    events.flush();

    events.add((batch) => late.push(...batch));
    events.observe(attempt('b'));
    events.flush();

    expect(late).toEqual([attempt('b')]);
    expect(batches).toEqual([[attempt('a')], [attempt('b')]]);
  });

  it('wait for others, but not for long', async () => {
    const { events, batches } = watch();

    events.observe(attempt('a'));
    events.observe(attempt('b'));
    expect(batches).toEqual([]);
    await until('a batch', () => batches.length > 0);

    expect(batches).toEqual([[attempt('a'), attempt('b')]]);
  });

  it('go at once if they are rare, behind what came before', () => {
    const { events, batches } = watch();
    const fault = { kind: 'fault', what: 'broken', error: undefined } as const;

    events.observe(attempt('a'));
    events.observe(fault);

    expect(batches).toEqual([[attempt('a'), fault]]);
  });

  it('survive a reader that observes something itself', () => {
    const seen: string[] = [];
    const events: EventBatches = new EventBatches([
      (batch) => {
        for (const event of batch) {
          seen.push(event.kind);
          if (event.kind === 'attempt')
            events.observe({ kind: 'fault', what: 'reader', error: undefined });
        }
      },
    ]);

    events.observe(attempt('a'));
    events.flush();

    expect(seen).toEqual(['attempt', 'fault']);
  });

  it('reach the other readers whole when one fails, and its fault with them, once', () => {
    const unhandled: unknown[] = [];
    const seen: GatewayEvent[][] = [[], []];
    const error = new Error('broken');
    let failures = 0;
    const events = new EventBatches(
      [
        (batch) => seen[0]?.push(...batch),
        () => {
          failures += 1;
          if (failures === 1) throw error;
        },
        (batch) => seen[1]?.push(...batch),
      ],
      (thrown) => unhandled.push(thrown),
    );

    events.observe(attempt('a'));
    events.flush();

    const fault = { kind: 'fault', what: 'a reader of events failed', error };
    expect(seen).toEqual([
      [attempt('a'), fault],
      [attempt('a'), fault],
    ]);
    expect(unhandled).toEqual([]);
  });

  it('end at the last resort if a reader fails at every one', () => {
    const unhandled: unknown[] = [];
    const seen: string[] = [];
    const events = new EventBatches(
      [
        ([event]) => {
          throw new Error(event?.kind);
        },
        (batch) => seen.push(...batch.map(({ kind }) => kind)),
      ],
      (thrown) => unhandled.push(thrown),
    );

    events.observe(attempt('a'));
    events.flush();

    expect(seen).toEqual(['attempt', 'fault']);
    expect(unhandled).toEqual([new Error('attempt'), new Error('fault')]);
  });
});
