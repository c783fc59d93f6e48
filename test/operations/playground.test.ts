import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { rankLikeCohere, startUpstream, type TestUpstream } from '../support/upstream.js';

interface Attempt {
  readonly channel: string | null;
  readonly outcome: string;
  readonly status: number | null;
  readonly message: string;
}

interface Ranked {
  readonly request_id: string;
  readonly model: string;
  readonly channel: { readonly name: string; readonly tag: string | null } | null;
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly upstream_model: string | null;
  readonly score_scale: string | null;
  readonly quota: number;
  readonly timing: Readonly<Record<'total_ms' | 'admission_ms' | 'upstream_ms', number>>;
  readonly attempts: readonly Attempt[];
  readonly warnings: readonly string[];
}

const BODY = { query: 'apple', documents: ['a pear', 'an apple', 'a plum'], model: 'local' };

let gateway: TestGateway;
let upstream: TestUpstream;
let admin: Account;
let user: Account;
const ids: Record<string, number | undefined> = {};

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    prices: { default: { per_search_unit: 1000 } },
    channels: [
      { name: 'inside', provider: 'local', models: ['local'], tag: 'own' },
      {
        ...{ name: 'new', provider: 'local', models: { local: 'local/lexical' }, tag: 'trial' },
        priority: -1,
      },
      {
        ...{ name: 'ordered', provider: 'cohere', base_url: upstream.url, models: ['ordered'] },
        credentials: { apiKey: 'k' },
      },
      { name: 'away', provider: 'tei', base_url: 'http://127.0.0.1:9', models: ['gpu'] },
    ],
  });
  const { channels } = await gateway.store.loadChannels();
  for (const { id, name } of channels) ids[name] = id;
  admin = await createAccount(gateway.store, { role: 10, quota: 1_000_000 });
  user = await createAccount(gateway.store, { quota: 1_000_000 });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function rank(account: Account, change: object = {}) {
  return callApi<Ranked>(gateway.url, 'POST', '/api/playground/rank', {
    token: account.token,
    body: { ...BODY, ...change },
  });
}

const consoleKeys = async (account: Account) =>
  (await gateway.store.listTokens({ userId: account.user.id, offset: 0, limit: 10 }, Date.now()))
    .items;

