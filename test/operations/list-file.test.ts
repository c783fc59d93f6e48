import { describe, expect, it } from '@jest/globals';
import { pageOrFile } from '../../src/operations/list-file.js';
import { FileReply } from '../../src/operations/operation.js';
import type { Page, Slice } from '../../src/store/store.js';

interface Entry {
  readonly id: number;
  readonly text: string;
}

const QUERY = { p: 1, page_size: 20, format: 'csv' } as const;
const FILE = { name: 'list', columns: ['id', 'text'] } as const;

/** Newest first, as logs are; one more is written before each reading but the first. */
function growing(count: number, text: string) {
  const entries = Array.from({ length: count }, (_, at): Entry => ({ id: count - at, text }));
  const limits: number[] = [];
  const read = ({ limit }: Slice, before: number | undefined): Promise<Page<Entry>> => {
    if (limits.length > 0) entries.unshift({ id: entries.length + 1, text });
    limits.push(limit);
    const rest = entries.filter(({ id }) => before === undefined || id < before);
    return Promise.resolve({ items: rest.slice(0, limit), total: rest.length });
  };
  return { limits, read };
}

const exported = (read: ReturnType<typeof growing>['read']) =>
  pageOrFile(
    QUERY,
    FILE,
    (entry: Entry) => entry,
    read,
    ({ id }) => id,
  );

describe('a list as a file', () => {
  it('is read in parts, and has each entry once while others are written', async () => {
    const { limits, read } = growing(1_200, 'a');

    const file = await exported(read);

    const text = file instanceof FileReply ? file.text : '';
    const ids = text.split('\r\n').slice(1, -1);
    expect(ids).toEqual(Array.from({ length: 1_200 }, (_, at) => `${1_200 - at},a`));
    expect(limits).toEqual([500, 500, 500]);
  });

  it('has lists and objects as JSON', async () => {
    const file = await pageOrFile(
      QUERY,
      FILE,
      (id: number) => ({ id, text: id === 1 ? ['a', 'b'] : { c: null } }),
      () => Promise.resolve({ items: [1, 2], total: 2 }),
    );

    expect(file).toMatchObject({
      text: 'id,text\r\n1,"[""a"",""b""]"\r\n2,"{""c"":null}"\r\n',
    });
  });

  it('holds 10 000 entries', async () => {
    const { read } = growing(10_000, 'a');

    const file = await pageOrFile(
      QUERY,
      FILE,
      (entry: Entry) => entry,
      (slice) => read(slice, undefined),
    );

    const text = file instanceof FileReply ? file.text : '';
    expect(text.split('\r\n')).toHaveLength(10_002);
  });

  it('is refused as soon as it is too large, by entries or by their size', async () => {
    const many = growing(10_001, 'a');
    const large = growing(9_000, 'a'.repeat(32 * 1024));

    await expect(exported(many.read)).rejects.toThrow('10001 entries match');
    await expect(exported(large.read)).rejects.toThrow('more than 16 MB');
    expect([many.limits.length, large.limits.length]).toEqual([1, 2]);
  });
});
