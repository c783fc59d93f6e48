import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';

interface Sums {
  readonly requests: number;
  readonly failed: number;
  readonly documents: number;
  readonly quota: number;
  readonly cost?: number;
  readonly margin?: number;
}

interface Row extends Sums {
  readonly user_id: number | null;
  readonly username: string | null;
  readonly token_id: number | null;
  readonly token_name: string | null;
  readonly model: string | null;
  readonly channel: string | null;
  readonly tag: string | null;
  readonly provider: string | null;
}

interface Breakdown {
  readonly start_timestamp: number;
  readonly end_timestamp: number;
  readonly complete_from: number | null;
  readonly rows: readonly Row[];
  readonly total: Sums;
}

interface Series {
  readonly step_s: number;
  readonly steps: number;
  readonly complete_from: number | null;
  readonly total: Sums & { readonly p50: number | null };
  readonly series: readonly {
    readonly key: string;
    readonly name: string;
    readonly requests: readonly number[];
    readonly total: Sums & { readonly p50: number | null };
  }[];
}

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const nowS = Math.floor(Date.now() / 1_000);
/** When the first request was sent. */
let startedS = 0;
const SPAN = `start_timestamp=${nowS - 3 * DAY_S}&end_timestamp=${nowS + HOUR_S}`;
const LAST_HOUR = `start_timestamp=${nowS - HOUR_S}&end_timestamp=${nowS + 120}`;

let gateway: TestGateway;
let admin: Account;
let user: Account;
let other: Account;
let mine: { readonly key: string; readonly id: number };

function get<T>(account: Account, path: string) {
  return callApi<T>(gateway.url, 'GET', path, { token: account.token });
}

const breakdown = async (more = '', account = admin, self = ''): Promise<Breakdown> =>
  (await get<Breakdown>(account, `/api/stats${self}/breakdown?${SPAN}${more}`)).body.data;
const series = async (more = '', account = admin, self = ''): Promise<Series> =>
  (await get<Series>(account, `/api/stats${self}/series?${LAST_HOUR}${more}`)).body.data;

beforeAll(async () => {
  gateway = await startGateway({
    prices: { default: { per_search_unit: 1000 } },
    channels: [
      {
        ...{ name: 'inside', provider: 'local', models: ['one', 'two'], tag: 'house' },
        ...{ cost: 300, cost_per: 'search_unit' },
      },
      {
        name: 'away',
        provider: 'cohere',
        models: ['gone'],
        api_key: 'k',
        base_url: 'http://127.0.0.1:1',
      },
    ],
  });
  admin = await createAccount(gateway.store, { role: 10 });
  user = await createAccount(gateway.store, { quota: 10_000_000 });
  other = await createAccount(gateway.store, { quota: 10_000_000 });
  mine = await gateway.createKey({
    ...{ userId: user.user.id, name: 'search', policy: { labels: 'team=search' } },
  });
  const lab = await gateway.createKey({ userId: user.user.id, name: 'lab' });
  const theirs = await gateway.createKey({ userId: other.user.id, name: 'theirs' });
  startedS = Date.now() / 1_000;
  const ask = (key: string, model: string) =>
    gateway.post(key, { model, query: 'apple', documents: ['apple', 'pear', 'plum'] });
  for (let round = 0; round < 5; round += 1) await ask(mine.key, 'one');
  for (let round = 0; round < 3; round += 1) await ask(mine.key, 'two');
  await ask(lab.key, 'one');
  await ask(theirs.key, 'two');
  await ask(theirs.key, 'gone');
  await ask(theirs.key, 'no such model');
  await ask('sk-nobody', 'one');
  await eventually('the statistics are written', async () => {
    const [spent, seen] = [await breakdown(), await series()];
    // What was refused costs nothing, and may come with a later write.
    return spent.total.requests === 11 && seen.total.requests === 13;
  });
});
afterAll(() => gateway.close());

