import { describe, expect, test } from '@jest/globals';
import { usageSums } from '../../../src/core/usage-members.js';
import type { AuditEntry, RefusedEntry, UsageEntry, UsageQuery } from '../../../src/store/store.js';
import { usageEntry } from '../../support/events.js';
import { freshStore, T0, unique, type OpenHarness } from './harness.js';

const MANY = 1_000;

function usage(given: Partial<UsageEntry> = {}): UsageEntry {
  return usageEntry({
    ...{ atMs: T0, requestId: unique('request'), tokenId: 1, tokenName: 'a key' },
    ...{ model: 'rerank-v1', tag: 'eu', inputTokens: 100, quota: 7, durationMs: 12.5 },
    ...given,
  });
}

function audit(given: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: T0,
    actorId: 1,
    actor: 'root',
    action: 'channel.update',
    target: 'channel 3',
    detail: { fields: ['weight'], before: 1 },
    address: '127.0.0.1',
    ...given,
  };
}

function refusal(given: Partial<RefusedEntry> = {}): RefusedEntry {
  return {
    atMs: T0,
    requestId: unique('request'),
    userId: 1,
    tokenId: 1,
    tokenName: 'a key',
    model: 'rerank-v1',
    outcome: 'no_channel_available',
    status: 503,
    message: 'No channel is available.',
    address: '192.0.2.7',
    node: 'node-a',
    documents: 3,
    durationMs: 0.5,
    repeated: 0,
    ...given,
  };
}

/** Entries as a log lists them. */
function logged(entries: readonly (object | undefined)[]): object[] {
  return entries.map((entry) => ({ ...entry, id: expect.any(Number) }));
}

