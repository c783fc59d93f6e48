import type { Page, Slice } from '../store.js';
import type { Connection } from './connection.js';

/** A zset of members whose records are elsewhere. It may be ahead of them: missing records are left out. */
interface Listing<T> {
  readonly key: string;
  /** The records, in the order of the members. */
  readonly read: (members: readonly string[]) => Promise<readonly (T | undefined)[]>;
}

/** How many are read at once: a script for each account of them, which others wait for. */
const CHUNK = 100;

/** Newest first unless `compare` orders otherwise. Without a filter and an order, reads only the page; else everything, in parts. */
export async function pageOf<T>(
  { client, answer }: Connection,
  { key, read }: Listing<T>,
  { offset, limit }: Slice,
  matches?: (item: T) => boolean,
  compare?: (one: T, other: T) => number,
): Promise<Page<T>> {
  if (matches === undefined && compare === undefined) {
    const [total, members] = await Promise.all([
      answer(client.zcard(key)),
      limit > 0 ? answer(client.zrange(key, `${offset}`, `${offset + limit - 1}`, 'REV')) : [],
    ]);
    return { items: (await read(members)).filter((item) => item !== undefined), total };
  }
  const items: T[] = [];
  let total = 0;
  for (let start = 0; ; start += CHUNK) {
    const members = await answer(client.zrange(key, `${start}`, `${start + CHUNK - 1}`, 'REV'));
    if (members.length === 0) {
      if (compare === undefined) return { items, total };
      return { items: items.sort(compare).slice(offset, offset + limit), total };
    }
    for (const item of await read(members)) {
      if (item === undefined || matches?.(item) === false) continue;
      const isInside = total >= offset && items.length < limit;
      if (isInside || compare !== undefined) items.push(item);
      total += 1;
    }
  }
}
