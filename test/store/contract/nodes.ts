import { describe, expect, test } from '@jest/globals';
import type { NodeAbout } from '../../../src/store/store.js';
import { report } from '../../support/nodes.js';
import { freshStore, T0, type OpenHarness } from './harness.js';

/** What a gateway may report about itself. */
export function about(nodeId: string, given: Partial<NodeAbout> = {}): NodeAbout {
  return {
    nodeId,
    name: `node ${nodeId}`,
    release: '1.2.3',
    pid: 7,
    startedMs: T0 - 1_000,
    atMs: T0,
    inFlight: 3,
    maxInFlight: 512,
    pendingSettlements: 1,
    faults: 0,
    channels: [{ name: 'tei', untilMs: T0 + 500, why: 'overloaded “now”' }],
    ...given,
  };
}

export function describeNodes(open: OpenHarness): void {
  describe('nodes', () => {
    const given = freshStore(open);

    test('are listed with what they have in force and what they report about themselves', async () => {
      const second = await given.reopen();
      await given.store.begin();
      const version = await given.store.setTagSwitch({
        ...{ tag: 'eu', disabled: true, changedTime: 0 },
        ...{ reason: undefined, changedBy: undefined },
      });
      await report(given.store, 'b', version, T0, 1_000);
      await given.store.describeNode(about('b'), 60_000);
      await report(second, 'a', 0, T0, 1_000);

      expect(await second.listNodes(T0)).toEqual([
        { nodeId: 'a', version: 0, about: undefined },
        { nodeId: 'b', version, about: about('b') },
      ]);

      await given.store.describeNode(about('b', { inFlight: 4 }), 60_000);
      await second.describeNode(about('a'), 60_000);
      const reports = (await second.listNodes(T0)).map((node) => node.about?.inFlight);
      expect(reports).toEqual([3, 4]);
    });

    test('that have stopped to report have nothing in force, and are forgotten after a while', async () => {
      await given.store.begin();
      await report(given.store, 'a', 0, T0, 1_000);
      await given.store.describeNode(about('a'), 60_000);

      expect(await given.store.listNodes(T0 + 1_000)).toEqual([
        { nodeId: 'a', version: undefined, about: about('a') },
      ]);
      expect(await given.store.listNodes(T0 + 60_000)).toEqual([]);

      // What nobody asks for any more goes when another one tells.
      await given.store.describeNode(about('b', { atMs: T0 + 60_000 }), 60_000);
      expect(await given.store.listNodes(T0 + 1_000)).toEqual([
        expect.objectContaining({ nodeId: 'b' }),
      ]);
    });

    test('that sign off are no longer listed', async () => {
      await given.store.begin();
      await report(given.store, 'a', 0, T0, 1_000);
      await given.store.describeNode(about('a'), 60_000);

      await given.store.forgetNode('a');

      expect(await given.store.listNodes(T0)).toEqual([]);
    });
  });
}