export function describeLogs(open: OpenHarness): void {
  describe('usage log', () => {
    const given = freshStore(open);
    const list = async (query: Partial<UsageQuery> = {}): Promise<UsageEntry[]> => [
      ...(await given.store.listUsage({ offset: 0, limit: 100, ...query })).items,
    ];

    test('keeps entries whole, across connections, those without a channel too', async () => {
      const whole = usage();
      const refused = usage({
        atMs: T0 + 1,
        channelId: undefined,
        provider: undefined,
        tag: undefined,
        outcome: 'no_channel_available',
      });

      await given.store.appendUsage([whole, refused], MANY);

      const again = await given.reopen();
      expect(await again.listUsage({ offset: 0, limit: 10 })).toEqual({
        items: logged([refused, whole]),
        total: 2,
      });
    });

    test('lists newest first, those of one millisecond in the order of their coming', async () => {
      const entries = [0, 0, 0, 1, 1, 2].map((later) => usage({ atMs: T0 + later }));
      await given.store.appendUsage(entries.slice(0, 2), MANY);
      await given.store.appendUsage(entries.slice(2), MANY);
      await given.store.appendUsage([], MANY);
      const newestFirst = [...entries].reverse();

      expect(await list()).toEqual(logged(newestFirst));
      expect(await given.store.listUsage({ offset: 1, limit: 2 })).toEqual({
        items: logged(newestFirst.slice(1, 3)),
        total: 6,
      });
      expect(await given.store.listUsage({ offset: 6, limit: 2 })).toEqual({ items: [], total: 6 });
    });

    test('is in the order of time, in whatever order nodes wrote, and goes on in it', async () => {
      const of = (later: number, userId: number) => usage({ atMs: T0 + later, userId });
      await given.store.appendUsage([of(5, 1), of(2, 1), of(5, 2)], MANY);
      await given.store.appendUsage([of(1, 1), of(4, 2), of(2, 1), of(5, 1)], MANY);
      const page = async (query: Partial<UsageQuery>) =>
        (await given.store.listUsage({ offset: 0, limit: 100, ...query })).items;

      for (const query of [{}, { userId: 1 }, { outcome: 'ok' }]) {
        const all = await page(query);
        const times = all.map(({ atMs }) => atMs - T0);
        expect(times).toEqual([...times].sort((one, other) => other - one));
        for (const [at, { id }] of all.entries()) {
          expect(await page({ ...query, before: id })).toEqual(all.slice(at + 1));
        }
      }
      expect(await page({ before: 999_999_999 })).toEqual([]);
      // Also after an entry that the filter leaves out.
      const all = await page({});
      for (const [at, { id }] of all.entries()) {
        const later = all.slice(at + 1).filter(({ userId }) => userId === 1);
        expect(await page({ before: id, userId: 1 })).toEqual(later);
        const early = later.filter(({ atMs }) => atMs <= T0 + 2);
        expect(await page({ before: id, userId: 1, toMs: T0 + 2 })).toEqual(early);
      }
    });

    test('adds up exactly what a filter matches, in a long log', async () => {
      const tried = { channelId: 3, provider: 'tei', outcome: 'ok', message: '', durationMs: 900 };
      const entries = Array.from({ length: 2_600 }, (_, at) =>
        usage({
          // Some times have more entries than stores look at in one step.
          atMs: T0 + (at < 1_200 ? 7 : at % 90),
          ...{ userId: 1 + (at % 3), tokenId: at % 2 === 0 ? 3 : 31, quota: at, documents: at % 7 },
          ...{
            channelId: [3, 31, undefined][at % 3],
            tokenName: ['a', 'a b', 'a"b'][at % 3] ?? '',
          },
          ...{ outcome: at % 5 === 0 ? 'timeout' : 'ok', durationMs: (at % 40) + 0.5 },
          model: at % 4 === 0 ? 'm' : '","detail":"model":"m"',
          ...(at % 6 === 0
            ? { detail: { status: 200, upstreamMs: 1, node: 'n', tried: [tried] } }
            : {}),
        }),
      );
      for (let at = 0; at < entries.length; at += 400) {
        await given.store.appendUsage(entries.slice(at, at + 400), 10_000);
      }
      const failed = true as const;
      const queries: Partial<UsageQuery>[] = [
        ...[{}, { userId: 2 }, { tokenId: 3 }, { tokenName: 'a' }, { tokenName: 'a"b' }],
        ...[{ channelId: 3 }, { provider: 'tei' }, { outcome: 'ok' }, { failed }, { model: 'm' }],
        ...[{ minDurationMs: 20.5 }, { fromMs: T0 + 7, toMs: T0 + 7 }, { fromMs: T0 + 80 }],
        { userId: 1, tokenId: 31, failed, minDurationMs: 5, toMs: T0 + 30 },
      ];

      for (const { fromMs = 0, toMs = Infinity, ...query } of queries) {
        const { failed: ofFailed, minDurationMs = 0, ...equal } = query;
        const matching = entries.filter(
          (entry) =>
            entry.atMs >= fromMs &&
            entry.atMs <= toMs &&
            entry.durationMs >= minDurationMs &&
            (ofFailed === undefined || entry.outcome !== 'ok') &&
            Object.entries(equal).every(
              ([name, value]) => entry[name as keyof UsageEntry] === value,
            ),
        );
        const sumOf = (name: 'documents' | 'inputTokens' | 'quota'): number =>
          matching.reduce((sum, entry) => sum + entry[name], 0);
        const span = { ...(fromMs > 0 ? { fromMs } : {}), ...(toMs < Infinity ? { toMs } : {}) };
        expect([query, span, await given.store.usageStats({ ...query, ...span })]).toEqual([
          ...[query, span],
          {
            requests: matching.length,
            ...{ documents: sumOf('documents'), inputTokens: sumOf('inputTokens') },
            quota: sumOf('quota'),
          },
        ]);
      }
    });

    test('knows a batch again that is sent again, until its writer has sent the next one', async () => {
      const [first, second] = [usage(), usage({ atMs: T0 + 1 })];
      const mark = { writer: 'a node', serial: 1 };
      for (let times = 0; times < 3; times += 1) {
        await given.store.appendUsage([first, second], MANY, mark);
        await given.store.appendRefused([refusal()], MANY, mark);
      }
      expect(await list()).toEqual(logged([second, first]));
      expect((await given.store.listRefused({ offset: 0, limit: 10 })).total).toBe(1);

      const third = usage({ atMs: T0 + 2 });
      await given.store.appendUsage([third], MANY, { ...mark, serial: 2 });
      await given.store.appendUsage([first, second], MANY, mark);
      expect(await list()).toEqual(logged([third, second, first]));
      await given.store.appendUsage([third], MANY, { writer: 'another node', serial: 1 });
      expect(await list()).toEqual(logged([third, third, second, first]));
    });

    test('finds by user, token, model, channel, outcome and time, all of them together', async () => {
      const entries = [
        usage({ atMs: T0, userId: 1, tokenId: 1, tokenName: 'one' }),
        usage({ atMs: T0 + 1, userId: 1, tokenId: 2, tokenName: 'two', outcome: 'upstream_error' }),
        usage({ atMs: T0 + 2, userId: 2, tokenId: 3, tokenName: 'one', model: 'other' }),
        usage({ atMs: T0 + 3, userId: 12, tokenId: 4, channelId: 4 }),
      ];
      await given.store.appendUsage(entries, MANY);
      const indexes = async (query: Partial<UsageQuery>): Promise<number[]> =>
        (await list(query)).map(({ atMs }) => atMs - T0);

      expect(await indexes({ userId: 1 })).toEqual([1, 0]);
      expect(await indexes({ tokenId: 3 })).toEqual([2]);
      expect(await indexes({ tokenName: 'one' })).toEqual([2, 0]);
      expect(await indexes({ model: 'other' })).toEqual([2]);
      expect(await indexes({ channelId: 4 })).toEqual([3]);
      expect(await indexes({ outcome: 'ok' })).toEqual([3, 2, 0]);
      expect(await indexes({ fromMs: T0 + 1, toMs: T0 + 2 })).toEqual([2, 1]);
      expect(await indexes({ userId: 1, fromMs: T0 + 1 })).toEqual([1]);
      expect(await indexes({ userId: 1, tokenName: 'one', outcome: 'ok' })).toEqual([0]);
      expect(await indexes({ userId: 2, outcome: 'upstream_error' })).toEqual([]);
      const page = await given.store.listUsage({ outcome: 'ok', offset: 1, limit: 1 });
      expect(page).toEqual({ items: logged([entries[2]]), total: 3 });
    });

    test('finds every match in a long log, also among thousands of one millisecond', async () => {
      // Stores read such a log in parts of a thousand, which begin and end within a millisecond here.
      const times = [0, 1, 3].flatMap((later) =>
        Array.from({ length: later * 900 + 3 }, () => later),
      );
      const entries = times.map((later, index) =>
        usage({
          atMs: T0 + later,
          model: index % 400 === 0 ? 'a "rare" one' : 'usual',
          tag: 'model',
        }),
      );
      await given.store.appendUsage(entries, 10_000);
      const rare = entries.filter(({ model }) => model === 'a "rare" one').reverse();

      for (const toMs of [undefined, T0 + 3]) {
        const query = { model: 'a "rare" one', ...(toMs === undefined ? {} : { toMs }) };
        const found = await given.store.listUsage({ ...query, offset: 0, limit: 100 });
        expect(found).toEqual({ items: logged(rare), total: rare.length });
        const [, , third] = found.items;
        const rest = await given.store.listUsage({
          ...query,
          ...{ before: third?.id ?? 0, offset: 0, limit: 100 },
        });
        expect(rest.items).toEqual(found.items.slice(3));
      }
      const slow = await given.store.listUsage({ minDurationMs: 1, offset: 3_000, limit: 1_000 });
      expect(slow).toMatchObject({ total: entries.length });
      expect(slow.items).toHaveLength(entries.length - 3_000);
      expect(await given.store.usageStats({})).toMatchObject({ requests: entries.length });
    });

    test('finds every match once while others are written', async () => {
      // Stores read such a log in parts of a thousand.
      const old = Array.from({ length: 3_500 }, (_, index) => usage({ atMs: T0 + index }));
      await given.store.appendUsage(old, 100_000);
      let isReading = true;
      const write = async (): Promise<void> => {
        for (let later = 10_000; isReading; later += 1) {
          await given.store.appendUsage([usage({ atMs: T0 + later })], 100_000);
        }
      };
      const writing = [write(), write(), write()];
      const query = { model: 'rerank-v1', offset: 0, limit: 100_000 };
      const pages = [];
      for (let round = 0; round < 5; round += 1) pages.push(await given.store.listUsage(query));
      isReading = false;
      await Promise.all(writing);

      for (const { items, total } of pages) {
        expect(items.filter(({ atMs }) => atMs < T0 + 10_000)).toHaveLength(old.length);
        expect(new Set(items.map(({ requestId }) => requestId)).size).toBe(total);
      }
    });

    test('goes on after an entry without a gap or a repetition while others are written', async () => {
      const old = Array.from({ length: 400 }, (_, index) =>
        usage({ atMs: T0 + Math.floor(index / 3) }),
      );
      await given.store.appendUsage(old, 100_000);
      let isReading = true;
      const write = async (): Promise<void> => {
        for (let later = 10_000; isReading; later += 1) {
          await given.store.appendUsage([usage({ atMs: T0 + later })], 100_000);
        }
      };
      const writing = [write(), write(), write()];
      const read = [];
      for (const query of [{}, { outcome: 'ok' }]) {
        const [first] = (
          await given.store.listUsage({ ...query, toMs: T0 + 9_999, offset: 0, limit: 1 })
        ).items;
        const items = first === undefined ? [] : [first];
        for (let before = first?.id; before !== undefined; before = items.at(-1)?.id) {
          const page = await given.store.listUsage({ ...query, before, offset: 0, limit: 7 });
          items.push(...page.items);
          if (page.items.length === 0) break;
        }
        read.push(items);
      }
      isReading = false;
      await Promise.all(writing);

      const newestFirst = old.map(({ requestId }) => requestId).reverse();
      for (const items of read) {
        expect(items.map(({ requestId }) => requestId)).toEqual(newestFirst);
      }
    });

    test('finds every match that is kept once while others are written and the oldest are dropped', async () => {
      // Of each millisecond there are several.
      const old = Array.from({ length: 4_000 }, (_, index) =>
        usage({ atMs: T0 + Math.floor(index / 7) }),
      );
      await given.store.appendUsage(old, 100_000);
      let isReading = true;
      const write = async (): Promise<void> => {
        for (let later = 10_000; isReading; later += 1) {
          const added = [1, 2, 3].map(() => usage({ atMs: T0 + later }));
          await given.store.appendUsage(added, 4_000);
        }
      };
      const writing = [write(), write()];
      const query = { model: 'rerank-v1', offset: 0, limit: 100_000 };
      const pages = [];
      for (let round = 0; round < 5; round += 1) {
        const { items, total } = await given.store.listUsage(query);
        const { usageFromMs = 0 } = await given.store.logReach();
        pages.push({ items, total, usageFromMs });
      }
      isReading = false;
      await Promise.all(writing);

      for (const { items, total, usageFromMs } of pages) {
        const ids = new Set(items.map(({ requestId }) => requestId));
        expect(ids.size).toBe(total);
        const kept = old.filter(({ atMs }) => atMs > usageFromMs);
        expect(kept.filter(({ requestId }) => !ids.has(requestId))).toEqual([]);
      }
    });

    test('sums up what matches', async () => {
      await given.store.appendUsage(
        [usage(), usage({ quota: 3, documents: 5, inputTokens: 1 }), usage({ userId: 2 })],
        MANY,
      );

      expect(await given.store.usageStats({})).toMatchObject({
        requests: 3,
        quota: 17,
        documents: 25,
        inputTokens: 201,
      });
      expect(await given.store.usageStats({ userId: 1 })).toMatchObject({ requests: 2, quota: 10 });
      expect(await given.store.usageStats({ userId: 1, model: 'other' })).toEqual(
        usageSums(() => 0),
      );
    });

    test('sums up members in whatever order they were written', async () => {
      const entry = usage({ documents: 2, inputTokens: 30, quota: 500 });
      const reversed = Object.fromEntries(Object.entries(entry).toReversed()) as typeof entry;

      await given.store.appendUsage([entry, reversed], MANY);

      expect(await given.store.usageStats({})).toMatchObject({
        ...{ requests: 2, documents: 4, inputTokens: 60, quota: 1_000 },
      });
    });

    test('goes on after an entry, whatever was written since, and counts no further than asked', async () => {
      const of = (later: number, userId: number) => usage({ atMs: T0 + later, userId });
      await given.store.appendUsage([of(0, 1), of(1, 2), of(1, 1), of(1, 1), of(4, 1)], MANY);
      const page = async (query: Partial<UsageQuery>) => {
        const { items, total } = await given.store.listUsage({ offset: 0, limit: 2, ...query });
        return { ids: items.map(({ id }) => id), at: items.map(({ atMs }) => atMs - T0), total };
      };
      const first = await page({});
      const [, before = 0] = first.ids;
      await given.store.appendUsage([of(9, 1)], MANY);

      expect(first).toMatchObject({ at: [4, 1], total: 5 });
      const second = await page({ before });
      expect(second).toMatchObject({ at: [1, 1], total: 3 });
      expect(await page({ before, offset: 2 })).toMatchObject({ at: [0], total: 3 });
      expect(await page({ before, userId: 1 })).toMatchObject({ at: [1, 0], total: 2 });
      expect(await page({ before, outcome: 'ok', limit: 5 })).toMatchObject({ at: [1, 1, 0] });
      expect(await page({ before, fromMs: T0 + 1 })).toMatchObject({ at: [1, 1], total: 2 });
      expect(await page({ before, toMs: T0 })).toMatchObject({ at: [0], total: 1 });
      expect(await page({ count: false })).toMatchObject({ at: [9, 4], total: 3 });
      expect(await page({ count: false, outcome: 'ok' })).toMatchObject({ at: [9, 4], total: 3 });
      expect(await page({ count: false, limit: 6, outcome: 'ok' })).toMatchObject({ total: 6 });
      expect(await page({ count: false, before })).toMatchObject({ at: [1, 1], total: 3 });
      expect(await page({ count: false, offset: 8 })).toMatchObject({ at: [], total: 6 });
    });

    test('lists one request by its id, the newest if the id was used again', async () => {
      const entries = [0, 1, 2].map((later) => usage({ atMs: T0 + later, userId: later }));
      const again = usage({ atMs: T0 + 5, requestId: entries[1]?.requestId ?? '' });
      await given.store.appendUsage([...entries, again], MANY);
      const at = async (query: Partial<UsageQuery>) =>
        (await given.store.listUsage({ offset: 0, limit: 5, ...query })).items.map(
          ({ atMs }) => atMs - T0,
        );

      expect(await at({ requestId: again.requestId })).toEqual([5]);
      const [, , { requestId } = again] = entries;
      expect(await at({ requestId })).toEqual([2]);
      expect(await at({ requestId, userId: 2, fromMs: T0 + 2, toMs: T0 + 2 })).toEqual([2]);
      for (const query of [{ userId: 1 }, { toMs: T0 }, { before: 1 }, { outcome: 'other' }]) {
        expect(await at({ requestId, ...query })).toEqual([]);
      }
      expect(await at({ requestId: 'of nobody' })).toEqual([]);
    });

    test('drops the oldest beyond its bound, everywhere', async () => {
      const entries = [0, 1, 2, 3, 4].map((later) => usage({ atMs: T0 + later, userId: 5 }));

      for (const entry of entries) await given.store.appendUsage([entry], 3);

      const kept = logged([entries[4], entries[3], entries[2]]);
      expect(await given.store.listUsage({ offset: 0, limit: 10 })).toEqual({
        items: kept,
        total: 3,
      });
      expect(await given.store.listUsage({ userId: 5, offset: 0, limit: 10 })).toEqual({
        items: kept,
        total: 3,
      });
    });

    test('keeps the newest of a single append that exceeds the bound', async () => {
      const entries = [0, 1, 2, 3].map((later) => usage({ atMs: T0 + later }));

      await given.store.appendUsage(entries, 2);

      expect(await list()).toEqual(logged([entries[3], entries[2]]));
    });

    test('sums up more entries than are read at once', async () => {
      const entries = Array.from({ length: 2_500 }, (_, index) =>
        usage({ atMs: T0 + index, quota: 1, model: index % 2 === 0 ? 'even' : 'odd' }),
      );
      await given.store.appendUsage(entries, 10_000);

      expect(await given.store.usageStats({ model: 'even' })).toMatchObject({ requests: 1_250 });
      expect(await given.store.trimLogs(T0 + 2_400)).toBe(2_400);
      expect(await given.store.usageStats({})).toMatchObject({ requests: 100, quota: 100 });
    });
  });

  describe('details of requests', () => {
    const given = freshStore(open);

    test('are kept with what was tried, and found by the id of the request', async () => {
      const plain = usage();
      const failed = usage({
        atMs: T0 + 1,
        outcome: 'upstream_timeout',
        attempts: 2,
        detail: {
          message: 'No provider answered in time.',
          status: 504,
          upstreamMs: 8_212.5,
          node: 'node-b',
          source: 'console',
          tried: [
            {
              channelId: 3,
              provider: 'cohere',
              tag: 'eu',
              outcome: 'timeout',
              message: 'nothing came "in time" {"requestId":"another"}',
              durationMs: 8_000,
            },
            {
              channelId: 4,
              provider: 'tei',
              outcome: 'ok',
              status: 200,
              message: '',
              durationMs: 9,
            },
          ],
        },
      });
      await given.store.appendUsage([plain, failed], MANY);

      const again = await given.reopen();
      expect(await again.findRequest(failed.requestId)).toEqual({
        usage: failed,
        refused: undefined,
      });
      expect((await again.findRequest(plain.requestId)).usage).toEqual(plain);
      expect(await again.findRequest('another')).toEqual({ usage: undefined, refused: undefined });
    });

    test('are filtered by provider, tag, duration, and whether they failed', async () => {
      const tried = (outcomes: readonly string[]) => ({
        ...{ status: 504, upstreamMs: 9_000, node: 'node-a' },
        tried: outcomes.map((outcome) => ({
          ...{ channelId: 3, provider: 'cohere', outcome, message: '', durationMs: 9_000 },
        })),
      });
      await given.store.appendUsage(
        [
          usage({ atMs: T0, durationMs: 99.5 }),
          usage({ atMs: T0 + 1, provider: 'tei', tag: undefined, durationMs: 100 }),
          usage({ atMs: T0 + 2, outcome: 'upstream_error', durationMs: 101 }),
          usage({ atMs: T0 + 3, detail: tried(['timeout', 'ok']), durationMs: 0.000_000_5 }),
          usage({ atMs: T0 + 4, outcome: 'cancelled', detail: tried(['timeout', 'ok']) }),
        ],
        MANY,
      );
      const indexes = async (query: Partial<UsageQuery>): Promise<number[]> => {
        const page = await given.store.listUsage({ offset: 0, limit: 10, ...query });
        return page.items.map(({ atMs }) => atMs - T0);
      };

      expect(await indexes({ provider: 'tei' })).toEqual([1]);
      expect(await indexes({ tag: 'eu' })).toEqual([4, 3, 2, 0]);
      expect(await indexes({ minDurationMs: 100 })).toEqual([2, 1]);
      expect(await indexes({ minDurationMs: 100.5 })).toEqual([2]);
      expect(await indexes({ failed: true })).toEqual([4, 2]);
      expect(await indexes({ failed: true, minDurationMs: 102 })).toEqual([]);
      expect(await indexes({ tag: 'eu', minDurationMs: 100 })).toEqual([2]);
      expect(await indexes({ failed: true, limit: 1, offset: 1 })).toEqual([2]);
    });
  });

  describe('log of refused requests', () => {
    const given = freshStore(open);

    test('keeps entries whole, newest first, including those of nobody, and finds each by its id', async () => {
      const known = refusal();
      const unknown = refusal({
        atMs: T0 + 1,
        userId: undefined,
        tokenId: undefined,
        tokenName: undefined,
        model: undefined,
        address: undefined,
        outcome: 'invalid_api_key',
        status: 401,
        repeated: 412,
      });
      await given.store.appendRefused([known, unknown], MANY);
      await given.store.appendRefused([], MANY);

      const again = await given.reopen();
      expect(await again.listRefused({ offset: 0, limit: 10 })).toEqual({
        items: logged([unknown, known]),
        total: 2,
      });
      expect(await again.findRequest(unknown.requestId)).toEqual({
        usage: undefined,
        refused: unknown,
      });
    });

    test('finds by user, token, model, code, address and time', async () => {
      await given.store.appendRefused(
        [
          refusal({ tokenName: 'one' }),
          refusal({ atMs: T0 + 1, tokenId: 2, model: 'other', requestId: 'a-known-one' }),
          refusal({ atMs: T0 + 2, userId: 2, outcome: 'rate_limited', address: '192.0.2.8' }),
        ],
        MANY,
      );
      const indexes = async (
        query: Omit<Parameters<typeof given.store.listRefused>[0], 'offset' | 'limit'>,
      ): Promise<number[]> => {
        const page = await given.store.listRefused({ ...query, offset: 0, limit: 10 });
        expect(page.total).toBe(page.items.length);
        return page.items.map(({ atMs }) => atMs - T0);
      };

      expect(await indexes({ userId: 1 })).toEqual([1, 0]);
      expect(await indexes({ tokenId: 2 })).toEqual([1]);
      expect(await indexes({ tokenName: 'one' })).toEqual([0]);
      expect(await indexes({ model: 'other' })).toEqual([1]);
      expect(await indexes({ outcome: 'rate_limited' })).toEqual([2]);
      expect(await indexes({ address: '192.0.2.8' })).toEqual([2]);
      expect(await indexes({ minDurationMs: 1_000 })).toEqual([]);
      expect(await indexes({ requestId: 'a-known-one' })).toEqual([1]);
      expect(await indexes({ requestId: 'a-known-one', outcome: 'rate_limited' })).toEqual([]);
      expect(await indexes({ fromMs: T0 + 1, toMs: T0 + 1 })).toEqual([1]);
      expect(await indexes({ userId: 1, outcome: 'rate_limited' })).toEqual([]);
    });

    test('an id that is used again leads to the newest, and to nothing once that is gone', async () => {
      const first = refusal({ requestId: 'again' });
      const second = refusal({ requestId: 'again', atMs: T0 + 1, status: 401 });
      await given.store.appendRefused([first], MANY);
      await given.store.appendRefused([second], MANY);
      expect((await given.store.findRequest('again')).refused).toEqual(second);

      await given.store.appendRefused([refusal({ atMs: T0 + 2 })], 2);
      expect((await given.store.findRequest('again')).refused).toEqual(second);

      await given.store.appendRefused([refusal({ atMs: T0 + 2 })], 1);
      expect((await given.store.findRequest('again')).refused).toBeUndefined();
    });

    test('is bounded and trimmed with the others, and says how far it reaches back', async () => {
      expect(await given.store.logReach()).toEqual({
        usageFromMs: undefined,
        refusedFromMs: undefined,
      });
      await given.store.appendRefused([refusal(), refusal({ atMs: T0 + 5 })], MANY);
      await given.store.appendUsage([usage({ atMs: T0 + 1 }), usage({ atMs: T0 + 9 })], MANY);
      expect(await given.store.logReach()).toEqual({
        usageFromMs: T0 + 1,
        refusedFromMs: T0,
      });

      expect(await given.store.trimLogs(T0 + 2)).toBe(2);
      expect(await given.store.logReach()).toEqual({
        usageFromMs: T0 + 9,
        refusedFromMs: T0 + 5,
      });
    });
  });

  describe('audit log', () => {
    const given = freshStore(open);

    test('keeps entries whole, newest first, including those of nobody', async () => {
      const first = audit({
        name: 'hosted "one"',
        changes: [
          { member: 'weight', before: 1, after: null },
          { member: 'models', before: null, after: null, omitted: true },
        ],
      });
      const second = audit({ atMs: T0 + 1, actorId: undefined, address: undefined, detail: {} });

      await given.store.appendAudit(first, MANY);
      await given.store.appendAudit(second, MANY);

      const again = await given.reopen();
      expect(await again.listAudit({ offset: 0, limit: 10 })).toEqual({
        items: logged([second, first]),
        total: 2,
      });
    });

    test('finds by actor, action, target and time', async () => {
      const entries = [
        audit(),
        audit({ atMs: T0 + 1, actorId: 2, action: 'token.delete', target: 'token 9' }),
        audit({ atMs: T0 + 2, target: 'channel 4' }),
      ];
      for (const entry of entries) await given.store.appendAudit(entry, MANY);
      const indexes = async (
        query: Omit<Parameters<typeof given.store.listAudit>[0], 'offset' | 'limit'>,
      ): Promise<number[]> => {
        const page = await given.store.listAudit({ ...query, offset: 0, limit: 10 });
        expect(page.total).toBe(page.items.length);
        return page.items.map(({ atMs }) => atMs - T0);
      };

      expect(await indexes({ actorId: 1 })).toEqual([2, 0]);
      expect(await indexes({ actor: 'root' })).toEqual([2, 1, 0]);
      expect(await indexes({ actor: 'ada' })).toEqual([]);
      expect(await indexes({ action: 'token.delete' })).toEqual([1]);
      expect(await indexes({ target: 'channel 4' })).toEqual([2]);
      expect(await indexes({ fromMs: T0 + 1 })).toEqual([2, 1]);
      expect(await indexes({ toMs: T0, actorId: 1 })).toEqual([0]);
    });

    test('drops the oldest beyond its bound', async () => {
      const entries = [0, 1, 2].map((later) => audit({ atMs: T0 + later }));

      for (const entry of entries) await given.store.appendAudit(entry, 2);

      expect(await given.store.listAudit({ offset: 0, limit: 10 })).toEqual({
        items: logged([entries[2], entries[1]]),
        total: 2,
      });
    });
  });

  describe('trimming', () => {
    const given = freshStore(open);

    test('drops from both logs what is older, and not what is just as old', async () => {
      await given.store.appendUsage([usage({ atMs: T0 - 1 }), usage()], MANY);
      await given.store.appendAudit(audit({ atMs: T0 - 2 }), MANY);
      await given.store.appendAudit(audit(), MANY);

      expect(await given.store.trimLogs(T0)).toBe(2);

      expect((await given.store.listUsage({ offset: 0, limit: 10 })).total).toBe(1);
      expect((await given.store.listUsage({ userId: 1, offset: 0, limit: 10 })).total).toBe(1);
      expect((await given.store.listAudit({ offset: 0, limit: 10 })).total).toBe(1);
      expect(await given.store.trimLogs(T0)).toBe(0);
    });

    test('drops from the audit log alone what is older than that may be', async () => {
      await given.store.appendUsage([usage({ atMs: T0 - 2 })], MANY);
      for (const atMs of [T0 - 3, T0 - 2]) await given.store.appendAudit(audit({ atMs }), MANY);

      expect(await given.store.trimLogs(T0, T0 - 2)).toBe(2);

      expect((await given.store.listUsage({ offset: 0, limit: 10 })).total).toBe(0);
      expect((await given.store.listAudit({ offset: 0, limit: 10 })).items).toMatchObject([
        { atMs: T0 - 2 },
      ]);
    });
  });
}
