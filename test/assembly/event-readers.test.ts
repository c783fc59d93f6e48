import { expect, it } from '@jest/globals';
import { createEventReaders, type EventReaderParts } from '../../src/assembly/event-readers.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { NodeAbout } from '../../src/store/store.js';
import { requestEvent } from '../support/events.js';

const NOW = 1_800_000_000_000;

it('a gateway reports its pauses by the time of day, and its channels by how busy they are', async () => {
  const told: NodeAbout[] = [];
  const inFlight: Readonly<Record<number, number>> = { 1: 2, 2: 0, 3: 5 };
  const byId = new Map([1, 2, 3].map((id) => [id, { id, channel: { name: `c${id}` } }]));
  const pause = { channelId: 1, key: undefined, state: 'open', reason: 'timeout' };
  const parts = {
    ...{ node: { id: 'n', name: 'n', release: '1' }, observe: () => undefined, now: () => NOW },
    store: {
      keyMarks: () => [],
      describeNode: (about: NodeAbout) => Promise.resolve(void told.push(about)),
    },
    ...{ load: { requests: 0 }, settlements: { size: 0 } },
    plane: {
      channels: { live: (id: number) => byId.get(id), current: { byId } },
      health: {
        pauses: () => [{ ...pause, sinceMs: 4_000, untilMs: 6_000 }],
        report: (id: number) => ({ inFlight: inFlight[id] }),
      },
      // A clock that began with the process.
      steady: () => 5_000,
    },
  } as unknown as EventReaderParts;
  const config = loadConfig({ env: {}, folder: 'none' });
  const metrics = { ...config.metrics, enabled: false };

  const { reports } = createEventReaders({ ...config, metrics }, parts);
  await reports.start();
  await reports.stop();

  expect(told).toMatchObject([
    {
      busy: [
        { name: 'c3', inFlight: 5 },
        { name: 'c1', inFlight: 2 },
      ],
      channels: [{ name: 'c1', sinceMs: NOW - 1_000, untilMs: NOW + 1_000 }],
    },
  ]);
});

it('the metrics of a gateway are those of its parts, and the limits of now', async () => {
  const parts = {
    ...{ node: { id: 'n', name: 'n', release: '1' }, observe: () => undefined, now: () => NOW },
    ...{ store: { keyMarks: () => [] }, settlements: { size: 3 }, flush: () => undefined },
    load: { requests: 4, bytes: 5 },
    storeHealth: { isEmptied: true, clockOffsetMs: 6_500, timeAnswers: () => undefined },
    plane: { channels: { isFresh: () => true }, queue: { waiting: 7 } },
  } as unknown as EventReaderParts;
  const usual = loadConfig({ env: {}, folder: 'none' });
  const config = { ...usual, server: { ...usual.server }, traffic: { ...usual.traffic } };
  const { metrics } = createEventReaders(config, parts);
  Object.assign(config.server, { maxInFlight: 8, maxInFlightBytes: 9 });
  Object.assign(config.traffic, { queueMax: 10 });

  const { text = '' } = (await metrics?.render()) ?? {};

  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'rerank_settlements_pending 3',
      'rerank_requests_in_flight 4',
      'rerank_bytes_in_flight 5',
      'rerank_clock_offset_seconds 6.5',
      'rerank_requests_waiting 7',
      'rerank_requests_in_flight_limit 8',
      'rerank_bytes_in_flight_limit 9',
      'rerank_requests_waiting_limit 10',
      // It answers, and has lost its data.
      'rerank_store_up 0',
    ]),
  );
});

it('both logs and the sums are written before the end, each log with its own bound', async () => {
  const written: unknown[] = [];
  const write = (log: string) => (_entries: unknown, most: number) =>
    Promise.resolve(void written.push([log, most]));
  const parts = {
    ...{ node: { id: 'n', name: 'n', release: '1' }, observe: () => undefined, now: () => NOW },
    store: {
      ...{ keyMarks: () => [], appendUsage: write('usage'), appendRefused: write('refused') },
      addStats: () => Promise.resolve(void written.push('sums')),
    },
    ...{ load: { requests: 0 }, settlements: { size: 0 } },
  } as unknown as EventReaderParts;
  const usual = loadConfig({ env: {}, folder: 'none' });
  const { reads, writeRest } = createEventReaders(
    {
      ...{ ...usual, metrics: { ...usual.metrics, enabled: false } },
      log: { ...usual.log, usageEntries: 20, refusedEntries: 30 },
    },
    parts,
  );

  const refused = { admitted: false, outcome: 'unauthorized', status: 401 } as const;
  for (const read of reads) read([requestEvent({ atMs: NOW }), requestEvent(refused)]);
  await writeRest(NOW);

  expect(written).toEqual(expect.arrayContaining([['usage', 20], ['refused', 30], 'sums']));
});