describe('the playground', () => {
  it('ranks with a login, and charges the account through a key that nobody has', async () => {
    const { body } = await rank(user);

    expect(body.data.results.map(({ index }) => index)[0]).toBe(1);
    expect(body.data).toMatchObject({ model: 'local', quota: 1_000 });
    await eventually(
      'it is settled',
      async () => (await consoleKeys(user))[0]?.usedQuota === 1_000,
    );
    expect(await consoleKeys(user)).toMatchObject([
      { name: 'console', policy: { rateLimit: 60, maxConcurrency: 4 } },
    ]);
    const { usedQuota } = (await gateway.store.getUser(user.user.id, Date.now())) ?? {};
    expect(usedQuota).toBe(1_000);
  });

  it('makes that key once, however many lanes begin at the same time', async () => {
    const newcomer = await createAccount(gateway.store, { quota: 1_000_000 });

    const replies = await Promise.all([1, 2, 3, 4].map(() => rank(newcomer)));

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await consoleKeys(newcomer)).toHaveLength(1);
  });

  it('tells admins alone which channel it was', async () => {
    expect((await rank(user)).body.data.channel).toBeNull();
    expect((await rank(admin)).body.data.channel).toMatchObject({ name: 'inside', tag: 'own' });
    expect((await rank(admin, { model: 'local@own' })).status).toBe(200);
  });

  it('ranks with the channel that an admin names, even if it is switched off', async () => {
    await callApi(gateway.url, 'POST', '/api/channel/tag/disabled', {
      token: admin.token,
      body: { tag: 'trial' },
    });
    const trial = { channel_id: ids.new, reason: 'is it any good?' };

    const live = await rank(admin, { channel_id: ids.inside });
    const off = await rank(admin, trial);
    const ignored = await rank(admin, { ...trial, ignore_switches: true });

    expect(live.body.data).toMatchObject({ channel: { name: 'inside' }, quota: 1_000 });
    expect([off.status, off.body.code]).toEqual([503, 'no_channel_available']);
    expect(ignored.body.data).toMatchObject({
      channel: { name: 'new' },
      upstream_model: 'local/lexical',
      score_scale: 'probability',
    });
    const { items } = await gateway.store.listAudit({
      ...{ action: 'playground.rank', offset: 0, limit: 1 },
    });
    expect(items).toMatchObject([
      {
        target: `channel:${String(ids.new)}`,
        detail: { model: 'local', ignoresSwitches: true, reason: 'is it any good?' },
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('apple');
  });

  it('asks that channel once and no other', async () => {
    const { status, body } = await rank(admin, { channel_id: ids.away, model: 'gpu' });
    const { body: foreign } = await rank(admin, { channel_id: ids.away });

    expect([status, body.code]).toEqual([502, 'upstream_error']);
    expect(foreign.code).toBe('model_not_found');
  });

  it('lists the calls that it took, in the upstream’s words for admins alone, even if it fails', async () => {
    const ranked = await rank(admin);
    const own = await rank(user);
    const failed = await rank(admin, { channel_id: ids.away, model: 'gpu' });
    const ownFailed = await rank(user, { model: 'gpu' });

    const { attempts, timing } = ranked.body.data;
    expect(attempts).toMatchObject([
      { channel: 'inside', outcome: 'ok', status: 200, message: '' },
    ]);
    expect(timing.admission_ms).toBeGreaterThanOrEqual(0);
    expect(timing.admission_ms).toBeLessThanOrEqual(timing.total_ms);
    expect(own.body.data.attempts).toMatchObject([{ channel: null, outcome: 'ok' }]);
    const besides = ({ body }: { body: object }) =>
      (body as { attempts?: readonly Attempt[] }).attempts;
    expect(besides(failed)).toMatchObject([
      { channel: 'away', outcome: 'transient', status: null },
    ]);
    expect(besides(failed)?.[0]?.message).not.toBe('');
    expect(besides(ownFailed)?.[0]).toMatchObject({ channel: null, message: '' });
  });

  it('ranks objects by their text or by the members that are named, and passes the options on', async () => {
    const documents = [
      { text: 'a pear', title: 'apple' },
      { text: 'an apple', title: 'plum' },
    ];

    const byText = await rank(user, { documents });
    await rank(user, { documents, model: 'ordered', priority: 7, top_n: 9 });
    const byTitle = await rank(user, { documents, rank_fields: ['title'] });
    const neither = await rank(user, { documents: [{ title: 'apple' }] });
    const picture = await rank(user, { documents: [{ image: 'https://example.com/a.png' }] });
    const far = await rank(user, { priority: 1_000 });

    expect(byText.body.data.results[0]?.index).toBe(1);
    expect(byTitle.body.data.results[0]?.index).toBe(0);
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? '')).toMatchObject({ priority: 7, top_n: 2 });
    expect([neither.status, neither.body.code]).toEqual([400, 'invalid_documents']);
    expect(picture.body.message).toContain('accepts images');
    expect([far.status, far.body.param]).toEqual([400, 'priority']);
  });

  it('refuses documents that are nested too deeply to be written back', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const { status, body } = await callApi(gateway.url, 'POST', '/api/playground/rank', {
      token: user.token,
      body: `{"query":"a","model":"local","documents":[{"text":"a","more":${deep}}]}`,
      headers: { 'idempotency-key': 'deep' },
    });

    expect([status, body.code, body.param]).toEqual([400, 'invalid_request', 'documents.0']);
  });

  it.each([
    [64, 200],
    [65, 400],
  ])('takes documents of so many levels: %i, %i', async (levels, status) => {
    const more = JSON.parse('{"a":'.repeat(levels - 1) + '1' + '}'.repeat(levels - 1)) as object;

    expect((await rank(user, { documents: [{ text: 'a', more }] })).status).toBe(status);
  });

  it('says how long it was until the key was admitted', async () => {
    upstream.answer(async (request, res) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return rankLikeCohere(request, res);
    });

    const { timing } = (await rank(user, { model: 'ordered' })).body.data;

    upstream.answer(rankLikeCohere);
    expect(timing.admission_ms + timing.upstream_ms).toBeLessThanOrEqual(timing.total_ms);
  });

  it('lets nobody but admins name a channel', async () => {
    const { status, body } = await rank(user, { channel_id: ids.inside });
    const alone = await rank(admin, { ignore_switches: true });

    expect([status, body.code]).toEqual([403, 'permission_denied']);
    expect([alone.status, alone.body.code]).toEqual([400, 'invalid_request']);
    expect((await rank(user)).body.data.upstream_model).toBeNull();
  });

  it('takes lists that are larger than other bodies, and fails under the id of its answer', async () => {
    const large = 'a long document. '.repeat(60_000);
    const { status } = await rank(user, { documents: [large, 'apple'] });
    const failed = await fetch(`${gateway.url}/api/playground/rank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...BODY, model: 'no such model' }),
    });

    expect(status).toBe(200);
    const id = failed.headers.get('x-request-id') ?? '';
    await eventually('the refusal is found', async () => {
      const { refused } = await gateway.store.findRequest(id);
      return refused?.outcome === 'model_not_found' && refused.status === 404;
    });
  });

  it('fails with the codes of the rerank API, and is in the log either way', async () => {
    const unknown = await rank(user, { model: 'no such model' });
    const blank = await rank(user, { query: ' ' });
    const empty = await rank(user, { documents: [' ', '  '] });
    const poor = await rank(await createAccount(gateway.store));

    expect([unknown.status, unknown.body.code]).toEqual([404, 'model_not_found']);
    expect([blank.status, blank.body.code]).toEqual([400, 'invalid_query']);
    expect([empty.status, empty.body.code]).toEqual([400, 'invalid_documents']);
    expect([poor.status, poor.body.code]).toEqual([403, 'insufficient_user_quota']);
    const { request_id: id } = (await rank(user, { top_n: 1 })).body.data;
    await eventually('it is logged', async () => {
      const { usage } = await gateway.store.findRequest(id);
      return usage?.detail?.source === 'console' && usage.tokenName === 'console';
    });
  });

  it('is bounded by the limits of that key, which admins may change', async () => {
    const [key] = await consoleKeys(user);
    await callApi(gateway.url, 'PUT', '/api/token', {
      token: admin.token,
      body: { id: key?.id, rate_limit: 1 },
    });

    const replies = [await rank(user), await rank(user), await rank(user)];

    expect(replies.at(-1)?.body.code).toBe('rate_limited');
  });
});
