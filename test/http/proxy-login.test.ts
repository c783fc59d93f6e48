import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { identityHash } from '../../src/management/sign-on.js';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { startUpstream } from '../support/upstream.js';

interface Self {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly role: number;
}

const LOGIN = {
  header: 'Remote-User',
  email_header: 'Remote-Email',
  groups_header: 'Remote-Groups',
  create: true,
  roles: { admins: 'admin', '*': 'user' },
};

let gateway: TestGateway;
let direct: TestGateway;
let closed: TestGateway;

beforeAll(async () => {
  const behind = { trusted_proxies: ['127.0.0.1'] };
  gateway = await startGateway({
    server: behind,
    login: { ...LOGIN, accounts: { search: 'search-team', owners: 'root', lost: 'no-such-team' } },
  });
  await createAccount(gateway.store, { username: 'root', role: 100 });
  direct = await startGateway({ server: { trusted_proxies: ['192.0.2.1'] }, login: LOGIN });
  closed = await startGateway({
    server: behind,
    login: { header: 'Remote-User', passwords: false, link: true },
    accounts: { registration: true },
  });
});
afterAll(async () => {
  await gateway.close();
  await direct.close();
  await closed.close();
});

const self = (headers: Readonly<Record<string, string>>, at = gateway) =>
  callApi<Self>(at.url, 'GET', '/api/user/self', { headers });

function cookieOf(headers: Headers): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Sends lines as they are; resolves to the status and the body. */
function raw(at: TestGateway, lines: readonly string[], path = '/api/user/self'): Promise<string> {
  const { hostname, port } = new URL(at.url);
  const socket = connect(Number(port), hostname);
  socket.end(
    Buffer.from(
      [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'),
      'utf8',
    ),
  );
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('utf8')));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('a user whom a trusted proxy names', () => {
  it('has an account from the first request on, and one session for all of them', async () => {
    const headers = { 'remote-user': 'ann', 'remote-email': 'ann@example.com' };
    const first = await self(headers);
    const again = await self({ ...headers, cookie: cookieOf(first.headers) });

    expect(first.body.data).toMatchObject({ username: 'ann', email: 'ann@example.com', role: 1 });
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.headers.get('set-cookie')).toBeNull();
    const sessions = await gateway.store.listSessions(first.body.data.id, Date.now());
    expect(sessions.length).toBe(1);
  });

  it('may be named by an address', async () => {
    const { body } = await self({ 'remote-user': 'eve@example.com' });

    expect(body.data).toMatchObject({ username: 'eve', role: 1 });
  });

  it('has the role of the groups of each request', async () => {
    const raised = await self({ 'remote-user': 'bob', 'remote-groups': 'staff, admins' });
    const cookie = cookieOf(raised.headers);
    const lowered = await self({ 'remote-user': 'bob', 'remote-groups': 'staff', cookie });

    expect([raised.body.data.role, lowered.body.data.role]).toEqual([10, 1]);
    expect(lowered.body.data.id).toBe(raised.body.data.id);
    expect((await callApi(gateway.url, 'GET', '/api/user/self', { cookie })).status).toBe(401);
  });

  it('is somebody else as soon as the proxy says so, whatever the cookie', async () => {
    const ann = await self({ 'remote-user': 'anton' });
    const other = await self({ 'remote-user': 'carol', cookie: cookieOf(ann.headers) });

    expect(other.body.data.username).toBe('carol');
    expect(await gateway.store.listSessions(ann.body.data.id, Date.now())).toEqual([]);
  });

  it('has one account, though the first requests come at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => self({ 'remote-user': 'zoe' })),
    );

    expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1);
    const named = { keyword: 'zoe', offset: 0, limit: 10 };
    expect((await gateway.store.listUsers(named, Date.now())).total).toBe(1);
  });

  it('shares the account of a group, and keeps its role out of it', async () => {
    await createAccount(gateway.store, { username: 'search-team' });
    const { body } = await self({ 'remote-user': 'dan', 'remote-groups': 'admins,search' });

    expect(body.data).toMatchObject({ username: 'search-team', role: 1 });
  });

  it('makes changes only from its own pages', async () => {
    const { status } = await callApi(gateway.url, 'POST', '/api/token', {
      body: { name: 'a key' },
      headers: { 'remote-user': 'ann', 'sec-fetch-site': 'cross-site' },
    });

    expect(status).toBe(403);
  });
});

