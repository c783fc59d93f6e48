import { Redis } from 'ioredis';
import { eventually, type RedisCluster } from './redis-server.js';

/** Moves the slot of a key to the next node of a Cluster, key by key, as `redis-cli --cluster reshard` does. */
export async function moveSlotOf(
  { nodes }: RedisCluster,
  key: string,
  pauseMs: number,
): Promise<void> {
  const clients = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  try {
    const ids = await Promise.all(clients.map((client) => client.cluster('MYID')));
    const [first] = clients;
    if (first === undefined) throw new Error('a Cluster has nodes');
    const slot = await first.cluster('KEYSLOT', key);
    const ownerId = await ownerOf(first, slot);
    const from = ids.indexOf(ownerId);
    const to = (from + 1) % nodes.length;
    const [source, target] = [clients[from], clients[to]];
    if (source === undefined || target === undefined) throw new Error('nobody has the slot');
    await target.cluster('SETSLOT', slot, 'IMPORTING', ownerId);
    await source.cluster('SETSLOT', slot, 'MIGRATING', ids[to] ?? '');
    for (;;) {
      const keys = await source.cluster('GETKEYSINSLOT', slot, 1);
      if (keys.length === 0) break;
      const port = nodes[to]?.port ?? 0;
      await eventually('the next node takes a key', () => migrated(source, port, keys));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    await target.cluster('SETSLOT', slot, 'NODE', ids[to] ?? '');
    await source.cluster('SETSLOT', slot, 'NODE', ids[to] ?? '');
    for (const client of clients) {
      await eventually('every node knows where the slot is', async () => {
        return (await ownerOf(client, slot)) === ids[to];
      });
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}

/** A node that missed the others' signs of life for a moment, on a busy machine, takes nothing until it hears them again. */
async function migrated(source: Redis, port: number, keys: readonly string[]): Promise<boolean> {
  try {
    await source.migrate('127.0.0.1', port, '', 0, 5_000, 'KEYS', ...keys);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('CLUSTERDOWN')) return false;
    throw error;
  }
}

async function ownerOf(client: Redis, slot: number): Promise<string> {
  const ranges = await client.cluster('SLOTS');
  const range = ranges.find(([low, high]) => low <= slot && slot <= high);
  return range?.[2]?.[2] ?? '';
}
