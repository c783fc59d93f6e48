import { expect, it } from '@jest/globals';
import { createEventReaders, type EventReaderParts } from '../../src/assembly/event-readers.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { NodeAbout } from '../../src/store/store.js';

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
