import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '../../src/gateway/events.js';
import type { NodeAbout } from '../../src/store/store.js';
import { NodeReports } from '../../src/telemetry/node-reports.js';

const NODE = { nodeId: 'n', name: 'node-a', release: '1.0.0', pid: 7, maxInFlight: 8 };

function started(describeNode: (about: NodeAbout) => Promise<void>) {
  const events: GatewayEvent[] = [];
  const reports = new NodeReports({
    store: { describeNode },
    observe: (event) => events.push(event),
    now: () => 1_000,
    node: NODE,
    inFlight: () => 3,
    pendingSettlements: () => 2,
    busy: () => [{ id: 4, name: 'tei', inFlight: 3 }],
    resting: () => [{ name: 'tei', untilMs: 2_000, why: 'timeout' }],
  });
  return { reports, events };
}

describe('NodeReports', () => {
  it('reports what is under way, what went wrong, and which channels are unwell', async () => {
    const told: NodeAbout[] = [];
    const { reports } = started((about) => Promise.resolve(void told.push(about)));
    reports.read([
      { kind: 'fault', what: 'something', error: new Error('it failed') },
      {
        kind: 'channels',
        version: 1,
        channels: [],
        unusable: [{ name: 'azure', provider: 'azure', tag: undefined, why: 'locked' }],
      },
    ]);

    await reports.start();
    await reports.stop();

    expect(told).toEqual([
      {
        ...NODE,
        startedMs: 1_000,
        atMs: 1_000,
        inFlight: 3,
        pendingSettlements: 2,
        faults: 1,
        busy: [{ id: 4, name: 'tei', inFlight: 3 }],
        channels: [
          { name: 'azure', untilMs: 0, why: 'locked' },
          { name: 'tei', untilMs: 2_000, why: 'timeout' },
        ],
      },
    ]);
  });

  it('starts although the store does not take its report, and says so once', async () => {
    const error = new Error('away');
    const { reports, events } = started(() => Promise.reject(error));

    await reports.start();
    await reports.start();
    await reports.stop();

    expect(events).toEqual([
      { kind: 'fault', what: 'the description of this node could not be written', error },
    ]);
  });

  it('says again that its report is not taken, once it was in between', async () => {
    const outcomes = [false, false, true, false];
    const { reports, events } = started(() =>
      outcomes.shift() === true ? Promise.resolve() : Promise.reject(new Error('away')),
    );

    for (let report = 0; report < 4; report += 1) {
      await reports.start();
      await reports.stop();
    }

    expect(events).toMatchObject([{ kind: 'fault' }, { kind: 'fault' }]);
  });
});
