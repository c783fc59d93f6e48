import { randomBytes, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/load-config.js';
import { PASSWORD_COST } from '../../src/management/password-cost.js';
import { hashSecret } from '../../src/management/secrets.js';
import { createRedemptionCodes } from '../../src/management/redemption-codes.js';
import { openStore } from '../../src/assembly/open-store.js';
import type { Store } from '../../src/store/store.js';
import {
  callApi,
  createAccount,
  PASSWORD,
  type Account,
  type ApiCall,
} from '../support/accounts.js';
import { runs } from '../support/long.js';
import { OPERATOR } from '../support/management.js';
import { eventually } from '../support/redis-server.js';
import { startFleet, type Fleet } from './fleet.js';
import { rerankBody } from './upstreams.js';

/** Accounts, codes and quota on two gateways over one Redis. A long run tries each race a hundred times. */

const ROUNDS = runs(5, 100);
/** Of races whose every attempt hashes a password, which takes a tenth of a second of a core. */
const SLOW_ROUNDS = Math.ceil(ROUNDS / 5);
const TIMEOUT_MS = 30_000 + ROUNDS * 3_000;
const ATTEMPTS = 8;
const PRICE = 7;
const GRANTED = 1_000_000;

let fleet: Fleet;
let store: Store;
/** Everything that must not be in Redis as it is. */
const secrets = new Set<string>();
let names = 0;

beforeAll(async () => {
  fleet = await startFleet({
    accounts: { attempts_per_address: 1_000_000, attempts_per_account: 1_000_000 },
    prices: { default: { per_request: PRICE } },
    channels: [{ name: 'local', provider: 'local', models: ['m'] }],
  });
  const config = loadConfig({ env: { REDIS_URL: fleet.redis.url } });
  store = await openStore(config.store);
}, 120_000);

afterAll(async () => {
  await store.close();
  await fleet.close();
});

function fresh(what: string): string {
  names += 1;
  return `${what}-${names}`;
}

/** As the gateways make it: they replace what costs less, in the middle of the first logins. */
const HASH_OF_PASSWORD = hashOfPassword();

function hashOfPassword(): string {
  const { ln, r, p } = PASSWORD_COST;
  const salt = randomBytes(16);
  const hash = scryptSync(PASSWORD, salt, 32, { N: 2 ** ln, r, p, maxmem: 256 * r * 2 ** ln });
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

async function account(fields: Parameters<typeof createAccount>[1] = {}): Promise<Account> {
  const made = await createAccount(store, { passwordHash: HASH_OF_PASSWORD, ...fields });
  secrets.add(made.token).add(made.cookie.replace(/^.*=/, ''));
  return made;
}

/** The same call on both gateways in turn, all at once. */
function race<T>(method: string, path: string, calls: readonly ApiCall[]) {
  return Promise.all(
    calls.map((call, index) => on<T>(index % 2 === 0 ? 0 : 1, method, path, call)),
  );
}

function on<T>(gateway: 0 | 1, method: string, path: string, call: ApiCall) {
  return callApi<T>(fleet.gateways[gateway].url, method, path, call);
}

function times<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

function statuses(replies: readonly { readonly status: number }[]): number[] {
  return replies.map(({ status }) => status).sort((a, b) => a - b);
}

async function quotaOf(id: number): Promise<number | undefined> {
  return (await store.getUser(id, Date.now()))?.quota;
}

async function code(quota: number): Promise<string> {
  const deps = { store, now: Date.now, randomBytes };
  const draft = { name: 'race', quota, count: 1, expiredTime: 0 };
  const [made] = await createRedemptionCodes(deps, draft, OPERATOR);
  secrets.add(made?.code ?? '');
  return made?.code ?? '';
}

async function inRounds(rounds: number, round: () => Promise<void>): Promise<void> {
  for (let index = 0; index < rounds; index += 1) await round();
}

describe('a redemption code', () => {
  it(
    'is redeemed once, whoever tries how often',
    async () => {
      const users = [await account(), await account()];
      let granted = 0;

      await inRounds(ROUNDS, async () => {
        const key = await code(5);
        granted += 5;
        const calls = times(ATTEMPTS, (index) => ({
          body: { key },
          cookie: users[index % 3 === 0 ? 0 : 1]?.cookie ?? '',
        }));

        const replies = await race('POST', '/api/user/topup', calls);

        expect(statuses(replies)).toEqual([200, ...times(ATTEMPTS - 1, () => 400)]);
        const quotas = await Promise.all(users.map(({ user }) => quotaOf(user.id)));
        expect(quotas.reduce<number>((sum, quota) => sum + (quota ?? 0), 0)).toBe(granted);
      });
    },
    TIMEOUT_MS,
  );

  it('is redeemed once by a hundred at the same time', async () => {
    const { user, cookie } = await account();
    const key = await code(5);

    const replies = await race(
      'POST',
      '/api/user/topup',
      times(100, () => ({ body: { key }, cookie })),
    );

    expect(statuses(replies).filter((status) => status === 200)).toHaveLength(1);
    expect(await quotaOf(user.id)).toBe(5);
  });

  it(
    'is redeemed once under one idempotency key, and all are told so',
    async () => {
      const { user, cookie } = await account();
      const headers = (name: string) => ({ 'idempotency-key': name });

      await inRounds(ROUNDS, async () => {
        const before = (await quotaOf(user.id)) ?? 0;
        const key = await code(5);
        const call = { body: { key }, cookie, headers: headers(fresh('key')) };

        const replies = await race<number>(
          'POST',
          '/api/user/topup',
          times(4, () => call),
        );
        const later = await on<number>(1, 'POST', '/api/user/topup', call);

        for (const { status } of replies) expect([200, 409]).toContain(status);
        expect([later.status, later.body.data]).toEqual([200, 5]);
        expect(await quotaOf(user.id)).toBe(before + 5);
      });
    },
    TIMEOUT_MS,
  );
});

describe('a one-time code', () => {
  it(
    'sets a password once, and leaves no login of before',
    async () => {
      await inRounds(SLOW_ROUNDS, async () => {
        const email = `${fresh('reset')}@example.com`;
        const { user, cookie, token } = await account({ email });
        const oneTime = randomBytes(12).toString('hex');
        secrets.add(oneTime);
        await store.putOneTimeCode(user.id, hashSecret(oneTime), Date.now(), 60_000);
        const resets = times(ATTEMPTS, (index) => ({
          body: { email, token: oneTime, password: `a new password, number ${index}` },
        }));

        const [replies, made] = await Promise.all([
          race('POST', '/api/user/reset', resets),
          race<string>(
            'POST',
            '/api/user/token',
            times(ATTEMPTS, () => ({ cookie })),
          ),
        ]);

        expect(statuses(replies)).toEqual([200, ...times(ATTEMPTS - 1, () => 400)]);
        const tokens = made.filter(({ status }) => status === 200).map(({ body }) => body.data);
        for (const old of [token, ...tokens]) {
          secrets.add(old);
          expect((await on(0, 'GET', '/api/user/self', { token: old })).status).toBe(401);
        }
        expect((await on(1, 'GET', '/api/user/self', { cookie })).status).toBe(401);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'survives the wrong tries of others, however many come at once',
    async () => {
      await inRounds(ROUNDS, async () => {
        const email = `${fresh('guess')}@example.com`;
        const { user } = await account({ email });
        await store.putOneTimeCode(user.id, hashSecret('right'), Date.now(), 60_000);
        const guess = (token: string) => ({ body: { email, token, password: PASSWORD } });

        await race(
          'POST',
          '/api/user/reset',
          times(5, (index) => guess(`wrong ${index}`)),
        );
        const [late] = await race('POST', '/api/user/reset', [guess('right')]);

        expect(late?.status).toBe(200);
      });
    },
    TIMEOUT_MS,
  );
});

describe('names and addresses', () => {
  it(
    'go to one account when many register',
    async () => {
      await inRounds(SLOW_ROUNDS, async () => {
        const name = fresh('Register');
        const calls = [name, name.toLowerCase(), name.toUpperCase(), ` ${name}`].map(
          (username) => ({
            body: { username, password: PASSWORD },
          }),
        );

        const replies = await race('POST', '/api/user/register', calls);

        expect(statuses(replies)).toEqual([200, 409, 409, 409]);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'go to one account when many take them, and it is found by them',
    async () => {
      const users = await Promise.all(times(4, () => account()));

      await inRounds(ROUNDS, async () => {
        const [one, two] = [fresh('taken'), fresh('taken')];
        const calls = users.flatMap(({ cookie }) =>
          [one, two, one].map((username) => ({ cookie, body: { username } })),
        );

        await race('PUT', '/api/user/self', calls);

        const now = await Promise.all(users.map(({ user }) => store.getUser(user.id, Date.now())));
        const borne = now.map((user) => user?.username ?? '');
        expect(new Set(borne).size).toBe(users.length);
        const found = await Promise.all(borne.map((name) => store.findUser(name, Date.now())));
        expect(found).toEqual(now);
      });
    },
    TIMEOUT_MS,
  );
});

describe('quota', () => {
  it(
    'adds up while admins move it, codes come in and requests spend it',
    async () => {
      const [admin, owner] = [await account({ role: 10 }), await account({ quota: GRANTED })];
      const { id } = owner.user;
      const made = await on<{ id: number; key: string }>(0, 'POST', '/api/token/', {
        cookie: owner.cookie,
        body: { name: 'spender', remain_quota: GRANTED },
      });
      const { key, id: tokenId } = made.body.data;
      secrets.add(key);
      let granted = GRANTED;
      let onToken = GRANTED;
      let spent = 0;

      await inRounds(ROUNDS, async () => {
        const codes = await Promise.all([code(11), code(11)]);
        granted += 22 + 4 * (100 - 30);
        onToken += 4 * 3;
        const moves = times(8, (index) => ({
          cookie: admin.cookie,
          body: { id, add_quota: index % 2 === 0 ? 100 : -30 },
        }));
        const edits = times(4, () => ({
          cookie: owner.cookie,
          body: { id: tokenId, add_quota: 3 },
        }));

        const [ranked, ...managed] = await Promise.all([
          Promise.all(
            times(6, (index) => fleet.gateways[index % 2 === 0 ? 0 : 1].post(key, rerankBody('m'))),
          ),
          race('PUT', '/api/user/', moves),
          race('PUT', '/api/token/', edits),
          race(
            'POST',
            '/api/user/topup',
            codes.map((each) => ({ cookie: owner.cookie, body: { key: each } })),
          ),
        ]);
        spent += PRICE * ranked.filter(({ status }) => status === 200).length;

        expect(new Set(ranked.map(({ status }) => status))).toEqual(new Set([200]));
        expect(new Set(managed.flatMap(statuses))).toEqual(new Set([200]));
      });

      const settled = async () => {
        const [user, token] = [
          await store.getUser(id, Date.now()),
          await store.getToken(tokenId, Date.now()),
        ];
        return { left: user?.quota, used: user?.usedQuota, key: token?.remainQuota };
      };
      const expected = { left: granted - spent, used: spent, key: onToken - spent };
      await eventually('all is settled', async () => (await settled()).used === spent);
      expect(await settled()).toEqual(expected);
    },
    TIMEOUT_MS,
  );
});

describe('roles', () => {
  it(
    'end as some order of the changes would have it',
    async () => {
      const [admin, root] = [await account({ role: 10 }), await account({ role: 100 })];

      await inRounds(ROUNDS, async () => {
        const { user } = await account();
        const promote = { cookie: root.cookie, body: { id: user.id, action: 'promote' } };
        const [promoted, others] = await Promise.all([
          race('POST', '/api/user/manage', [promote]),
          race(
            'PUT',
            '/api/user/',
            times(4, () => ({ cookie: admin.cookie, body: { id: user.id, role: 0 } })),
          ),
        ]);

        // Root's change comes through at the latest when it is asked for again; nothing of the admin's comes after it.
        for (const { status } of others) expect([200, 403, 409]).toContain(status);
        if (promoted[0]?.status === 409) {
          expect((await on(0, 'POST', '/api/user/manage', promote)).status).toBe(200);
        }
        expect((await store.getUser(user.id, Date.now()))?.role).toBe(10);
      });
    },
    TIMEOUT_MS,
  );
});

describe('logins', () => {
  it(
    'in parallel each have a session of their own, and none outlives the end of all',
    async () => {
      await inRounds(SLOW_ROUNDS, async () => {
        const { user, cookie } = await account({ username: fresh('login') });
        const call = { body: { username: user.username, password: PASSWORD } };

        const replies = await race(
          'POST',
          '/api/user/login',
          times(4, () => call),
        );
        const cookies = replies.map(
          ({ headers }) => headers.get('set-cookie')?.split(';')[0] ?? '',
        );
        for (const each of cookies) secrets.add(each.replace(/^.*=/, ''));
        const alive = await race(
          'GET',
          '/api/user/self',
          cookies.map((each) => ({ cookie: each })),
        );
        await on(0, 'POST', '/api/user/logout', { cookie, body: { everywhere: true } });
        const ended = await race(
          'GET',
          '/api/user/self',
          cookies.map((each) => ({ cookie: each })),
        );

        expect(new Set(cookies).size).toBe(4);
        expect(statuses(alive)).toEqual([200, 200, 200, 200]);
        expect(statuses(ended)).toEqual([401, 401, 401, 401]);
      });
    },
    TIMEOUT_MS,
  );
});

it('keeps nothing secret in Redis', async () => {
  secrets.add(PASSWORD).add('a new password, number');
  const dump = await dumpOf(fleet.redis.url);

  expect(dump.length).toBeGreaterThan(1_000);
  expect([...secrets].filter((secret) => secret === '' || dump.includes(secret))).toEqual([]);
});

/** Every key with what it holds, as text. */
async function dumpOf(url: string): Promise<string> {
  const redis = new Redis(url);
  const lines: string[] = [];
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    const value = await readers[type]?.(redis, key);
    if (value === undefined) throw new Error(`${key} is a ${type}`);
    lines.push(`${key} ${JSON.stringify(value)}`);
  }
  redis.disconnect();
  return lines.join('\n');
}

const readers: Readonly<Record<string, (redis: Redis, key: string) => Promise<unknown>>> = {
  string: (redis, key) => redis.get(key),
  hash: (redis, key) => redis.hgetall(key),
  zset: (redis, key) => redis.zrange(key, '0', '-1'),
  set: (redis, key) => redis.smembers(key),
  list: (redis, key) => redis.lrange(key, 0, -1),
  stream: (redis, key) => redis.xrange(key, '-', '+'),
};
