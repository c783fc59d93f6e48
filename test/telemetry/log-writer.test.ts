import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { StoreUnavailableError, type BatchMark } from '../../src/store/store.js';
import { LogWriter } from '../../src/telemetry/log-writer.js';

const AWAY = new StoreUnavailableError('away');

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A writer of numbers, with what each write had and how it ends. */
function setUp() {
  const writes: {
    entries: readonly number[];
    mark: BatchMark;
    done(): void;
    fail(error: Error): void;
  }[] = [];
  const faults: GatewayEvent[] = [];
  const writer = new LogWriter<number>({
    ...{ name: 'log', writer: 'w' },
    append: (entries, mark) =>
      new Promise((resolve, reject) => {
        writes.push({ entries: [...entries], mark, done: resolve, fail: reject });
      }),
    observe: (event) => faults.push(event),
    now: Date.now,
  });
  const add = (from: number, count: number) => {
    for (let entry = from; entry < from + count; entry += 1) writer.add(entry);
    writer.flush();
  };
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  return { writer, writes, faults, add, pass };
}

describe('a log in batches', () => {
  it('is written soon, or at once when a batch is full, and goes on with what is left', async () => {
    const { writes, add, pass } = setUp();
    add(0, 3);
    await pass(499);
    expect(writes).toHaveLength(0);
    await pass(1);
    expect(writes[0]?.entries).toEqual([0, 1, 2]);
    writes[0]?.done();
    await pass(0);

    add(10, 450);
    await pass(0);
    for (const at of [1, 2]) {
      expect(writes[at]?.entries).toHaveLength(200);
      writes[at]?.done();
      await pass(0);
    }
    expect(writes).toHaveLength(3);
    await pass(500);
    expect(writes[3]?.entries).toEqual(Array.from({ length: 50 }, (_, index) => 410 + index));
  });

  it('replaces an entry until it is being sent, and again once another batch is', async () => {
    const { writer, writes, add, pass } = setUp();
    add(0, 2);
    expect(writer.replace(1, 11)).toBe(true);
    await pass(500);
    expect(writes[0]?.entries).toEqual([0, 11]);
    expect(writer.replace(11, 12)).toBe(false);

    writes[0]?.done();
    await pass(0);
    add(20, 1);
    expect(writer.replace(20, 21)).toBe(true);
  });

  it('is tried again at growing intervals while the store is away', async () => {
    const { writes, add, pass } = setUp();
    add(0, 1);
    await pass(500);

    for (const pauseMs of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      const before = writes.length;
      writes.at(-1)?.fail(AWAY);
      await pass(pauseMs - 1);
      expect(writes).toHaveLength(before);
      await pass(1);
      expect(writes).toHaveLength(before + 1);
    }
    expect(writes.at(-1)?.entries).toEqual([0]);
    expect(new Set(writes.map(({ mark }) => JSON.stringify(mark)))).toEqual(
      new Set([JSON.stringify({ writer: 'w', serial: 1 })]),
    );
    writes.at(-1)?.done();
    await pass(0);
    add(1, 1);
    await pass(500);
    expect(writes.at(-1)?.mark).toEqual({ writer: 'w', serial: 2 });
  });

  it('waits for the store no longer than it may at the end, and says what was lost', async () => {
    const { writer, writes, faults, add, pass } = setUp();
    add(0, 201);
    await pass(0);
    for (let tries = 0; tries < 8; tries += 1) {
      writes.at(-1)?.fail(AWAY);
      await pass(tries === 7 ? 1 : 5_000);
    }

    // In the middle of a pause of five seconds, which it does not sit out.
    const before = writes.length;
    const closing = writer.close(Date.now() + 1_000);
    await pass(0);
    expect(writes).toHaveLength(before + 1);
    writes.at(-1)?.fail(AWAY);
    await closing;

    expect(faults).toEqual([
      { kind: 'fault', what: '201 entries of the log were lost', error: AWAY },
    ]);
    expect(writer.size).toBe(0);
  });

  it('loses only the batch that cannot be written', async () => {
    const { writes, faults, add, pass } = setUp();
    add(0, 201);
    await pass(0);
    const error = new Error('refused');
    writes[0]?.fail(error);
    await pass(500);

    expect(faults).toEqual([{ kind: 'fault', what: '200 entries of the log were lost', error }]);
    expect(writes[1]?.entries).toEqual([200]);
  });

  it('keeps so many and no more while the store is away', async () => {
    const { writer, writes, faults, add, pass } = setUp();
    add(0, 20_005);
    await pass(0);

    expect(writer.size).toBe(20_000);
    writes[0]?.done();
    await pass(0);
    expect(faults).toMatchObject([{ what: '5 entries of the log were lost' }]);
    writes[1]?.done();
    await pass(0);
    expect(faults).toHaveLength(1);
  });
});
