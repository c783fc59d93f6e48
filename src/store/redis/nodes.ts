import type { NodeAbout, NodeStore } from '../store.js';
import { change } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { pairsOf, run, SCRIPTS } from './scripts.js';

export function openNodes(connection: Connection, keys: Keys): NodeStore {
  const { client, answer } = connection;
  /** The notes of nodes in a hash, by node id, without expired ones. */
  function notes<T>(
    key: string,
    nowMs: number,
    read: (note: string) => { readonly expiresMs: number; readonly value: T },
  ): Promise<ReadonlyMap<string, T>> {
    return change(connection, [['HGETALL', key]], nowMs, ([found], now) => {
      const told = pairsOf(found).map(([nodeId, note]) => ({ nodeId, ...read(note) }));
      const live = told.filter(({ expiresMs }) => expiresMs > now);
      return { result: new Map(live.map(({ nodeId, value }) => [nodeId, value])) };
    });
  }

  return {
    async describeNode(about, keepMs) {
      await run(connection, SCRIPTS.describeNode, keys.nodesAbout, [
        ...[about.nodeId, JSON.stringify(about), connection.told(about.atMs), keepMs],
      ]);
    },

    async listNodes(nowMs) {
      // Two questions, since a Cluster that is moving the slot does not answer one about several keys if one is missing.
      const [versions, told] = await Promise.all([
        notes(keys.channelNodes, nowMs, versionOf),
        notes(keys.nodesAbout, nowMs, aboutOf),
      ]);
      const ids = [...new Set([...versions.keys(), ...told.keys()])].sort();
      return ids.map((nodeId) => ({
        nodeId,
        version: versions.get(nodeId),
        about: told.get(nodeId),
      }));
    },

    async oldestNodeVersion(nowMs) {
      const versions = [...(await notes(keys.channelNodes, nowMs, versionOf)).values()];
      return versions.length === 0 ? undefined : Math.min(...versions);
    },

    async forgetNode(nodeId) {
      await answer(client.hdel(keys.channelNodes, nodeId));
      await answer(client.hdel(keys.nodesAbout, nodeId));
    },
  };
}

/** Reads `<version>:<expires ms>:…`, as `sync_node` writes it. */
function versionOf(note: string): { readonly expiresMs: number; readonly value: number } {
  const [version, expiresMs] = note.split(':').map(Number);
  return { expiresMs: expiresMs ?? 0, value: version ?? 0 };
}

function aboutOf(note: string): { readonly expiresMs: number; readonly value: NodeAbout } {
  const blank = note.indexOf(' ');
  return {
    expiresMs: Number(note.slice(0, blank)),
    value: JSON.parse(note.slice(blank + 1)) as NodeAbout,
  };
}
