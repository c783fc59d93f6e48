import { randomBytes, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { callApi, createAccount, PASSWORD } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { PASSWORD_COST } from '../support/password-cost.js';
import { until } from '../support/until.js';
import { startUpstream } from '../support/upstream.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    server: { trusted_proxies: ['127.0.0.1'] },
    accounts: { attempts_per_account: 5, attempts_per_address: 20 },
  });
});
afterAll(() => gateway.close());

let address = 0;

/** A login from an address of its own, so that the tests do not use up each other's attempts. */
function logIn(body: unknown, headers: Record<string, string> = {}) {
  address += 1;
  return callApi<{ id: number; username: string }>(gateway.url, 'POST', '/api/user/login', {
    body,
    headers: { 'x-forwarded-for': `192.0.2.${address}`, ...headers },
  });
}

describe('login', () => {
  it('is noted with the address, the browser and the time', async () => {
    const { user } = await createAccount(gateway.store, { role: 10 });
    const agent = `Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0 ${'x'.repeat(300)}`;
    const before = Math.floor(Date.now() / 1000);

    const reply = await logIn(
      { username: user.username, password: PASSWORD },
      { 'user-agent': agent },
    );
    const cookie = reply.headers.get('set-cookie') ?? '';
    await callApi(gateway.url, 'POST', '/api/user/token', { cookie, body: {} });

    const self = await callApi<{ last_login_time: number }>(gateway.url, 'GET', '/api/user/self', {
      cookie,
    });
    expect(reply.body.data).toMatchObject({ last_login_time: self.body.data.last_login_time });
    expect(self.body.data.last_login_time).toBeGreaterThanOrEqual(before);
    const { body } = await callApi<
      { kind: string; address: string | null; agent: string | null; used_time: number }[]
    >(gateway.url, 'GET', '/api/user/session', { cookie });
    expect(body.data).toMatchObject([
      { kind: 'access_token', address: '127.0.0.1', current: false },
      { kind: 'session', address: `192.0.2.${address}`, agent: agent.slice(0, 256) },
      { kind: 'session', address: null, agent: null },
    ]);
    expect(body.data[1]?.used_time).toBeGreaterThanOrEqual(before);
    const sorted = await callApi<{ items: { id: number }[] }>(
      gateway.url,
      'GET',
      '/api/user?sort=-last_login_time',
      { cookie },
    );
    expect(sorted.body.data.items[0]?.id).toBe(user.id);
    const unknown = await callApi(gateway.url, 'GET', '/api/user?sort=shoe_size', { cookie });
    expect([unknown.status, unknown.body.param]).toEqual([400, 'sort']);
  });

  it('gives a cookie that the browser keeps to itself, and the account', async () => {
    const { user } = await createAccount(gateway.store);

    const reply = await logIn({ username: user.username, password: PASSWORD });

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ success: true, data: { id: user.id, role: 1, status: 1 } });
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const cookie = reply.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^rerank_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    const among = `theme=dark; ${cookie.split(';')[0] ?? ''} ; last=1`;
    const self = await callApi(gateway.url, 'GET', '/api/user/self', { cookie: among });
    expect(self.status).toBe(200);
    const again = await callApi(gateway.url, 'POST', '/api/user/logout', { body: {}, cookie });
    expect(again.status).toBe(200);
  });

  it('marks the cookie Secure behind a proxy that speaks https', async () => {
    const { user } = await createAccount(gateway.store);

    const reply = await logIn(
      { username: user.username, password: PASSWORD },
      { 'x-forwarded-proto': 'https' },
    );

    expect(reply.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('accepts the address of the account in any case', async () => {
    await createAccount(gateway.store, { email: 'Ann@example.com' });

    const reply = await logIn({ username: 'ann@EXAMPLE.com', password: PASSWORD });

    expect(reply.status).toBe(200);
  });

  it('answers alike to a wrong password and to an account that does not exist', async () => {
    const { user } = await createAccount(gateway.store);

    const wrong = await logIn({ username: user.username, password: 'something else' });
    const unknown = await logIn({ username: 'nobody-of-that-name', password: 'something else' });

    expect(wrong.status).toBe(401);
    expect(wrong.body).toEqual({ ...unknown.body, request_id: wrong.headers.get('x-request-id') });
    expect(wrong.headers.get('set-cookie')).toBeNull();
  });

  it('says that an account is disabled only to those who know its password', async () => {
    const { user } = await createAccount(gateway.store, { enabled: false });

    const right = await logIn({ username: user.username, password: PASSWORD });
    const wrong = await logIn({ username: user.username, password: 'something else' });

    expect([right.status, right.body.code]).toEqual([403, 'user_disabled']);
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthorized']);
  });

  it('rehashes a password whose hash is weaker than today’s', async () => {
    const { user } = await createAccount(gateway.store, { passwordHash: weakHash() });

    const first = await logIn({ username: user.username, password: PASSWORD });
    const recorded = await gateway.store.getPasswordHash(user.id);
    const second = await logIn({ username: user.username, password: PASSWORD });

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(recorded).toContain(`$scrypt$ln=${PASSWORD_COST.ln},`);
  });

  it('lets all in who log in at once with a password whose hash is weaker than today’s', async () => {
    const { user } = await createAccount(gateway.store, { passwordHash: weakHash() });

    const logins = await Promise.all(
      [1, 2, 3, 4].map(() => logIn({ username: user.username, password: PASSWORD })),
    );

    expect(logins.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('counts wrong passwords by account and address, so that nobody locks others out', async () => {
    const { user } = await createAccount(gateway.store);
    const stranger = { 'x-forwarded-for': '198.51.100.1' };
    const wrong = { username: user.username, password: 'wrong one' };

    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      statuses.push((await logIn(wrong, stranger)).status);
    }
    const right = { username: user.username, password: PASSWORD };
    const refused = await logIn(right, stranger);
    const owner = await logIn(right);

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(owner.status).toBe(200);
  });

  it('forgets the wrong passwords of an address after the right one', async () => {
    const { user } = await createAccount(gateway.store);
    const home = { 'x-forwarded-for': '198.51.100.2' };
    const attempt = async (password: string) =>
      (await logIn({ username: user.username, password }, home)).status;

    const statuses: number[] = [];
    for (const password of ['no', 'no', 'no', 'no', PASSWORD, 'no', 'no', 'no', 'no', PASSWORD]) {
      statuses.push(await attempt(password));
    }

    expect(statuses).toEqual([401, 401, 401, 401, 200, 401, 401, 401, 401, 200]);
  });

  it('counts the codes that one account tries, from whatever addresses', async () => {
    const { cookie } = await createAccount(gateway.store);
    const tried = async (): Promise<number> => {
      address += 1;
      const headers = { 'x-forwarded-for': `192.0.2.${address}` };
      const body = { key: 'no such code' };
      const reply = await callApi(gateway.url, 'POST', '/api/user/topup', {
        ...{ cookie, body, headers },
      });
      return reply.status;
    };

    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) statuses.push(await tried());

    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  });

  it('counts attempts on one account however its name is typed', async () => {
    const { user } = await createAccount(gateway.store, { username: 'fishmonger' });
    const typed = ['fishmonger', ' FISHMONGER', 'ﬁshmonger', 'ｆishmonger', '\u00a0ﬁshmonger '];
    const here = { 'x-forwarded-for': '198.51.100.4' };

    for (const username of typed) await logIn({ username, password: 'wrong one' }, here);
    const refused = await logIn({ username: user.username, password: PASSWORD }, here);

    expect(refused.status).toBe(429);
  });

  it('counts one address behind a proxy that names ports too', async () => {
    const statuses: number[] = [];
    for (let port = 1; port <= 21; port += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.9:${port}` };
      statuses.push((await logIn({}, headers)).status);
    }

    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 400), 429]);
  });

  it('counts attempts from one address, and from one /64 of IPv6, on any account', async () => {
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const reply = await logIn('not even JSON', {
        'x-forwarded-for': `2001:db8::${attempt.toString(16)}`,
      });
      statuses.add(reply.status);
    }
    const refused = await logIn({}, { 'x-forwarded-for': '2001:db8::ffff' });
    const neighbour = await logIn({}, { 'x-forwarded-for': '2001:db8:0:1::1' });

    expect([...statuses]).toEqual([400]);
    expect(refused.status).toBe(429);
    expect(neighbour.status).toBe(400);
  });
});

describe('logout', () => {
  it.each(['POST', 'GET'])('ends one login and leaves the others: by %s', async (method) => {
    const { cookie, token } = await createAccount(gateway.store);
    const given = { cookie, ...(method === 'GET' ? {} : { body: {} }) };

    const out = await callApi(gateway.url, method, '/api/user/logout', given);
    const again = await callApi(gateway.url, method, '/api/user/logout', given);
    const other = await callApi(gateway.url, 'POST', '/api/user/token', { token });

    expect(out.headers.get('set-cookie')).toMatch(/^rerank_session=; Path=\/; Max-Age=0;/);
    expect([out.status, again.status, other.status]).toEqual([200, 401, 200]);
  });

  it('ends everything when asked to', async () => {
    const { cookie, token } = await createAccount(gateway.store);

    await callApi(gateway.url, 'POST', '/api/user/logout/', { body: { everywhere: true }, token });
    const byCookie = await callApi(gateway.url, 'POST', '/api/user/token', { cookie });
    const byToken = await callApi(gateway.url, 'POST', '/api/user/token', { token });

    expect([byCookie.status, byToken.status]).toEqual([401, 401]);
  });
});

describe('access tokens', () => {
  it('end when a new one is made', async () => {
    const { cookie, token } = await createAccount(gateway.store);

    const made = await callApi<string>(gateway.url, 'POST', '/api/user/token', { cookie });
    const old = await callApi(gateway.url, 'GET', '/api/user/logout', { token });
    const fresh = await callApi(gateway.url, 'GET', '/api/user/logout', {
      headers: { authorization: made.body.data },
    });

    expect(made.body.data).toMatch(/^at-[\w-]{43}$/);
    expect([old.status, fresh.status]).toEqual([401, 200]);
  });

  it('are made once for each idempotency key, and kept unreadable', async () => {
    const { cookie } = await createAccount(gateway.store);
    const make = (headers: Record<string, string>) =>
      callApi<string>(gateway.url, 'POST', '/api/user/token', { cookie, headers });

    const keep = jest.spyOn(gateway.store, 'completeIdempotent');

    const first = await make({ 'idempotency-key': 'a' });
    const again = await make({ 'idempotency-key': 'a' });
    const other = await make({ 'idempotency-key': 'b' });

    expect(again.body).toEqual(first.body);
    expect(other.body.data).not.toBe(first.body.data);
    const kept = keep.mock.calls.map((call) => JSON.stringify(call));
    expect(kept).toHaveLength(2);
    expect(kept[0]).not.toContain(first.body.data);
    expect(
      Buffer.from(keep.mock.calls[0]?.[2].body ?? '', 'base64').toString('latin1'),
    ).not.toContain(first.body.data);
  });

  it('last as many seconds as whoever makes them asks for', async () => {
    const { cookie } = await createAccount(gateway.store);
    const as = { cookie, body: { expires_in: 3_600 } };
    await callApi(gateway.url, 'POST', '/api/user/token', as);

    const { body } = await callApi<{ kind: string; created_time: number; expires_time: number }[]>(
      gateway.url,
      'GET',
      '/api/user/session',
      { cookie },
    );

    const token = body.data.find(({ kind }) => kind === 'access_token');
    expect((token?.expires_time ?? 0) - (token?.created_time ?? 0)).toBe(3_600);
  });

  it('end when their time is up, whatever whoever made them asked for', async () => {
    const own = await startGateway({ accounts: { access_token_ms: 5_000 } });
    const { cookie } = await createAccount(own.store);
    const make = async (body: object) =>
      (await callApi<string>(own.url, 'POST', '/api/user/token', { cookie, body })).body.data;
    const ask = async (token: string) =>
      (await callApi(own.url, 'GET', '/api/user/self', { token })).status;

    const token = await make({ expires_in: 86_400 });
    const first = await ask(token);
    await until('it has ended', async () => (await ask(token)) === 401);
    await own.close();

    expect(first).toBe(200);
  });
});

describe('what admins see of logins', () => {
  it('includes every login, and they may end those of roles below theirs', async () => {
    const user = await createAccount(gateway.store);
    const admin = await createAccount(gateway.store, { role: 10 });
    const equal = await createAccount(gateway.store, { role: 10 });
    const ask = <T>(method: string, path: string, token = admin.token) =>
      callApi<T>(gateway.url, method, path, { token });
    const list = (id: number) =>
      ask<{ id: string; kind: string; current: boolean }[]>('GET', `/api/user/${id}/session`);

    const before = await list(user.user.id);
    const session = before.body.data.find(({ kind }) => kind === 'session');
    const path = `/api/user/${user.user.id}/session/${session?.id ?? ''}`;
    const byUser = await ask('DELETE', path, user.token);
    const ended = await ask('DELETE', `${path}?reason=left`);
    const again = await ask('DELETE', path);
    const [of] = (await list(equal.user.id)).body.data;
    const equals = await ask('DELETE', `/api/user/${equal.user.id}/session/${of?.id ?? ''}`);

    expect(before.body.data).toHaveLength(2);
    expect(before.body.data.every(({ current }) => !current)).toBe(true);
    expect([byUser, ended, again, equals].map(({ status }) => status)).toEqual([
      403, 200, 404, 403,
    ]);
    expect((await list(user.user.id)).body.data.map(({ kind }) => kind)).toEqual(['access_token']);
    expect((await list(999_999)).status).toBe(404);
  });

  it('includes who logged in or failed to, and from where, in the audit log', async () => {
    const { user } = await createAccount(gateway.store);
    const admin = await createAccount(gateway.store, { role: 10 });
    await logIn({ username: user.username, password: 'a wrong one' });
    await logIn({ username: user.username, password: PASSWORD });
    await logIn({ username: 'nobody-of-that-name', password: PASSWORD });
    const noted = async () => {
      const path = `/api/audit?target=user:${user.id}`;
      const reply = await callApi<{
        items: { action: string; actor: string; address: string; detail: object }[];
      }>(gateway.url, 'GET', path, { token: admin.token });
      return reply.body.data.items.filter(({ action }) => action.startsWith('user.login'));
    };
    await until('both are noted', async () => (await noted()).length === 2);
    await gateway.store.updateUser(user.id, { enabled: false }, Date.now());
    await logIn({ username: user.username, password: PASSWORD });
    await until('all are noted', async () => (await noted()).length === 3);

    const items = await noted();

    const failures = ['user.login_failed', 'user.login_failed'];
    expect(items.map(({ action }) => action).sort()).toEqual(['user.login', ...failures]);
    expect(items[0]?.detail).toEqual({ code: 'user_disabled' });
    for (const { actor, address: from } of items) {
      expect(actor).toBe(user.username);
      expect(from).toMatch(/^192\.0\.2\./);
    }
    expect(JSON.stringify(items)).not.toContain('a wrong one');
  });
});

describe('a list of logins', () => {
  it('lists one’s own logins, and ends one of them', async () => {
    const { cookie, token } = await createAccount(gateway.store);
    const other = await createAccount(gateway.store);
    const list = () =>
      callApi<{ id: string; kind: string; current: boolean; expires_time: number }[]>(
        gateway.url,
        'GET',
        '/api/user/session',
        { cookie },
      );

    const before = await list();
    const accessToken = before.body.data.find(({ kind }) => kind === 'access_token');
    const path = `/api/user/session/${accessToken?.id ?? ''}`;
    const strange = await callApi(gateway.url, 'DELETE', path, { cookie: other.cookie });
    const ended = await callApi(gateway.url, 'DELETE', path, { cookie });
    const after = await list();

    expect(before.body.data.map(({ kind, current }) => [kind, current]).sort()).toEqual([
      ['access_token', false],
      ['session', true],
    ]);
    expect(JSON.stringify(before.body.data)).not.toContain(token);
    expect([strange.status, ended.status]).toEqual([404, 200]);
    expect(after.body.data.map(({ kind }) => kind)).toEqual(['session']);
    expect((await callApi(gateway.url, 'GET', '/api/user/self', { token })).status).toBe(401);
  });
});

/** Of the password, as an earlier release made it. */
function weakHash(): string {
  const salt = randomBytes(16);
  const weak = scryptSync(PASSWORD, salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  const parts = [salt, weak].map((bytes) => bytes.toString('base64url')).join('$');
  return `$scrypt$ln=10,r=8,p=1$${parts}`;
}

it('a password from a new place is reported for an administrator, once, and the first of all is not', async () => {
  const receiver = await startUpstream((_request, res) => void res.writeHead(204).end());
  const alerted = await startGateway({
    ...{ server: { trusted_proxies: ['127.0.0.1'] }, alerts: { webhook_url: receiver.url } },
  });
  try {
    const { user } = await createAccount(alerted.store, { role: 10 });
    for (const from of ['203.0.113.5', '203.0.113.5', '198.51.100.7', '198.51.100.7']) {
      const { status } = await callApi(alerted.url, 'POST', '/api/user/login', {
        body: { username: user.username, password: PASSWORD },
        headers: { 'x-forwarded-for': from },
      });
      expect(status).toBe(200);
    }

    await until('it is reported', () => Promise.resolve(receiver.seen.length > 0));
    expect(receiver.seen.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { type: 'login.new_place', data: { username: user.username, address: '198.51.100.7' } },
    ]);
  } finally {
    await alerted.close();
    await receiver.close();
  }
});