describe('spending', () => {
  it('adds up to what accounts and keys say was spent, to the unit', async () => {
    const { rows, total } = await breakdown('&by=token');

    expect(rows.reduce((sum, { quota }) => sum + quota, 0)).toBe(total.quota);
    expect(total).toMatchObject({ requests: 11, failed: 1, documents: 33 });
    const usedBy = async (account: Account): Promise<number> =>
      (await gateway.store.getUser(account.user.id, Date.now()))?.usedQuota ?? -1;
    expect(total.quota).toBe((await usedBy(user)) + (await usedBy(other)));
    expect(total.quota).toBeGreaterThan(0);
    const token = await gateway.store.getToken(mine.id, Date.now());
    expect(rows.find(({ token_id }) => token_id === mine.id)).toMatchObject({
      token_name: 'search',
      requests: 8,
      quota: token?.usedQuota,
    });
  });

  it('is grouped by one or two dimensions, with their names', async () => {
    const byUser = await breakdown('&by=user');
    const byBoth = await breakdown('&by=model&then=channel');

    expect(byUser.rows[0]).toMatchObject({
      user_id: user.user.id,
      username: user.user.username,
      requests: 9,
      model: null,
    });
    expect(byBoth.rows).toEqual([
      expect.objectContaining({ model: 'one', channel: 'inside', requests: 6 }),
      expect.objectContaining({ model: 'two', channel: 'inside', requests: 4 }),
      expect.objectContaining({ model: 'gone', channel: 'away', failed: 1, quota: 0 }),
    ]);
    expect(byBoth.total).toEqual(byUser.total);
    expect(await breakdown('&by=user&then=user')).toEqual(byUser);
    expect(byUser.complete_from).toBeGreaterThan(nowS - 120);
    // What is counted lies in the time that the numbers are said to be complete for.
    expect(byUser.complete_from).toBeLessThanOrEqual(startedS);
    expect((await series()).complete_from).toBe(byUser.complete_from);
    expect((await breakdown('&by=hour')).total).toEqual(byUser.total);
    const requestsBy = async (group: 'tag' | 'provider') =>
      (await breakdown(`&by=${group}`)).rows.map((row) => [row[group], row.requests]);
    expect(await requestsBy('tag')).toEqual([
      ['house', 10],
      [null, 1],
    ]);
    expect(await requestsBy('provider')).toEqual([
      ['local', 10],
      ['cohere', 1],
    ]);
    const ofLabel = await breakdown('&by=day&label=team%3Dsearch');
    expect(ofLabel.total.requests).toBe(8);
    for (const without of ['by=label', 'by=day&label=team']) {
      const { body } = await get(admin, `/api/stats/breakdown?${SPAN}&${without}`);
      expect(body.param).toBe('label');
    }
  });

  it('is given to somebody of their own alone', async () => {
    const own = await breakdown('&by=token', other, '/self');
    const csv = await fetch(`${gateway.url}/api/stats/self/breakdown?${SPAN}&by=model&format=csv`, {
      headers: { authorization: `Bearer ${other.token}` },
    });

    expect(own.rows).toEqual([expect.objectContaining({ token_name: 'theirs', requests: 2 })]);
    expect((await csv.text()).split('\r\n')[1]).toMatch(/^,,,,two,,,,,,,,,1,0,3,.*,1000,0\.002$/);
    expect((await get(other, `/api/stats/breakdown?${SPAN}`)).status).toBe(403);
    const channels = await get(other, `/api/stats/self/breakdown?${SPAN}&by=channel`);
    expect([channels.status, channels.body.param]).toEqual([400, 'by']);
  });

  it('has what upstreams cost and what is left, for those who see the spending of all', async () => {
    const { rows, total } = await breakdown('&by=channel');
    const [heading = '', first = ''] = (
      await (
        await fetch(`${gateway.url}/api/stats/breakdown?${SPAN}&by=channel&format=csv`, {
          headers: { authorization: `Bearer ${admin.token}` },
        })
      ).text()
    ).split('\r\n');

    // Ten calls that were answered, of one search unit each.
    expect(total).toMatchObject({ quota: 10_000, cost: 3_000, margin: 7_000 });
    expect(rows.map(({ channel, cost, margin }) => [channel, cost, margin])).toEqual([
      ['inside', 3_000, 7_000],
      ['away', 0, 0],
    ]);
    expect(heading).toMatch(/,dollars,cost_dollars,margin_dollars$/);
    expect(first).toMatch(/,0\.02,0\.006,0\.014$/);
    // Callers see what they pay, and never what it costs.
    const own = await breakdown('&by=model', user, '/self');
    const seen = JSON.stringify([own, await series('', user, '/self')]);
    expect(own.total.quota).toBeGreaterThan(0);
    expect(seen).not.toMatch(/cost|margin/);
    expect(
      await (
        await fetch(`${gateway.url}/api/stats/self/breakdown?${SPAN}&format=csv`, {
          headers: { authorization: `Bearer ${user.token}` },
        })
      ).text(),
    ).not.toMatch(/cost|margin/);
  });

  it('refuses a span that ends before it begins, or that nobody could read', async () => {
    const refused = async (span: string) =>
      (await get(admin, `/api/stats/breakdown?${span}`)).body.param;

    expect(await refused('start_timestamp=20&end_timestamp=20')).toBe('end_timestamp');
    expect(await refused(`start_timestamp=1&end_timestamp=${nowS}`)).toBe('start_timestamp');
    const days = (count: number) => `start_timestamp=${nowS - count * DAY_S}&end_timestamp=${nowS}`;
    for (const groups of ['by=hour', 'by=user&then=hour']) {
      expect(await refused(`${days(37)}&${groups}`)).toBe('start_timestamp');
      expect(await refused(`${days(36)}&${groups}`)).toBeUndefined();
    }
  });
});

