import type { Page, Slice } from '../store/store.js';

/** All of a list, `size` entries at a time. */
export async function* allOf<T>(
  size: number,
  list: (slice: Slice) => Promise<Page<T>>,
): AsyncGenerator<T> {
  for (let offset = 0; ; offset += size) {
    const { items, total } = await list({ offset, limit: size });
    yield* items;
    if (offset + size >= total) return;
  }
}
