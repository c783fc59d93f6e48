import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashRedemptionCode } from '../../src/management/redeem.js';
import type { User } from '../../src/store/store.js';
import { callApi, createAccount, PASSWORD, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startMailServer, type TestMailServer } from '../support/mail-server.js';

let gateway: TestGateway;
let mail: TestMailServer;
beforeAll(async () => {
  mail = await startMailServer();
  gateway = await startGateway({
    accounts: {
      ...{ registration: true, initial_quota: 5 },
      ...{ attempts_per_address: 10_000, attempts_per_account: 100 },
    },
    mail: { smtp_url: mail.url, from: 'gateway@example.com' },
  });
});
afterAll(async () => {
  await gateway.close();
  await mail.close();
});

const call = <T = Record<string, unknown>>(
  method: string,
  path: string,
  options?: Parameters<typeof callApi>[3],
) => callApi<T>(gateway.url, method, path, options);

const NEW_PASSWORD = 'a better one than before';

function logIn(username: string, password: string) {
  return call('POST', '/api/user/login', { body: { username, password } });
}

describe('registration', () => {
  it('makes an account with role 1 and the initial quota, and takes no other', async () => {
    const body = { username: 'newcomer', password: PASSWORD };

    const more = { ...body, role: 100, quota: 1_000_000 };
    const refused = await call('POST', '/api/user/register', { body: more });
    const made = await call('POST', '/api/user/register', { body });
    const login = await logIn('newcomer', PASSWORD);

    expect(refused.status).toBe(400);
    expect(made.body.data).toMatchObject({ username: 'newcomer', role: 1, quota: 5, status: 1 });
    expect(login.status).toBe(200);
  });

  it('leaves admins unnamed to those who may be anybody', async () => {
    await createAccount(gateway.store, { role: 10 });
    const { token } = await createAccount(gateway.store);

    expect((await call('GET', '/api/user/admins', { token })).body.data).toEqual([]);
  });

  it.each([
    ['a name with @', { username: 'ann@example.com' }, 'username'],
    ['a name of digits', { username: '12345' }, 'username'],
    ['no address', { email: 'nowhere' }, 'email'],
    ['an address with two lines', { email: 'a@example.com\nBcc: b@example.com' }, 'email'],
    ['a short password', { password: 'short' }, 'password'],
    ['a password that is tried first', { password: 'Password123' }, 'password'],
    ['the name as password', { username: 'someoneelse', password: 'SomeoneElse' }, 'password'],
    ['a password of one letter', { password: 'aaaaaaaaaaaa' }, 'password'],
  ])('refuses %s', async (_, wrong, param) => {
    const body = { username: 'somebody-new', password: PASSWORD, ...wrong };

    const reply = await call('POST', '/api/user/register', { body });

    expect([reply.status, reply.body.code, reply.body.param]).toEqual([
      400,
      'invalid_request',
      param,
    ]);
  });

  it.each(['\u200b', '\u202e', '\u0000', '\ufeff'])(
    'refuses a name and an address with what nobody sees (%j)',
    async (unseen) => {
      const register = (wrong: object) =>
        call('POST', '/api/user/register', {
          body: { username: 'somebody-seen', password: PASSWORD, ...wrong },
        });

      const replies = [
        await register({ email: `an${unseen}n@example.com` }),
        await register({ username: `an${unseen}n` }),
        await register({ display_name: `An${unseen}n` }),
      ];

      expect(replies.map(({ status, body }) => [status, body.param])).toEqual([
        [400, 'email'],
        [400, 'username'],
        [400, 'display_name'],
      ]);
    },
  );

  it('knows a name and an address however they are typed', async () => {
    const username = 'Jose\u0301';
    const email = 'jose\u0301@example.com';
    const { cookie } = await createAccount(gateway.store, { role: 10 });
    await call('POST', '/api/user/', { cookie, body: { username, email, password: PASSWORD } });

    const typed = [username, username.normalize('NFC'), email, ' ｊosé@example.com'];
    const statuses: number[] = [];
    for (const each of typed) statuses.push((await logIn(each, PASSWORD)).status);

    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it('does not reveal whether an address has an account, and counts it once it is confirmed', async () => {
    const owner = await createAccount(gateway.store, { email: 'taken@example.com' });
    const register = (username: string, email: string) =>
      call('POST', '/api/user/register', { body: { username, email, password: PASSWORD } });

    const free = await register('free-one', 'free@example.com');
    const taken = await register('free-two', 'Taken@example.com');

    const shape = ({ body, status }: typeof free) => ({
      ...{ status, message: body.message },
      data: {
        ...{ ...body.data, id: 0, username: '', display_name: '', created_time: 0 },
        revision: '',
      },
    });
    expect(shape(taken)).toEqual(shape(free));
    expect(free.body.data).toMatchObject({ email: '' });
    expect((await logIn('free@example.com', PASSWORD)).status).toBe(401);
    expect(await mail.next('Taken@example.com')).toMatch(/already have an account/);
    const code = / {4}(\w{24})/.exec(await mail.next('free@example.com'))?.[1] ?? '';
    const cookie = (await logIn('free-one', PASSWORD)).headers.get('set-cookie') ?? '';
    const confirm = (token: string, as: string) =>
      call('POST', '/api/user/email/confirm', { cookie: as, body: { token } });
    expect((await confirm(code, owner.cookie)).status).toBe(400);
    expect((await confirm('x'.repeat(24), cookie)).status).toBe(400);
    expect((await confirm(code, cookie)).body.data).toMatchObject({ email: 'free@example.com' });
    expect((await confirm(code, cookie)).status).toBe(400);
    expect((await logIn('free@example.com', PASSWORD)).status).toBe(200);
  });

  it('keeps the address of an account until the new one is confirmed', async () => {
    const { user, cookie } = await createAccount(gateway.store, { email: 'before@example.com' });
    const body = { email: 'after@example.com', original_password: PASSWORD };

    const asked = await call('PUT', '/api/user/self', { cookie, body });
    const token = / {4}(\w{24})/.exec(await mail.next('after@example.com'))?.[1] ?? '';
    const confirmed = await call('POST', '/api/user/email/confirm', { cookie, body: { token } });

    expect(asked.body.data).toMatchObject({ email: 'before@example.com' });
    expect(asked.body.message).toMatch(/once it is confirmed/);
    expect(confirmed.body.data).toMatchObject({ id: user.id, email: 'after@example.com' });
  });

  it('refuses the name root, and names that pass for it', async () => {
    const statuses: number[] = [];
    for (const username of ['root', 'ROOT', 'r00t', 'r\u043e\u043et', 'p\u0430ypal']) {
      const body = { username, password: PASSWORD };
      statuses.push((await call('POST', '/api/user/register', { body })).status);
    }

    expect(statuses).toEqual([400, 400, 400, 400, 400]);
  });

  it('gives a name to one alone, in whatever case', async () => {
    const register = (username: string) =>
      call('POST', '/api/user/register', { body: { username, password: PASSWORD } });

    const replies = await Promise.all(['Twin', 'tWIN', 'twin'].map(register));

    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe('your own account', () => {
  it('is shown without anything secret', async () => {
    const { cookie, user } = await createAccount(gateway.store, { email: 'self@example.com' });

    const { body } = await call('GET', '/api/user/self', { cookie });

    expect(body.data).toEqual({
      id: user.id,
      username: user.username,
      email: 'self@example.com',
      display_name: user.displayName,
      role: 1,
      status: 1,
      quota: 0,
      used_quota: 0,
      request_count: 0,
      created_time: user.createdTime,
      last_login_time: 0,
      budget: 0,
      budget_period: 'month',
      budget_time_zone: 'UTC',
      labels: '',
      budget_spent: 0,
      budget_renews_at: null,
      revision: expect.any(String),
    });
  });

  it('ends every login when its password changes, and gives the browser a new one', async () => {
    const { cookie, token, user } = await createAccount(gateway.store);
    const email = 'moved-with-it@example.com';
    const body = { password: NEW_PASSWORD, original_password: PASSWORD, email };

    const changed = await call('PUT', '/api/user/self', { cookie, body });
    expect(changed.body.message).toContain('The address counts once it is confirmed');
    const fresh = changed.headers.get('set-cookie') ?? '';
    const statuses = await Promise.all(
      [{ cookie }, { token }, { cookie: fresh }].map(
        async (login) => (await call('GET', '/api/user/self', login)).status,
      ),
    );

    expect(statuses).toEqual([401, 401, 200]);
    expect(fresh).toContain('; Max-Age=2592000;');
    expect((await logIn(user.username, PASSWORD)).status).toBe(401);
    expect((await logIn(user.username, NEW_PASSWORD)).status).toBe(200);
  });

  it('gives a script that changes its password no login', async () => {
    const { token } = await createAccount(gateway.store);
    const body = { password: NEW_PASSWORD, original_password: PASSWORD };

    const changed = await call('PUT', '/api/user/self', { token, body });

    expect([changed.status, changed.headers.get('set-cookie')]).toEqual([200, null]);
  });

  it.each([
    ['password', { password: NEW_PASSWORD }],
    ['address', { email: 'other@example.com' }],
  ])('keeps its %s from who does not know the password', async (_, change) => {
    const { cookie } = await createAccount(gateway.store);

    const without = await call('PUT', '/api/user/self', { cookie, body: change });
    const wrong = await call('PUT', '/api/user/self', {
      cookie,
      body: { ...change, original_password: 'a guess at it' },
    });

    expect([without.status, wrong.status]).toEqual([403, 403]);
  });

  it('cannot raise its own role or quota', async () => {
    const { cookie } = await createAccount(gateway.store);
    const body = { role: 100, quota: 9, status: 2, display_name: 'New' };

    const { status } = await call('PUT', '/api/user/self', { cookie, body });
    const { body: reply } = await call('GET', '/api/user/self', { cookie });

    expect(status).toBe(400);
    expect(reply.data).toMatchObject({ role: 1, quota: 0, status: 1 });
  });

  it('goes with its keys, but for root', async () => {
    const somebody = await createAccount(gateway.store);
    const root = await createAccount(gateway.store, { role: 100 });

    const gone = await call('DELETE', '/api/user/self', { cookie: somebody.cookie });
    const after = await call('GET', '/api/user/self', { cookie: somebody.cookie });
    const stays = await call('DELETE', '/api/user/self', { cookie: root.cookie });

    expect([gone.status, after.status, stays.status]).toEqual([200, 401, 403]);
  });
});

describe('topup', () => {
  it('credits a code once, under any number of attempts at once', async () => {
    const [first, second] = await Promise.all([
      createAccount(gateway.store),
      createAccount(gateway.store),
    ]);
    const code = 'ab'.repeat(16);
    const draft = {
      name: 'gift',
      batchId: '',
      quota: 70,
      codeHint: 'abab…abab',
      createdBy: 999_998,
      expiredTime: 0,
    };
    await gateway.store.createCodes([{ ...draft, codeHash: hashRedemptionCode(code) }], Date.now());

    const attempts = Array.from({ length: 20 }, (_, index) =>
      call<number>('POST', '/api/user/topup', {
        cookie: index % 2 === 0 ? first.cookie : second.cookie,
        body: { key: ` ${code.toUpperCase()} ` },
      }),
    );
    const replies = await Promise.all(attempts);

    const done = replies.filter(({ status }) => status === 200);
    const balances = await Promise.all(
      [first, second].map(({ user }) => gateway.store.getUser(user.id, Date.now())),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(done.map(({ body }) => body.data)).toEqual([70]);
    expect(balances.reduce((sum, user) => sum + (user?.quota ?? 0), 0)).toBe(70);
  });

  it('repeats its answer under one idempotency key', async () => {
    const { cookie } = await createAccount(gateway.store);
    const code = 'cd'.repeat(16);
    const draft = {
      name: 'gift',
      batchId: '',
      quota: 5,
      codeHint: 'cdcd…cdcd',
      createdBy: 999_998,
      expiredTime: 0,
    };
    await gateway.store.createCodes([{ ...draft, codeHash: hashRedemptionCode(code) }], Date.now());
    const redeem = (key: string) =>
      call('POST', '/api/user/topup', {
        cookie,
        body: { key },
        headers: { 'idempotency-key': 'once' },
      });

    const first = await redeem(code);
    const again = await redeem(code);
    const other = await redeem('another one');

    expect([first.status, first.body.data]).toEqual([200, 5]);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect([other.status, other.body.code]).toEqual([409, 'conflict']);
  });
});

describe('what admins do', () => {
  const ofRole = (role: User['role']): Promise<Account> => createAccount(gateway.store, { role });

  it.each([
    ['an admin', 10, 'a user', 1, 200],
    ['an admin', 10, 'another admin', 10, 403],
    ['an admin', 10, 'root', 100, 403],
    ['root', 100, 'an admin', 10, 200],
    ['root', 100, 'another root', 100, 403],
  ] as const)('%s (%i) acts on %s (%i): %i', async (_a, role, _b, targetRole, status) => {
    const [actor, target] = [await ofRole(role), await ofRole(targetRole)];
    const { id } = target.user;
    const { cookie } = actor;

    const replies = [
      await call('PUT', '/api/user/', { cookie, body: { id, display_name: 'Renamed' } }),
      await call('POST', '/api/user/manage', { cookie, body: { id, action: 'disable' } }),
      await call('POST', '/api/user/manage', { cookie, body: { id, action: 'enable' } }),
      await call('POST', '/api/user/manage', {
        cookie,
        body: { id, action: 'add_quota', value: 3 },
      }),
      await call('DELETE', `/api/user/${id}`, { cookie }),
    ];

    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([status]));
  });

  it('moves quota up and down, and never below zero', async () => {
    const [admin, { user }] = [await ofRole(10), await createAccount(gateway.store, { quota: 7 })];
    const manage = async (body: object) => {
      const reply = await call('POST', '/api/user/manage', {
        cookie: admin.cookie,
        body: { id: user.id, action: 'add_quota', ...body },
      });
      return [reply.status, reply.body.param ?? reply.body.data.quota];
    };

    expect(await manage({ value: 3 })).toEqual([200, 10]);
    expect(await manage({ mode: 'subtract', value: 6 })).toEqual([200, 4]);
    expect(await manage({ mode: 'subtract', value: 5 })).toEqual([409, 'add_quota']);
    expect((await gateway.store.getUser(user.id, Date.now()))?.quota).toBe(4);
  });

  it('switches an account off and on with its other members, and deletes it', async () => {
    const [{ cookie }, { user }] = [await ofRole(10), await ofRole(1)];
    const put = async (body: object) =>
      (await call('PUT', '/api/user', { cookie, body: { id: user.id, ...body } })).body.data.status;

    expect([await put({ status: 2 }), await put({ display_name: 'R' })]).toEqual([2, 2]);
    expect(await put({ status: 1 })).toBe(1);
    const body = { id: user.id, action: 'delete' };
    const deleted = await call('POST', '/api/user/manage', { cookie, body });
    expect([deleted.status, deleted.body.data]).toEqual([200, null]);
    expect(await gateway.store.getUser(user.id, Date.now())).toBeUndefined();
  });

  it('moves no quota by an amount that was not named', async () => {
    const [admin, user] = [await ofRole(10), await createAccount(gateway.store, { quota: 7 })];
    const manage = (mode: string) =>
      call('POST', '/api/user/manage', {
        cookie: admin.cookie,
        body: { id: user.user.id, action: 'add_quota', mode },
      });

    const replies = [await manage('override'), await manage('add'), await manage('subtract')];

    expect(replies.map(({ status, body }) => [status, body.param])).toEqual(
      replies.map(() => [400, 'value']),
    );
    expect((await gateway.store.getUser(user.user.id, Date.now()))?.quota).toBe(7);
  });

  it('gives an account a budget that renews, and refuses one that nobody could keep', async () => {
    const [admin, user] = [await ofRole(10), await createAccount(gateway.store)];
    const put = (body: Record<string, unknown>) =>
      call('PUT', '/api/user', { cookie: admin.cookie, body: { id: user.user.id, ...body } });

    const given = await put({ budget: 500, budget_period: 'day', budget_time_zone: 'Asia/Tokyo' });
    const kept = await put({ display_name: 'Renamed' });
    const refused = [
      await put({ budget: -1 }),
      await put({ budget_period: 'year' }),
      await put({ budget_time_zone: 'Mars/Olympus' }),
    ];

    expect(given.body.data).toMatchObject({ budget: 500, budget_period: 'day', budget_spent: 0 });
    const renewsAt = given.body.data.budget_renews_at as number;
    // Midnight in Tokyo.
    expect(renewsAt % 86_400).toBe(15 * 3_600);
    expect(kept.body.data).toMatchObject({ budget: 500, budget_time_zone: 'Asia/Tokyo' });
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    const own = await call('PUT', '/api/user', {
      cookie: admin.cookie,
      body: { id: admin.user.id, budget: 0 },
    });
    expect(own.status).toBe(403);
  });

  it('lets nobody grant a role that is not below their own', async () => {
    const [admin, root, user] = [await ofRole(10), await ofRole(100), await ofRole(1)];
    const body = { username: 'made-by-admin', password: PASSWORD, role: 10 };
    const promote = { id: user.user.id, action: 'promote' };

    const statuses = [
      (await call('POST', '/api/user', { cookie: admin.cookie, body })).status,
      (await call('POST', '/api/user/manage', { cookie: admin.cookie, body: promote })).status,
      (await call('POST', '/api/user', { cookie: root.cookie, body: { ...body, role: 100 } }))
        .status,
      (await call('POST', '/api/user', { cookie: root.cookie, body })).status,
      (await call('POST', '/api/user/manage', { cookie: root.cookie, body: promote })).status,
    ];

    expect(statuses).toEqual([403, 403, 403, 200, 200]);
  });

  it('leaves root as it is, also for root', async () => {
    const { cookie, user } = await ofRole(100);
    const act = async (action: string) =>
      (await call('POST', '/api/user/manage', { cookie, body: { id: user.id, action } })).status;

    expect([await act('disable'), await act('demote'), await act('delete')]).toEqual([
      403, 403, 403,
    ]);
  });

  it('leaves an admin’s own quota to root', async () => {
    const [admin, root] = [await ofRole(10), await ofRole(100)];
    const attempts = ({ user, cookie }: Account) => [
      call('PUT', '/api/user/', { cookie, body: { id: user.id, quota: 99 } }),
      call('POST', '/api/user/manage', {
        cookie,
        body: { id: user.id, action: 'add_quota', value: 99, mode: 'override' },
      }),
    ];

    const refused = await Promise.all(attempts(admin));
    const done = await Promise.all(attempts(root));

    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
    expect((await gateway.store.getUser(admin.user.id, Date.now()))?.quota).toBe(0);
    expect(done.map(({ status }) => status)).toEqual([200, 200]);
    expect((await gateway.store.getUser(root.user.id, Date.now()))?.quota).toBe(99);
  });

  it('ends all logins of an account that is disabled', async () => {
    const [admin, user] = [await ofRole(10), await ofRole(1)];
    const manage = (action: string) =>
      call('POST', '/api/user/manage', {
        cookie: admin.cookie,
        body: { id: user.user.id, action },
      });

    await manage('disable');
    await manage('enable');
    const { status } = await call('GET', '/api/user/self', { cookie: user.cookie });

    expect(status).toBe(401);
  });

  it('keeps the reason of what they do to an account in the audit log', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });
    const as = (method: string, path: string, body?: object) =>
      call<User>(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) });

    const account = { username: 'reasoned', password: PASSWORD, reason: 'hired' };
    const { id } = (await as('POST', '/api/user', account)).body.data;
    await as('PUT', '/api/user', { id, display_name: 'R', reason: ' married ' });
    await as('POST', '/api/user/manage', { id, action: 'disable', reason: 'on leave' });
    const reasons = async () => {
      const about = { target: `user:${id}`, offset: 0, limit: 9 };
      const { items } = await gateway.store.listAudit(about);
      return items.map(({ action, detail }) => [action, detail.reason]);
    };

    expect(await reasons()).toEqual([
      ['user.update', 'on leave'],
      ['user.update', 'married'],
      ['user.create', 'hired'],
    ]);

    await as('DELETE', `/api/user/${id}?reason=left`);

    expect((await reasons())[0]).toEqual(['user.delete', 'left']);
  });

  it('leaves nothing that says who a deleted person was', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });
    const { user, token } = await createAccount(gateway.store, {
      ...{ username: 'vera.vanishing', email: 'vera@vanishing.example' },
      displayName: 'Vera Vanishing',
    });
    const { id } = user;
    await gateway.store.linkIdentity('a hash of vera', id, Date.now());
    await call('PUT', '/api/user/self', { token, body: { display_name: 'Vera V. Vanishing' } });
    const renamed = { id, username: 'vera-vanishing', reason: 'Vera asked' };
    await call('PUT', '/api/user', { token: admin.token, body: renamed });

    const deleted = await call('DELETE', `/api/user/${id}`, { token: admin.token });

    expect(deleted.status).toBe(200);
    const { items } = await gateway.store.listAudit({ offset: 0, limit: 1_000 });
    expect(JSON.stringify(items)).not.toMatch(/vera|vanish/i);
    const about = items.filter(({ target }) => target === `user:${id}`);
    expect(about.map(({ action }) => action).slice(0, 3)).toEqual([
      ...['user.delete', 'user.update', 'user.update'],
    ]);
    expect(new Set(about.map(({ name }) => name))).toEqual(new Set([`deleted user ${id}`]));
    expect(await gateway.store.findIdentity('a hash of vera', Date.now())).toBeUndefined();
    expect(await gateway.store.listSessions(id, Date.now())).toEqual([]);
    expect((await call('GET', '/api/user/self', { token })).status).toBe(401);
  });

  it('finds accounts by role, together with a keyword', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });
    const user = await createAccount(gateway.store);
    const found = async (query: string) =>
      (
        await call<{ items: { id: number }[] }>('GET', `/api/user/search?${query}`, {
          token: admin.token,
        })
      ).body.data.items.map(({ id }) => id);

    expect(await found(`keyword=${admin.user.username}&role=10`)).toEqual([admin.user.id]);
    expect(await found(`keyword=${admin.user.username}&role=1`)).toEqual([]);
    expect(await found(`keyword=${user.user.username}&role=1`)).toEqual([user.user.id]);
  });

  it('finds accounts, page by page', async () => {
    const { cookie } = await ofRole(10);
    for (const name of ['quince-1', 'quince-2', 'quince-3']) {
      await createAccount(gateway.store, { username: name });
    }

    const { body } = await call('GET', '/api/user/search?keyword=QUINCE&p=2&page_size=2', {
      cookie,
    });

    expect(body.data).toMatchObject({
      items: [{ username: 'quince-1' }],
      total: 3,
      page: 2,
      page_size: 2,
    });
  });
});