describe('the overview', () => {
  interface Overview {
    readonly traffic: Series;
    readonly channels: readonly { readonly name: string; readonly total: Sums }[];
    readonly nodes: { readonly nodes: readonly { readonly standing: string }[] };
    readonly dark_models: readonly string[];
    readonly today: Breakdown;
  }

  it('has in one reply what an operator looks at first, and is for who may see all of it', async () => {
    const path = `/api/overview?${LAST_HOUR}`;
    const { data } = (await get<Overview>(admin, path)).body;

    expect(data.traffic.series.map(({ key }) => key).sort()).toEqual(['failed', 'ok', 'refused']);
    expect(data.channels).toMatchObject([
      { name: 'inside', total: { requests: 10, failed: 0 } },
      { name: 'away', total: { quota: 0 } },
    ]);
    expect(data.nodes.nodes).toMatchObject([{ standing: 'current' }]);
    expect(data.today.total).toEqual((await breakdown()).total);
    expect(data.today.start_timestamp).toBe(Math.floor(nowS / DAY_S) * DAY_S);
    const dayS = Math.floor(nowS / HOUR_S) * HOUR_S - 3 * HOUR_S;
    const inAZone = await get<Overview>(admin, `${path}&day_timestamp=${dayS}`);
    expect(inAZone.body.data.today.start_timestamp).toBe(dayS);
    expect(data.dark_models).toEqual([]);
    await callApi(gateway.url, 'POST', '/api/channel/tag/disabled', {
      token: admin.token,
      body: { tag: 'house' },
    });
    const auditor = await createAccount(gateway.store, { role: 5 });
    const { data: off } = (await get<Overview>(auditor, path)).body;
    expect(off.dark_models).toEqual(['one', 'two']);
    expect((await get(user, path)).status).toBe(403);
    await callApi(gateway.url, 'POST', '/api/channel/tag/enabled', {
      token: admin.token,
      body: { tag: 'house' },
    });
  });
});

