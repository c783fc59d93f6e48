import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '../../src/operations/index.js';
import type { Operation } from '../../src/operations/operation.js';
import { callApi, createAccount, PASSWORD } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import {
  cohereChannel,
  rankLikeCohere,
  sendJson,
  startUpstream,
  type Answer,
  type TestUpstream,
} from '../support/upstream.js';

/** Every operation of the table, asked by a user after traffic of all kinds, so that a new one is held to the same. */

const SECRETS = {
  channel: 'qx-name-of-channel',
  address: 'qx-path-of-address',
  model: 'qx-model-of-upstream',
  words: 'qx words of the upstream',
  key: 'qx-key-of-upstream',
};

let upstream: TestUpstream;
let gateway: TestGateway;
let user: { readonly token: string; readonly id: number };
let admin: string;
/** What the gateway answered, in all. */
const replies: string[] = [];
const ids = { token: 0, requests: [] as string[], key: '' };

const answerIn: Record<string, Answer> = {
  ranked: (request, res) => rankLikeCohere(request, res),
  failed: (_request, res) => sendJson(res, { message: SECRETS.words }, 500),
  // What an upstream says of the request itself is the caller's to know, but for secrets in it.
  refused: (_request, res) =>
    sendJson(res, { message: `no such model: ${SECRETS.model}, key ${SECRETS.key}` }, 400),
  nonsense: (_request, res) => sendJson(res, { results: SECRETS.words }),
  denied: (_request, res) => sendJson(res, { message: SECRETS.words }, 401),
};

async function ask(model: string, path = '/v1/rerank'): Promise<number> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ids.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, query: 'moons', documents: ['Saturn has moons.', 'Oil.'] }),
  });
  replies.push([...response.headers].join('\n'), await response.text());
  ids.requests.push(response.headers.get('x-request-id') ?? '');
  return response.status;
}

beforeAll(async () => {
  upstream = await startUpstream();
  const channel = (name: string, models: Readonly<Record<string, string>>, more = {}) =>
    cohereChannel(`${SECRETS.channel}-${name}`, `${upstream.url}/${SECRETS.address}`, {
      ...{ api_key: SECRETS.key, models, ...more },
    });
  gateway = await startGateway({
    accounts: { attempts_per_address: 100_000, attempts_per_account: 100_000, registration: true },
    channels: [
      channel('one', { m: SECRETS.model, other: SECRETS.model }),
      channel('two', { m: SECRETS.model }, { tag: 'hosted' }),
      channel('off', { off: SECRETS.model }, { enabled: false }),
      { name: 'inside', provider: 'local', models: { local: 'local/lexical' } },
    ],
  });
  const account = await createAccount(gateway.store, { quota: 1_000_000_000 });
  user = { token: account.token, id: account.user.id };
  admin = (await createAccount(gateway.store, { role: 100 })).token;
  const made = await gateway.createKey({ userId: user.id });
  [ids.token, ids.key] = [made.id, made.key];
  for (const answer of Object.values(answerIn)) {
    upstream.answer(answer);
    for (const model of ['m', 'other', 'off', 'unknown', 'm@hosted', 'm@nothing']) await ask(model);
  }
  upstream.answer(rankLikeCohere);
  await ask('m', '/v1/rerank?explain=true');
  for (const path of ['/api/log/self', '/api/log/self/refused']) {
    await until(`${path} has entries`, async () => {
      const call = { token: user.token };
      const { body } = await callApi<{ total: number }>(gateway.url, 'GET', path, call);
      return body.data.total >= 5;
    });
  }
}, 60_000);

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const NOW_S = Math.floor(Date.now() / 1_000);
const SPAN = `start_timestamp=${NOW_S - 3_000}&end_timestamp=${NOW_S + 600}`;

const RANK = { query: 'moons', documents: ['Saturn has moons.', 'Oil.'] };

/** How a user may ask, besides without anything: queries and bodies of each operation. */
function asks(): Readonly<Record<string, readonly unknown[]>> {
  const series = (groups: readonly string[]): string[] =>
    groups.map((group) => `?${SPAN}&group=${group}`);
  const broken = (groups: readonly string[]): string[] =>
    groups.flatMap((by) => [`?${SPAN}&by=${by}`, `?${SPAN}&by=${by}&format=csv`]);
  const lists = ['?page_size=100', '?format=csv', '?outcome=upstream_error', '?channel_id=1'];
  const groups = ['none', 'channel', 'tag', 'provider', 'model', 'outcome', 'token', 'user'];
  return {
    listOwnUsage: [...lists, ...ids.requests.map((id) => `?request_id=${id}`)],
    listOwnRefusals: lists,
    sumOwnUsage: ['', '?model=m', '?channel_id=1'],
    ownUsageSeries: series(groups),
    ownUsageBreakdown: broken([...groups, 'hour']),
    listTokens: ['?page_size=100', '?format=csv', '?status=1', `?user_id=1`],
    searchTokens: ['?keyword=key', `?token=${ids.key}`],
    findToken: [{ key: ids.key }],
    createToken: [{ name: 'more' }, { name: 'curious', may_explain: true }],
    updateToken: [
      { id: ids.token, name: 'renamed' },
      { id: ids.token, may_explain: true },
    ],
    rankForComparison: [
      ...['m', 'other', 'off', 'local', 'unknown', 'm@hosted'].map((model) => ({ model, ...RANK })),
      { model: 'm', channel_id: 1, ...RANK },
      { model: 'm', channel_id: 1, ignore_switches: true, ...RANK },
    ],
    saveExample: [{ name: 'one', content: { query: 'moons', documents: [{ text: 'Saturn' }] } }],
    updateSelf: [{ display_name: 'Somebody else' }],
    login: [{ username: 'nobody', password: PASSWORD }],
    topUp: [{ key: 'no-such-code' }],
    explainRoute: [{ model: 'm' }],
    probeAddress: [{ base_url: upstream.url }],
  };
}

