import { describe, expect, it } from '@jest/globals';
import { listRequests, newest, type LoggedRequest } from '../../src/management/requests.js';
import type { LogStore, RefusedEntry, UsageEntry } from '../../src/store/store.js';
import { usageEntry } from '../support/events.js';
import { freshManagement, NOW } from '../support/management.js';
import { fc } from '../support/property.js';

const MANY = 100_000;
const BOUND = 1_000;

function refusedEntry(fields: Partial<RefusedEntry>): RefusedEntry {
  return {
    ...{ atMs: NOW, requestId: 'refused', userId: 1, tokenId: 2, tokenName: 'search' },
    ...{ model: 'a', outcome: 'rate_limited', status: 429, message: 'Too many requests.' },
    ...{ address: '192.0.2.1', node: 'node-a', documents: 0, durationMs: 1, repeated: 0 },
    ...fields,
  };
}

const idsOf = (items: readonly LoggedRequest[]): string[] =>
  items.map(({ entry }) => entry.requestId);

interface Written {
  readonly kind: 'admitted' | 'refused';
  readonly atMs: number;
  readonly userId: number;
  readonly model: 'a' | 'b';
}

const WRITTEN = fc.record<Written>({
  kind: fc.constantFrom('admitted', 'refused'),
  // Close to one another, so that many are of the same millisecond.
  atMs: fc.integer({ min: NOW, max: NOW + 5 }),
  userId: fc.constantFrom(1, 2),
  model: fc.constantFrom('a', 'b'),
});

async function write(store: LogStore, all: readonly Written[], from = 0): Promise<void> {
  const entries = all.map(({ kind, ...entry }, at) => ({
    kind,
    entry: { ...entry, requestId: `${kind} ${from + at}` },
  }));
  const of = (kind: Written['kind']) =>
    entries.flatMap((found) => (found.kind === kind ? [found.entry] : []));
  await store.appendUsage(of('admitted').map(usageEntry), BOUND);
  await store.appendRefused(of('refused').map(refusedEntry), BOUND);
}

describe('both logs in one list', () => {
  const management = freshManagement();

  it('has each request once, newest first, however the pages are cut and whatever is written meanwhile', async () => {
    const lists = fc.record({
      written: fc.array(WRITTEN, { maxLength: 25 }),
      late: fc.array(WRITTEN, { maxLength: 3 }),
      pageSize: fc.integer({ min: 1, max: 7 }),
      filter: fc.constantFrom<object>({}, { model: 'a' }, { userId: 2 }, { kind: 'refused' }),
    });
    await fc.assert(
      fc.asyncProperty(lists, async ({ written, late, pageSize, filter }) => {
        const { store } = management;
        await store.trimLogs(Infinity);
        await write(store, written);
        const all = await listRequests(store, filter, { limit: MANY });
        const read: LoggedRequest[] = [];
        let total = 0;
        for (;;) {
          const before = read.at(-1)?.id;
          const slice = before === undefined ? {} : { before };
          const page = await listRequests(store, filter, { limit: pageSize, ...slice });
          if (read.length === 0) total = page.total;
          expect(page.total).toBe(all.total - read.length);
          read.push(...page.items);
          if (page.items.length < pageSize) break;
          // Newer than all of them.
          await write(
            store,
            late.map((entry) => ({ ...entry, atMs: NOW + 10 })),
            MANY + read.length * 10,
          );
        }

        const matching = written.filter((entry) =>
          Object.entries(filter).every(([name, value]) => entry[name as keyof Written] === value),
        );
        expect(total).toBe(matching.length);
        expect(new Set(idsOf(read)).size).toBe(matching.length);
        expect(idsOf(read)).toEqual(idsOf(all.items));
        const times = read.map(({ entry }) => entry.atMs);
        expect(times).toEqual([...times].sort((one, other) => other - one));
      }),
      { numRuns: 60 },
    );
  });

  it('counts no further than one beyond the page, if that is enough', async () => {
    const { store } = management;
    await write(store, [
      { kind: 'admitted', atMs: NOW, userId: 1, model: 'a' },
      { kind: 'admitted', atMs: NOW + 1, userId: 1, model: 'a' },
      { kind: 'refused', atMs: NOW + 2, userId: 1, model: 'a' },
    ]);

    const { items, total } = await listRequests(store, {}, { limit: 1, count: false });
    expect(items).toMatchObject([{ kind: 'refused' }]);
    expect(total).toBe(2);
  });

  it.each<[object, string[]]>([
    [{}, ['refused', 'failed', 'served']],
    [{ failed: true }, ['refused', 'failed']],
    [{ outcome: 'ok' }, ['served']],
    [{ outcome: 'rate_limited' }, ['refused']],
    [{ provider: 'cohere' }, ['failed', 'served']],
    [{ address: '192.0.2.1' }, ['refused']],
    [{ kind: 'admitted' }, ['failed', 'served']],
    [{ kind: 'admitted', address: '192.0.2.1' }, []],
    [{ requestId: 'refused' }, ['refused']],
    [{ minDurationMs: 50 }, ['failed']],
  ])('asks each log for what it can have: %j', async (filter, expected) => {
    const { store } = management;
    const served: UsageEntry[] = [
      usageEntry({ atMs: NOW, requestId: 'served' }),
      usageEntry({
        ...{ atMs: NOW + 1, requestId: 'failed', outcome: 'upstream_error', durationMs: 80 },
      }),
    ];
    await store.appendUsage(served, BOUND);
    await store.appendRefused([refusedEntry({ atMs: NOW + 2 })], BOUND);

    const { items, total } = await listRequests(store, filter, { limit: 10 });
    expect(idsOf(items)).toEqual(expected);
    expect(total).toBe(expected.length);
  });

  it.each(['7', 'a-b', '--', '-1-2', "1-1-1'"])('refuses to go on after "%s"', async (before) => {
    const reading = listRequests(management.store, {}, { limit: 1, before });

    await expect(reading).rejects.toMatchObject({ code: 'invalid_request', param: 'before' });
  });
});

it.each([
  [1, 2, 'refused'],
  [2, 1, 'admitted'],
  [1, undefined, 'admitted'],
  [undefined, 1, 'refused'],
  [undefined, undefined, undefined],
])(
  'of an id that was admitted at %s and refused at %s, the newest is the one %s',
  (at, refusedAt, kind) => {
    const usage = at === undefined ? undefined : usageEntry({ atMs: at });
    const refused = refusedAt === undefined ? undefined : refusedEntry({ atMs: refusedAt });

    expect(newest({ usage, refused })?.kind).toBe(kind);
  },
);