describe('headers that do not count', () => {
  it('are those of any other peer', async () => {
    const { status } = await self({ 'remote-user': 'ann' }, direct);
    const forwarded = { 'remote-user': 'ann', 'x-forwarded-for': '192.0.2.1' };

    expect(status).toBe(401);
    expect((await self(forwarded, direct)).status).toBe(401);
    expect(await direct.store.findUser('ann', Date.now())).toBeUndefined();
  });

  it('and a session that a proxy vouched for is worth nothing without its word', async () => {
    const { headers } = await self({ 'remote-user': 'ann' });

    const { status } = await self({ cookie: cookieOf(headers) });

    expect(status).toBe(401);
  });

  it.each([
    ['Remote-User: ann', 'Remote-User: root'],
    ['Remote-User: ann', 'remote-user: ann'],
    ['Remote-User: ann', 'Remote-Groups: staff', 'Remote-Groups: admins'],
    ['Remote-User: ann, root'],
    ['Remote-User: ann;admin'],
    ['Remote-User: a\u200bnn'],
    [`Remote-User: ${'a'.repeat(1_001)}`],
  ])('are doubled, odd or endless: %j', async (...lines) => {
    const reply = await raw(gateway, lines);
    expect(reply).toMatch(/^HTTP\/1.1 401 /);
    expect(reply).toMatch(/header Remote-(User|Groups) cannot be used: it must come once/i);
    // The page on which people log in says so, too.
    expect(await raw(gateway, lines, '/api/about')).toMatch(/"refusal":"The proxy.s header/);
  });

  it('are no UTF-8', async () => {
    const { status } = await self({ 'remote-user': 'ann\u00e4' });

    expect(status).toBe(401);
  });

  it('leave access tokens as they are', async () => {
    const { token, user } = await createAccount(gateway.store);
    const { body } = await callApi<Self>(gateway.url, 'GET', '/api/user/self', {
      ...{ token, headers: { 'remote-user': 'ann' } },
    });

    expect(body.data.id).toBe(user.id);
  });
});

describe('people who are refused', () => {
  it('are never root, by name or by group', async () => {
    const named = await self({ 'remote-user': 'root' });
    const grouped = await self({ 'remote-user': 'ann', 'remote-groups': 'owners' });

    expect(named.body.data.username).toMatch(/^user-[0-9a-f]{6}$/);
    expect(named.body.data.role).toBe(1);
    expect([grouped.status, grouped.body.code]).toEqual([403, 'permission_denied']);
  });

  it('belong to a group whose account does not exist', async () => {
    const { status, body } = await self({ 'remote-user': 'ann', 'remote-groups': 'lost' });

    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  it('have a disabled account, and begin no session', async () => {
    const { body } = await self({ 'remote-user': 'frank' });
    await gateway.store.updateUser(body.data.id, { enabled: false }, Date.now());
    await gateway.store.deleteUserSessions(body.data.id);

    const refused = await self({ 'remote-user': 'frank' });

    expect([refused.status, refused.body.code]).toEqual([403, 'user_disabled']);
    expect(await gateway.store.listSessions(body.data.id, Date.now())).toEqual([]);
  });

  it('have no account where none is made, and the page says so', async () => {
    const headers = { 'remote-user': 'nobody' };
    const { status } = await self(headers, closed);
    const { body } = await callApi<{ logins: { refusal: string } }>(
      closed.url,
      'GET',
      '/api/about',
      { headers },
    );

    expect(status).toBe(403);
    expect(body.data.logins.refusal).toBe('You have no account here yet; ask an admin.');
  });
});

describe('settings', () => {
  it('let the proxy link an existing account, but not root', async () => {
    const { user } = await createAccount(closed.store, { username: 'existing', role: 10 });
    await createAccount(closed.store, { username: 'root', role: 100 });

    const linked = await self({ 'remote-user': 'existing' }, closed);
    const root = await self({ 'remote-user': 'root' }, closed);

    expect(linked.body.data).toMatchObject({ id: user.id, role: 10 });
    expect(root.status).toBe(403);
    const linkOf = (name: string) =>
      closed.store.findIdentity(identityHash('account', 'proxy', name), Date.now());
    expect([await linkOf('existing'), await linkOf('root')]).toEqual([user.id, undefined]);
  });

  it('let nobody in whose groups have no role', async () => {
    const own = await startGateway({
      server: { trusted_proxies: ['127.0.0.1'] },
      login: { ...LOGIN, roles: { admins: 'admin' } },
    });
    const asked = (groups: string) => self({ 'remote-user': groups, 'remote-groups': groups }, own);
    const [admin, guest] = [await asked('admins'), await asked('guests')];
    await own.close();

    expect([admin.status, guest.status, guest.body.code]).toEqual([200, 403, 'permission_denied']);
  });

  it('switch passwords off: no login, registration or reset', async () => {
    const { user } = await createAccount(closed.store, { email: 'g@example.com' });
    const { token } = await createAccount(closed.store, { role: 10 });
    const answers = await Promise.all([
      callApi(closed.url, 'POST', '/api/user/login', {
        body: { username: user.username, password: 'correct horse battery' },
      }),
      callApi(closed.url, 'POST', '/api/user/register', {
        body: { username: 'new', password: 'correct horse battery' },
      }),
      callApi(closed.url, 'GET', '/api/reset_password?email=g@example.com'),
      callApi(closed.url, 'POST', '/api/user/reset', {
        body: { email: 'g@example.com', token: 'x' },
      }),
      callApi(closed.url, 'POST', `/api/user/${user.id}/reset-mail`, { body: {}, token }),
    ]);

    expect(answers.map(({ body }) => body.code)).toEqual(Array(5).fill('permission_denied'));
    const about = await callApi(closed.url, 'GET', '/api/about');
    expect(about.body.data).toMatchObject({ registration: false, logins: { passwords: false } });
  });

  it('may be overridden by the environment, so that root gets back in', async () => {
    const open = await startGateway(
      { server: { trusted_proxies: ['127.0.0.1'] }, login: { ...LOGIN, passwords: false } },
      { LOGIN_PASSWORDS: 'true' },
    );
    await createAccount(open.store, { username: 'root', role: 100 });
    const { status } = await callApi(open.url, 'POST', '/api/user/login', {
      body: { username: 'root', password: 'correct horse battery' },
    });
    await open.close();

    expect(status).toBe(200);
  });

  it.each([
    [{ login: { passwords: false } }, 'login.passwords'],
    [{ login: { header: 'Remote-User' } }, 'login.header'],
    [{ login: { groups_header: 'Remote-Groups' } }, 'login.header'],
    [{ login: { header: 'Authorization' } }, 'login.header'],
    [{ login: { roles: { all: 'root' } } }, 'login.roles'],
    [{ oidc: { issuer: 'https://x.example', client_id: 'g' } }, 'server.public_url'],
    [
      { oidc: { issuer: 'https://x.example' }, server: { public_url: 'https://g.example' } },
      'oidc.client_id',
    ],
    [{ oidc: { issuer: 'http://x.example', client_id: 'g' } }, 'oidc.issuer'],
    [{ oidc: { issuer: 'http://127.0.0.1.example', client_id: 'g' } }, 'oidc.issuer'],
  ])('%j are refused: %s', async (settings, where) => {
    await expect(startGateway(settings)).rejects.toThrow(where);
  });
});

it('an administrator whom the proxy sends from a new place is reported, once', async () => {
  const receiver = await startUpstream((_request, res) => void res.writeHead(204).end());
  const alerted = await startGateway({
    ...{ server: { trusted_proxies: ['127.0.0.1'] }, login: LOGIN },
    alerts: { webhook_url: receiver.url },
  });
  const from = (address: string, groups: string) =>
    self(
      { 'Remote-User': `a-${groups}`, 'Remote-Groups': groups, 'X-Forwarded-For': address },
      alerted,
    );
  try {
    // The first login of all is no news, nor is one of somebody who is not an administrator.
    for (const address of ['203.0.113.5', '203.0.113.5', '198.51.100.7', '198.51.100.7']) {
      for (const groups of ['users', 'admins'])
        expect((await from(address, groups)).status).toBe(200);
    }
    await until('it is reported', () => Promise.resolve(receiver.seen.length > 0));
    expect(receiver.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      expect.objectContaining({
        type: 'login.new_place',
        data: expect.objectContaining({ username: 'a-admins', address: '198.51.100.7' }),
      }),
    ]);
  } finally {
    await alerted.close();
    await receiver.close();
  }
});