/** What takes something away from the account that asks comes last. */
const ENDS = new Set([
  'logout',
  'logoutByLink',
  'createAccessToken',
  'endSession',
  'deleteSelf',
  'deleteToken',
  'deleteTokens',
  'rollToken',
]);

function pathsOf({ path }: Operation): string[] {
  if (path.includes(':request_id')) {
    return ids.requests.map((id) => path.replace(':request_id', id));
  }
  return ['1', String(ids.token)].map((id) => path.replaceAll(/:\w+/g, id));
}

async function send(operation: Operation, path: string, body: unknown): Promise<number> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: operation.method,
    headers: {
      authorization: `Bearer ${operation.access === 'key' ? ids.key : user.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  replies.push(`${operation.id}: ${[...response.headers].join('\n')}`, await response.text());
  return response.status;
}

/** Members that are about channels, wherever they are in a reply. */
function channelsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(channelsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, inner]) => {
    const tells = /^(channel|channel_id|channel_name|provider|upstream_model|base_url)$/.test(name);
    return [...(tells && inner !== null ? [{ [name]: inner }] : []), ...channelsIn(inner)];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

describe('what a user sees', () => {
  it('is a refusal where a channel is named', async () => {
    const body = { model: 'm', channel_id: 1, ...RANK };
    const reply = await callApi(gateway.url, 'POST', '/api/playground/rank', {
      ...{ token: user.token, body },
    });
    expect(reply.status).toBe(403);
    expect(reply.body).toMatchObject({ code: 'permission_denied', param: 'channel_id' });
  });

  it('is no channel, no address and no word of an upstream, by any operation', async () => {
    const given = asks();
    const ordered = [
      ...OPERATIONS.filter(({ id }) => !ENDS.has(id)),
      ...OPERATIONS.filter(
        ({ id }) => ENDS.has(id) && id !== 'deleteSelf' && !id.startsWith('log'),
      ),
    ];
    const done = new Set<string>();
    for (const operation of ordered) {
      for (const path of new Set(pathsOf(operation))) {
        for (const one of ['', ...(given[operation.id] ?? [])]) {
          const query = typeof one === 'string' ? one : '';
          const body =
            typeof one === 'string' ? (operation.body === undefined ? undefined : {}) : one;
          const status = await send(operation, `${path}${query}`, body);
          if (status === 200) done.add(operation.id);
        }
      }
    }
    // Each operation that shows a user anything showed something, or nothing was tried.
    const shows = ordered.filter(({ access, method }) => access === 'login' && method === 'GET');
    const silent = new Set(['getExample', 'logoutByLink']);
    expect(shows.filter(({ id }) => !done.has(id) && !silent.has(id))).toEqual([]);
    expect(done.has('rankForComparison')).toBe(true);
    expect(
      [...done].filter((id) => ['usageSeries', 'listUsage', 'listChannels'].includes(id)),
    ).toEqual([]);

    for (const secret of [...Object.values(SECRETS), new URL(upstream.url).host]) {
      const told = replies.filter((text) => text.includes(secret));
      expect(told).toEqual([]);
    }
    expect(replies.flatMap((text) => channelsIn(parsed(text)))).toEqual([]);
  }, 120_000);

  it('is the whole of it for an admin, so that the search would have found it', async () => {
    const seen: string[] = [];
    for (const path of ['/api/channel', '/api/log', '/api/channel/models']) {
      const { body } = await callApi(gateway.url, 'GET', path, { token: admin });
      seen.push(JSON.stringify(body));
    }
    const failed = ids.requests.map((id) =>
      callApi(gateway.url, 'GET', `/api/log/request/${id}`, { token: admin }),
    );
    for (const { body } of await Promise.all(failed)) seen.push(JSON.stringify(body));
    for (const name of ['channel', 'address', 'model', 'words'] as const) {
      expect(seen.some((text) => text.includes(SECRETS[name]))).toBe(true);
    }
  });
});