describe('password reset', () => {
  const ask = (email: string) =>
    call('GET', `/api/reset_password?email=${encodeURIComponent(email)}`);
  const codeIn = (text: string): string => / {4}(\w{24})/.exec(text)?.[1] ?? '';
  const reset = (body: unknown) => call<string | null>('POST', '/api/user/reset', { body });

  it('mails a code that sets a password once and ends every login', async () => {
    const email = 'forgetful@example.com';
    const { cookie, token, user } = await createAccount(gateway.store, { email });

    const asked = await ask('Forgetful@Example.com');
    const message = await mail.next(email);
    const body = { email, token: codeIn(message), password: NEW_PASSWORD };
    const replies = await Promise.all([reset(body), reset(body), reset(body)]);

    expect(asked.body.data).toBeNull();
    expect(message).toContain('From: gateway@example.com');
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await call('GET', '/api/user/self', { cookie })).status).toBe(401);
    expect((await call('GET', '/api/user/self', { token })).status).toBe(401);
    expect((await logIn(user.username, PASSWORD)).status).toBe(401);
    expect((await logIn(user.username, NEW_PASSWORD)).status).toBe(200);
  });

  it('makes a password when none is given', async () => {
    const email = 'lazy@example.com';
    const { user } = await createAccount(gateway.store, { email });
    await ask(email);
    const code = codeIn(await mail.next(email));

    const made = await reset({ email, token: code });
    const login = await logIn(user.username, made.body.data ?? '');

    expect(made.body.data).toMatch(/^\w{24}$/);
    expect(login.status).toBe(200);
  });

  it('answers alike to wrong and used codes, and to addresses that nobody has', async () => {
    const email = 'known@example.com';
    await createAccount(gateway.store, { email });
    await ask(email);
    const code = codeIn(await mail.next(email));
    await reset({ email, token: code, password: NEW_PASSWORD });

    const used = await reset({ email, token: code });
    const wrong = await reset({ email, token: 'x'.repeat(24) });
    const unknown = await reset({ email: 'unknown@example.com', token: code });
    const asked = [await ask(email), await ask('unknown@example.com')];

    expect(used.status).toBe(400);
    const said = { ...used.body, request_id: expect.any(String) };
    expect(wrong.body).toEqual(said);
    expect(unknown.body).toEqual(said);
    expect(asked[0]?.body).toEqual(asked[1]?.body);
  });

  it('leaves a code good, however many wrong ones others have tried', async () => {
    const email = 'target@example.com';
    await createAccount(gateway.store, { email });
    await ask(email);
    const code = codeIn(await mail.next(email));

    for (let attempt = 0; attempt < 20; attempt += 1) await reset({ email, token: 'guess' });
    const right = await reset({ email, token: code, password: NEW_PASSWORD });

    expect(right.status).toBe(200);
  });

  it('leaves a code good after a password that is too weak', async () => {
    const email = 'weak@example.com';
    await createAccount(gateway.store, { email });
    await ask(email);
    const code = codeIn(await mail.next(email));

    const weak = await reset({ email, token: code, password: '12345678' });
    const strong = await reset({ email, token: code, password: NEW_PASSWORD });

    expect([weak.status, weak.body.param]).toEqual([400, 'password']);
    expect(strong.status).toBe(200);
  });

  it('mails nothing to an account that is disabled, and makes no code for it', async () => {
    const email = 'disabled@example.com';
    const own = await startGateway({ mail: { smtp_url: mail.url } });
    const made: number[] = [];
    const putOneTimeCode = own.store.putOneTimeCode.bind(own.store);
    own.store.putOneTimeCode = (userId, ...rest) => {
      made.push(userId);
      return putOneTimeCode(userId, ...rest);
    };
    await createAccount(own.store, { email, enabled: false });
    const { user } = await createAccount(own.store, { email: 'enabled@example.com' });

    await callApi(own.url, 'GET', `/api/reset_password?email=${email}`);
    await callApi(own.url, 'GET', `/api/reset_password?email=enabled@example.com`);
    await own.close();

    expect(mail.waiting(email)).toBe(0);
    expect(made).toEqual([user.id]);
  });

  it('sends few mails to one address', async () => {
    const email = 'bombed@example.com';
    const own = await startGateway({ mail: { smtp_url: mail.url } });
    await createAccount(own.store, { email });

    for (let count = 0; count < 6; count += 1) {
      await callApi(own.url, 'GET', `/api/reset_password?email=${email}`);
    }
    await own.close();

    expect(mail.waiting(email)).toBe(3);
  });

  it('writes mails to a folder that only its owner can read if there is no server', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'outbox-'));
    const outbox = join(folder, 'out');
    const own = await startGateway({ mail: { outbox_dir: outbox } });
    await createAccount(own.store, { email: 'local@example.com' });

    await callApi(own.url, 'GET', '/api/reset_password?email=local@example.com');
    await own.close();

    const [name = ''] = readdirSync(outbox);
    const file = join(outbox, name);
    expect(codeIn(readFileSync(file, 'utf8'))).toHaveLength(24);
    expect([outbox, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    await rm(folder, { recursive: true });
  });
  it('is mailed by an admin to somebody of a lower role, with a link', async () => {
    const own = await startGateway({
      server: { public_url: 'https://rerank.example.com/tools/' },
      mail: { smtp_url: mail.url },
      accounts: { reset_mails_per_hour: 1 },
    });
    const admin = await createAccount(own.store, { role: 10 });
    const peer = await createAccount(own.store, { role: 10, email: 'peer@example.com' });
    const { user } = await createAccount(own.store, { email: 'sent@example.com' });
    const { user: silent } = await createAccount(own.store);
    const send = (id: number) =>
      callApi(own.url, 'POST', `/api/user/${id}/reset-mail`, {
        ...{ cookie: admin.cookie, body: { reason: 'forgot' } },
      });

    const { user: off } = await createAccount(own.store, {
      ...{ email: 'off@example.com', enabled: false },
    });

    const to = [user, peer.user, silent, off];
    const replies = [];
    for (const { id } of to) replies.push(await send(id));
    const code = codeIn(await mail.next('sent@example.com'));
    const link = new URL('https://rerank.example.com/tools/console/reset');
    link.hash = new URLSearchParams({ email: 'sent@example.com', code }).toString();
    await send(user.id);
    const again = (await mail.next('sent@example.com'))
      .replaceAll(/=\r?\n/g, '')
      .replaceAll('=3D', '=');
    const latest = codeIn(again);
    const body = { email: 'sent@example.com', token: latest, password: NEW_PASSWORD };
    const set = await callApi(own.url, 'POST', '/api/user/reset', { body });
    const tooMany = [await send(user.id), await send(user.id), await send(user.id)].at(-1);
    const { items } = await own.store.listAudit({ offset: 0, limit: 10 });
    await own.close();

    expect(replies.map(({ status }) => status)).toEqual([200, 403, 409, 409]);
    expect(tooMany?.status).toBe(429);
    expect(Number(tooMany?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(again).toContain(link.href.replace(code, latest));
    expect(set.status).toBe(200);
    expect(items.find(({ action }) => action === 'user.mail_reset')).toMatchObject({
      ...{ target: `user:${user.id}`, detail: { reason: 'forgot' } },
    });
  });

  it('follows an invitation to an account that nobody could log in to before', async () => {
    const email = 'invited@example.com';
    const { cookie } = await createAccount(gateway.store, { role: 10 });
    const body = { username: 'invited', email, quota: 7 };

    const made = await call('POST', '/api/user/invite', { cookie, body });
    const code = codeIn(await mail.next(email));
    const early = await logIn('invited', PASSWORD);
    const set = await reset({ email, token: code, password: NEW_PASSWORD });
    const login = await logIn('invited', NEW_PASSWORD);

    expect(made.body.data).toMatchObject({ username: 'invited', email, quota: 7, role: 1 });
    expect([early.status, set.status, login.status]).toEqual([401, 200, 200]);
  });

  it('says when an invitation cannot be sent, and keeps the account', async () => {
    const own = await startGateway({ mail: { smtp_url: 'smtp://127.0.0.1:1' } });
    const { cookie } = await createAccount(own.store, { role: 10 });
    const body = { username: 'unreached', email: 'unreached@example.com' };

    const invite = (email: string) =>
      callApi(own.url, 'POST', '/api/user/invite', { cookie, body: { ...body, email } });

    const nowhere = await invite(' ');
    const reply = await invite(body.email);
    const user = await own.store.findUser('unreached', Date.now());
    await own.close();

    expect([nowhere.status, nowhere.body.param]).toEqual([400, 'email']);
    expect([reply.status, reply.body.code]).toEqual([502, 'upstream_error']);
    expect(user?.email).toBe('unreached@example.com');
  });
});
