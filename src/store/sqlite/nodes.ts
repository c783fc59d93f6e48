import type { NodeAbout, NodeStore } from '../store.js';
import type { Database } from './database.js';

export function openNodes(database: Database): NodeStore {
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO nodes_about (id, expires_at_ms, about) VALUES (?, ?, ?)',
  );
  const removeOld = database.prepare<never>('DELETE FROM nodes_about WHERE expires_at_ms <= ?');
  const versions = database.prepare<{ readonly id: string; readonly version: number }>(
    'SELECT id, version FROM nodes WHERE expires_at_ms > ?',
  );
  const told = database.prepare<{ readonly id: string; readonly about: string }>(
    'SELECT id, about FROM nodes_about WHERE expires_at_ms > ?',
  );

  const oldest = database.prepare<{ readonly version: number | null }>(
    'SELECT min(version) AS version FROM nodes WHERE expires_at_ms > ?',
  );
  const remove = ['nodes', 'nodes_about'].map((table) =>
    database.prepare<never>(`DELETE FROM ${table} WHERE id = ?`),
  );

  return {
    describeNode: (about, keepMs) =>
      database.write(() => {
        removeOld.run(about.atMs);
        put.run(about.nodeId, about.atMs + keepMs, JSON.stringify(about));
      }),

    listNodes: (nowMs) =>
      database.read(() => {
        const live = new Map(versions.all(nowMs).map(({ id, version }) => [id, version]));
        const known = new Map(
          told.all(nowMs).map(({ id, about }) => [id, JSON.parse(about) as NodeAbout]),
        );
        return [...new Set([...live.keys(), ...known.keys()])].sort().map((nodeId) => ({
          nodeId,
          version: live.get(nodeId),
          about: known.get(nodeId),
        }));
      }),

    oldestNodeVersion: (nowMs) => database.read(() => oldest.get(nowMs)?.version ?? undefined),

    forgetNode: (nodeId) =>
      database.write(() => {
        for (const statement of remove) statement.run(nodeId);
      }),
  };
}