describe('series', () => {
  it('have what callers saw by the minute, refusals included', async () => {
    const { step_s, steps, series: parts, total } = await series('&group=outcome');

    expect([step_s, steps]).toEqual([60, expect.any(Number)]);
    expect(
      Object.fromEntries(parts.map(({ key, total: { requests } }) => [key, requests])),
    ).toEqual({
      ok: 10,
      refused: 2,
      failed: 1,
    });
    expect(total).toMatchObject({ requests: 13, failed: 3 });
    expect(parts[0]?.requests.reduce((sum, each) => sum + each, 0)).toBe(10);
    expect(parts[0]?.requests).toHaveLength(steps);
    expect(total.p50).toBeGreaterThan(0);
  });

  it('of a channel are those of its attempts, with what its requests spent', async () => {
    const { series: parts, total } = await series('&group=channel');
    const byName = new Map(parts.map((part) => [part.name, part.total]));

    expect(byName.get('inside')).toMatchObject({ requests: 10, failed: 0, documents: 30 });
    expect(byName.get('away')?.failed).toBeGreaterThan(0);
    expect(byName.get('inside')?.quota).toBe(total.quota);
  });

  it.each([
    // The channel that is away was tried three times.
    ['tag', { house: 10, '': 3 }],
    ['provider', { local: 10, cohere: 3 }],
    ['model', { one: 6, two: 4, gone: 1, '': 2 }],
    ['user', 'accounts'],
  ])('are of each %s', async (group, expected) => {
    const { series: parts } = await series(`&group=${group}`);
    const accounts = { [user.user.username]: 9, [other.user.username]: 2 };

    expect(Object.fromEntries(parts.map(({ name, total }) => [name, total.requests]))).toEqual(
      expected === 'accounts' ? accounts : expected,
    );
  });

  it('of named channels are those of these channels alone, each by itself', async () => {
    const all = await series('&group=channel');
    const away = all.series.find(({ name }) => name === 'away');

    const { series: parts, total } = await series(`&group=channel&keys=${away?.key},999999`);

    expect(parts.map(({ name }) => name)).toEqual(['away']);
    expect(parts[0]?.total).toEqual(away?.total);
    expect(total).toEqual(all.total);
    const refused = async (count: number) => {
      const keys = Array.from({ length: count }, (_, at) => at).join();
      return (await get(admin, `/api/stats/series?${LAST_HOUR}&keys=${keys}`)).body.param;
    };
    expect([await refused(100), await refused(101)]).toEqual([undefined, 'keys']);
  });

  it('of a longer span have longer steps', async () => {
    const span = `start_timestamp=${nowS - 7 * DAY_S}&end_timestamp=${nowS + HOUR_S}`;
    const week = (await get<Series>(admin, `/api/stats/series?${span}`)).body.data;

    expect([week.step_s, week.total.requests]).toEqual([HOUR_S, 13]);
    const tooLong = `start_timestamp=${nowS - 40 * DAY_S}&end_timestamp=${nowS}`;
    expect((await get(admin, `/api/stats/series?${tooLong}`)).body.param).toBe('start_timestamp');
  });

  it('of somebody’s own are those of their keys, by the hour', async () => {
    const own = await series('&group=token', user, '/self');

    expect(own.step_s).toBe(HOUR_S);
    expect(own.series.map(({ name, total }) => [name, total.requests])).toEqual([
      ['search', 8],
      ['lab', 1],
    ]);
    expect((await get(user, `/api/stats/series?${LAST_HOUR}`)).status).toBe(403);
  });

  it('of somebody’s own tell what failed from what did not', async () => {
    const counts = ({ series: parts }: Series): unknown =>
      parts.map(({ key, total }) => `${key} ${total.requests}`).sort();

    expect(counts(await series('&group=outcome', user, '/self'))).toEqual(['ok 9']);
    const theirs = await series('&group=outcome', other, '/self');
    expect(counts(theirs)).toEqual(['failed 1', 'ok 1']);
    expect(theirs.total.requests).toBe(2);
    expect(counts(await series(`&group=outcome&user_id=${other.user.id}`))).toEqual(counts(theirs));
  });
});
