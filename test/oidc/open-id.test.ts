import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { Secret } from '../../src/core/secret.js';
import { createOpenId } from '../../src/oidc/open-id.js';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { startUpstream } from '../support/upstream.js';
import {
  Browser,
  CLIENT,
  PUBLIC_URL,
  startProvider,
  type TestProvider,
} from '../support/open-id-provider.js';

const CONSOLE = `${PUBLIC_URL}/console/`;
const LOGIN = `${PUBLIC_URL}/api/user/oidc/login`;
const CALLBACK = `${PUBLIC_URL}/api/user/oidc/callback`;
const LOGOUT = `${PUBLIC_URL}/api/user/oidc/logout`;

interface Key {
  readonly privateKey: CryptoKey;
  readonly jwk: Record<string, unknown>;
}

async function newKey(): Promise<Key> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    privateKey,
    jwk: { ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'RS256' },
  };
}

let key: Key;
let provider: TestProvider;
let gateway: TestGateway;

const settingsFor = (issuer: string, login: object = {}): Record<string, unknown> => ({
  server: { public_url: PUBLIC_URL },
  accounts: { attempts_per_address: 100_000 },
  oidc: { issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, label: 'Our house' },
  login: {
    create: true,
    roles: { admins: 'admin', readers: 'auditor', '*': 'user' },
    accounts: { searchers: 'search-team' },
    ...login,
  },
});

beforeAll(async () => {
  key = await newKey();
  provider = await startProvider(key.jwk);
  gateway = await startGateway(settingsFor(provider.issuer));
  provider.gateway = gateway.url;
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});
beforeEach(() => {
  provider.person = 'ann';
  provider.people.ann = { preferred_username: 'ann' };
});

const newBrowser = (url = gateway.url): Browser => new Browser(() => url);
const atConsole = (address: string): boolean =>
  address.replace('https:', 'http:').startsWith(CONSOLE);
const atCallback = (address: string): boolean => address.startsWith(CALLBACK);

async function logIn(browser: Browser, to = ''): Promise<string> {
  const { address } = await browser.visit(`${LOGIN}?to=${encodeURIComponent(to)}`, atConsole);
  return address;
}

async function selfOf(
  browser: Browser,
): Promise<{ username: string; role: number; email: string }> {
  const reply = await browser.ask(`${PUBLIC_URL}/api/user/self`);
  return ((await reply.json()) as { data: { username: string; role: number; email: string } }).data;
}

async function statusOf(browser: Browser): Promise<number> {
  return (await browser.ask(`${PUBLIC_URL}/api/user/self`)).status;
}

const refusedIn = (address: string): string | null => new URL(address).searchParams.get('refused');

describe('a login at the provider', () => {
  it('makes an account and leads to the page that was wanted', async () => {
    provider.people.ann = {
      preferred_username: 'Ann Ä.',
      email: 'ann@example.com',
      email_verified: true,
    };
    const browser = newBrowser();

    expect(await logIn(browser, 'keys?status=2')).toBe(`${CONSOLE}keys?status=2`);

    expect(await selfOf(browser)).toMatchObject({
      ...{ username: 'Ann-Ä.', role: 1, email: 'ann@example.com' },
    });
  });

  it('finds the account again by the subject, whatever the person is called by then', async () => {
    const first = newBrowser();
    await logIn(first);
    const before = await selfOf(first);
    provider.people.ann = { preferred_username: 'somebody else' };
    const again = newBrowser();
    await logIn(again);

    expect(await selfOf(again)).toMatchObject({ username: before.username });
  });

  it('gives the role of the groups at each login, also a lower one', async () => {
    const roles = [];
    for (const groups of [['admins', 'readers'], ['readers'], []]) {
      provider.people.ann = { preferred_username: 'ann', groups };
      const browser = newBrowser();
      await logIn(browser);
      roles.push((await selfOf(browser)).role);
    }

    expect(roles).toEqual([10, 5, 1]);
  });

  it('takes over no account of that name or address, and says nothing about them', async () => {
    const { user } = await createAccount(gateway.store, {
      ...{ username: 'victim', email: 'victim@example.com', role: 10 },
    });
    provider.person = 'mallory';
    provider.people.mallory = {
      ...{ preferred_username: 'victim', email: 'victim@example.com', email_verified: true },
    };
    const browser = newBrowser();
    await logIn(browser);

    const self = await selfOf(browser);
    expect(self.username).toMatch(/^victim-[0-9a-f]{6}$/);
    expect(self).toMatchObject({ role: 1, email: '' });
    expect((await gateway.store.listSessions(user.id, Date.now())).length).toBe(2);
  });

  it.each([{}, { email_verified: false }])(
    'takes no address that the provider does not call verified: %j',
    async (told) => {
      provider.person = `eve ${JSON.stringify(told)}`;
      provider.people[provider.person] = {
        preferred_username: 'unsure',
        email: 'unsure@a.example',
        ...told,
      };
      const browser = newBrowser();
      await logIn(browser);

      expect((await selfOf(browser)).email).toBe('');
      expect(await gateway.store.findUser('unsure@a.example', Date.now())).toBeUndefined();
    },
  );

  it('begins a new session, whatever cookie was there, for no longer than the settings say', async () => {
    const browser = newBrowser();
    const host = new URL(PUBLIC_URL).host;
    browser.cookies.set('rerank_session /', { value: 'planted', path: '/', host });

    await logIn(browser);

    const secret = browser.cookie('rerank_session');
    expect(secret).not.toBe('planted');
    const idHash = createHash('sha256')
      .update(secret ?? '')
      .digest('hex');
    const session = await gateway.store.findSession(idHash, Date.now(), 1e12);
    expect((session?.endsAtMs ?? 0) - (session?.createdAtMs ?? 0)).toBe(12 * 3_600_000);
    const flow = browser.set.find((line) => line.startsWith('rerank_login_'));
    expect(flow).toMatch(/Max-Age=600; HttpOnly; SameSite=Lax/);
    const idToken = browser.set.find((line) => line.startsWith('rerank_id_token='));
    expect(idToken).toContain(`; Max-Age=${12 * 3_600};`);
    expect(browser.cookies.has('rerank_login_')).toBe(false);
  });

  it('says on the login page that the provider refused, and keeps the page that was wanted', async () => {
    provider.person = undefined;
    const browser = newBrowser();
    const before = gateway.log.length;
    const address = await logIn(browser, 'keys');

    expect(refusedIn(address)).toBe('permission_denied');
    expect(new URL(address).searchParams.get('to')).toBe('keys');
    // What the browser kept for this login is over, and a person who says no is no mistake of anybody.
    expect(browser.set.at(-1)).toMatch(/^rerank_login_[\w-]+=; Path=\/; Max-Age=0;/);
    expect(gateway.log.slice(before).join('')).not.toContain('a login at the OpenID provider');
  });

  it('is refused for a disabled account', async () => {
    const browser = newBrowser();
    await logIn(browser);
    const user = await gateway.store.findUser((await selfOf(browser)).username, Date.now());
    await gateway.store.updateUser(user?.id ?? 0, { enabled: false }, Date.now());

    expect(refusedIn(await logIn(newBrowser()))).toBe('user_disabled');

    await gateway.store.updateUser(user?.id ?? 0, { enabled: true }, Date.now());
  });

  it('is offered by the page', async () => {
    const { body } = await callApi<{ logins: object }>(gateway.url, 'GET', '/api/about');

    expect(body.data.logins).toEqual({ passwords: true, open_id: 'Our house', refusal: null });
  });
});

describe('hostile logins', () => {
  /** The address that the provider sends a browser back to, not yet visited. */
  async function beforeCallback(browser: Browser, to = ''): Promise<string> {
    return (await browser.visit(`${LOGIN}?to=${encodeURIComponent(to)}`, atCallback)).address;
  }

  it('a callback that is repeated counts once, in the same browser too', async () => {
    const browser = newBrowser();
    const address = await beforeCallback(browser);
    const kept = new Map(browser.cookies);

    expect((await browser.visit(address, atConsole)).address).toBe(CONSOLE);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect(refusedIn((await browser.visit(address, atConsole)).address)).toBe('unauthorized');
  });

  it('a callback of another browser logs nobody in (login CSRF)', async () => {
    const address = await beforeCallback(newBrowser());
    const victim = newBrowser();

    expect(refusedIn((await victim.visit(address, atConsole)).address)).toBe('unauthorized');
    expect(victim.cookie('rerank_session')).toBeUndefined();
  });

  it('a state that only begins like that of this browser logs nobody in', async () => {
    const browser = newBrowser();
    const address = new URL(await beforeCallback(browser));
    const state = address.searchParams.get('state') ?? '';
    address.searchParams.set('state', `${state.slice(0, 8)}another`);

    expect(refusedIn((await browser.visit(address.href, atConsole)).address)).toBe('unauthorized');
  });

  it('a code of one login does not fit another', async () => {
    const [one, two] = [newBrowser(), newBrowser()];
    const [stolen, own] = [await beforeCallback(one), await beforeCallback(two)].map(
      (address) => new URL(address),
    );
    own?.searchParams.set('code', stolen?.searchParams.get('code') ?? '');

    const { address } = await two.visit(own?.href ?? '', atConsole);

    expect(refusedIn(address)).toBe('unauthorized');
  });

  it('an answer that another provider gave is refused (mix-up)', async () => {
    const browser = newBrowser();
    const address = new URL(await beforeCallback(browser));
    address.searchParams.set('iss', 'https://other.example');

    expect(refusedIn((await browser.visit(address.href, atConsole)).address)).toBe('unauthorized');
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '../../evil',
    '..//evil.example',
    '%2e%2e/api/user/self',
    'javascript:alert(1)',
    'keys\r\nSet-Cookie: a=b',
  ])('%j is no page to go on with', async (to) => {
    expect(await logIn(newBrowser(), to)).toBe(CONSOLE);
  });

  it('does not say in the log or the address what the provider keeps secret', async () => {
    await logIn(newBrowser());

    expect(gateway.log.join('')).not.toContain(CLIENT.secret);
  });
});

describe('what comes from a provider that lies', () => {
  const SECURE = CONSOLE.replace('http:', 'https:');

  interface Liar {
    readonly issuer: string;
    /** What the next ID token is made of. */
    make: (claims: JWTPayload) => Promise<string> | string;
    readonly server: Server;
  }
  let liar: Liar;
  let cheated: TestGateway;
  let nonce = '';
  /** Of the reply with the token, besides what belongs there. */
  let more: object = {};
  /** What the provider says of the person who asks for it with the access token. */
  let me: object = {};
  let isAway = false;
  /** How the gateway has asked for the token. */
  let asked = { authorization: undefined as string | undefined, body: '' };

  beforeAll(async () => {
    const server = createServer((req, res) => {
      const json = (body: unknown): void => {
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify(body));
      };
      const { issuer } = liar;
      if (isAway) {
        res.writeHead(503).end();
      } else if (req.url === '/.well-known/openid-configuration') {
        json({
          ...{
            issuer,
            authorization_endpoint: `${issuer}/auth`,
            token_endpoint: `${issuer}/token`,
            end_session_endpoint: `${issuer}/end`,
            userinfo_endpoint: `${issuer}/me`,
          },
          ...{ jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'] },
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        });
      } else if (req.url === '/me') {
        json({ sub: 'ann', ...me });
      } else if (req.url === '/jwks') {
        const { d: _, p: __, q: ___, dp: _1, dq: _2, qi: _3, ...open } = key.jwk;
        json({ keys: [open] });
      } else {
        const now = Math.floor(Date.now() / 1_000);
        const claims = { iss: issuer, sub: 'ann', aud: CLIENT.id, iat: now, exp: now + 60, nonce };
        void text(req).then(async (body) => {
          asked = { authorization: req.headers.authorization, body };
          const token = await liar.make(claims);
          json({ access_token: 'a', token_type: 'bearer', id_token: token, ...more });
        });
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    liar = { issuer, make: sign, server };
    cheated = await startGateway({
      ...settingsFor(issuer),
      server: { public_url: `${PUBLIC_URL.replace('http:', 'https:')}/` },
      oidc: { issuer, client_id: CLIENT.id, groups_claim: 'realm.roles' },
    });
  });
  afterAll(async () => {
    await cheated.close();
    liar.server.closeAllConnections();
    liar.server.close();
  });

  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key.privateKey);

  async function outcome(
    make: Liar['make'],
    browser = newBrowser(cheated.url),
  ): Promise<string | null> {
    liar.make = make;
    const { address } = await browser.visit(LOGIN, (at) => at.startsWith(`${liar.issuer}/auth`));
    const sent = new URL(address).searchParams;
    nonce = sent.get('nonce') ?? '';
    const back = `${CALLBACK}?code=c&state=${sent.get('state') ?? ''}`;
    return refusedIn((await browser.visit(back, atConsole)).address);
  }

  it('is waited for: whoever logs in or out meanwhile comes to the login page', async () => {
    const browser = newBrowser(cheated.url);
    browser.cookies.set('rerank_id_token /', { value: 'a', path: '/', host: 'gateway.test' });
    isAway = true;
    const [login, logout] = [await browser.visit(`${LOGIN}?to=keys`), await browser.visit(LOGOUT)];
    isAway = false;

    expect(login.address).toBe(`${SECURE}login?refused=upstream_error&to=keys`);
    expect(logout.address).toBe(`${SECURE}login?refused=upstream_error`);
    expect(await outcome(sign)).toBeNull();
  });

  it('is named by the login page if it goes away in the middle of a login', async () => {
    const browser = newBrowser(cheated.url);
    const { address } = await browser.visit(LOGIN, (at) => at.startsWith(`${liar.issuer}/auth`));
    isAway = true;
    const back = `${CALLBACK}?code=c&state=${new URL(address).searchParams.get('state') ?? ''}`;
    const page = await browser.visit(back, atConsole);
    isAway = false;

    expect(refusedIn(page.address)).toBe('upstream_error');
  });

  it('is in the log if it is about the settings, not if the person may not log in', async () => {
    const outcomes = [];
    for (const error of ['access_denied', 'invalid_scope', 'unauthorized_client']) {
      const browser = newBrowser(cheated.url);
      const { address } = await browser.visit(LOGIN, (at) => at.startsWith(`${liar.issuer}/auth`));
      const state = new URL(address).searchParams.get('state') ?? '';
      const back = `${CALLBACK}?error=${error}&state=${state}`;
      outcomes.push(refusedIn((await browser.visit(back, atConsole)).address));
    }

    expect(outcomes).toEqual(['permission_denied', 'upstream_error', 'upstream_error']);
    await until('the fault is logged', () => cheated.log.join('').includes('unauthorized_client'));
    expect(cheated.log.join('')).toContain('invalid_scope');
    expect(cheated.log.join('')).not.toContain('access_denied');
  });

  it('counts if it is right in every part, for a client without a secret too', async () => {
    const browser = newBrowser(cheated.url);
    const admin: Liar['make'] = (claims) => sign({ ...claims, realm: { roles: ['admins', 7] } });

    expect(await outcome(admin, browser)).toBeNull();

    expect(await selfOf(browser)).toMatchObject({ role: 10 });
    expect(asked.authorization).toBeUndefined();
    expect(asked.body).toMatch(/(^|&)client_id=gateway(&|$)/);
    expect(browser.set.filter((line) => line.startsWith('__Host-rerank_login_'))).toHaveLength(2);
    const marks = browser.set.filter((line) => /^(__Host-rerank_login|rerank_id_token)/.test(line));
    expect(marks.filter((line) => !line.endsWith('; Secure'))).toEqual([]);
  });

  it('says of a person what no ID token says, and nothing against one', async () => {
    const [first, second] = [newBrowser(cheated.url), newBrowser(cheated.url)];
    me = { realm: { roles: ['readers'] } };
    await outcome(sign, first);
    const told = (await selfOf(first)).role;
    await outcome((claims) => sign({ ...claims, realm: { roles: [] } }), second);
    me = {};

    expect([told, (await selfOf(second)).role]).toEqual([5, 1]);
  });

  it('sends the secret in a header where the provider does not say how', async () => {
    const openId = createOpenId({
      ...{ issuer: liar.issuer, clientId: CLIENT.id, clientSecret: new Secret('s') },
      ...{ scopes: 'openid', label: '', usernameClaim: 'name', groupsClaim: 'groups' },
      ...{ publicUrl: PUBLIC_URL, now: Date.now },
    });
    liar.make = sign;
    const { flow } = await openId.begin('');
    nonce = flow.nonce;

    await openId.finish(new URLSearchParams({ code: 'c', state: flow.state }), flow);

    expect(asked.authorization).toBe(`Basic ${Buffer.from(`${CLIENT.id}:s`).toString('base64')}`);
    expect(asked.body).not.toContain('client_secret');
  });

  it.each([
    ['names its ID token', 0, true],
    ['keeps an ID token that no cookie holds to itself', 4_000, false],
  ])('sees a logout that %s', async (_, length, isNamed) => {
    const browser = newBrowser(cheated.url);
    await outcome((claims) => sign({ ...claims, padding: 'a'.repeat(length) }), browser);

    const { address } = await browser.visit(LOGOUT, (at) => at.startsWith(`${liar.issuer}/end`));
    const again = await browser.visit(LOGOUT);

    const { searchParams } = new URL(address);
    expect(searchParams.has('id_token_hint')).toBe(isNamed);
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${SECURE}login`);
    expect(again.address).toBe(`${SECURE}login`);
  });

  it('is asked for its keys again after a logout that it gave none for', async () => {
    expect(await outcome(sign)).toBeNull();
    const iat = Math.floor(Date.now() / 1_000);
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const claims = { iss: liar.issuer, aud: CLIENT.id, iat, jti: 'a', sub: 'ann', events };
    const body = new URLSearchParams({ logout_token: await sign(claims) });
    const post = async (): Promise<number> =>
      (await fetch(`${cheated.url}/api/user/oidc/logout`, { method: 'POST', body })).status;

    isAway = true;
    const away = await post();
    isAway = false;

    expect([away, await post(), await post()]).toEqual([502, 200, 400]);
  });

  it.each(['', 'no JSON', '[]', '{}'])('does not with %j kept in the browser', async (kept) => {
    const browser = newBrowser(cheated.url);
    const value = Buffer.from(kept).toString('base64url');
    const name = '__Host-rerank_login_abc /';
    browser.cookies.set(name, { value, path: '/', host: 'gateway.test' });

    const { address } = await browser.visit(`${CALLBACK}?code=c&state=abc`, atConsole);

    expect(refusedIn(address)).toBe('unauthorized');
  });

  it('does not in a reply of half a megabyte', async () => {
    more = { padding: 'a'.repeat(524_288) };
    expect(await outcome(sign)).not.toBeNull();
    more = {};
    expect(await outcome(sign)).toBeNull();
  });

  it.each<[string, Liar['make']]>([
    ['for another audience', (claims) => sign({ ...claims, aud: 'another' })],
    ['of another issuer', (claims) => sign({ ...claims, iss: 'https://other.example' })],
    ['that has expired', (claims) => sign({ ...claims, iat: 1_000, exp: 2_000 })],
    ['with another nonce', (claims) => sign({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _, ...claims }) => sign(claims)],
    ['without a signature', (claims) => new UnsecuredJWT(claims).encode()],
    [
      'signed with the secret of the client',
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret)),
    ],
    [
      'signed with another key',
      async (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: 'one' })
          .sign((await newKey()).privateKey),
    ],
  ])('an ID token %s does not', async (_, make) => {
    expect(await outcome(make)).toBe('unauthorized');
  });
});

describe('a logout', () => {
  const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  let serial = 0;

  function claimsOf(more: JWTPayload = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1_000);
    serial += 1;
    return {
      ...{ iss: provider.issuer, aud: CLIENT.id, iat: now, exp: now + 60, jti: `token ${serial}` },
      ...{ sub: 'ann', events: EVENTS },
      ...more,
    };
  }
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key.privateKey);
  const post = async (token: string): Promise<number> => {
    const body = new URLSearchParams({ logout_token: token });
    return (await fetch(`${gateway.url}/api/user/oidc/logout`, { method: 'POST', body })).status;
  };

  it('of the provider ends the sessions of that person, and of nobody else', async () => {
    const [ann, other, bob] = [newBrowser(), newBrowser(), newBrowser()];
    await logIn(ann);
    await logIn(other);
    provider.person = 'bob';
    provider.people.bob = { preferred_username: 'bob' };
    await logIn(bob);

    expect(await post(await sign(claimsOf()))).toBe(200);

    expect(await Promise.all([ann, other, bob].map(statusOf))).toEqual([401, 401, 200]);
  });

  it('of one session at the provider ends that one', async () => {
    const [one, two] = [newBrowser(), newBrowser()];
    await logIn(one);
    await logIn(two);
    const idToken = one.cookie('rerank_id_token') ?? '';
    const [, payload = ''] = idToken.split('.');
    const { sid } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sid: string };
    const { sub: _, ...bySession } = claimsOf({ sid });

    expect(await post(await sign(bySession))).toBe(200);

    expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200]);
  });

  it('leaves no session of an account that the person had before they came into a group with its own', async () => {
    await createAccount(gateway.store, { username: 'search-team', role: 1 });
    const [before, after] = [newBrowser(), newBrowser()];
    provider.person = 'eve';
    provider.people.eve = { preferred_username: 'eve' };
    await logIn(before);
    expect(await selfOf(before)).toMatchObject({ username: 'eve' });
    provider.people.eve = { preferred_username: 'unsure', groups: ['searchers'] };
    await logIn(after);
    expect(await selfOf(after)).toMatchObject({ username: 'search-team' });

    expect(await post(await sign(claimsOf({ sub: 'eve' })))).toBe(200);

    expect([await statusOf(before), await statusOf(after)]).toEqual([401, 401]);
  });

  it('leads to the provider, which ends the session here too', async () => {
    const browser = newBrowser();
    await logIn(browser);
    const session = browser.cookie('rerank_session') ?? '';

    const page = await browser.visit(LOGOUT);
    const form = /action="([^"]+)"[^]*?name="xsrf" value="([^"]+)"/.exec(page.text);
    const { address } = await browser.visit(form?.[1] ?? '', atConsole, {
      method: 'POST',
      body: new URLSearchParams({ xsrf: form?.[2] ?? '', logout: 'yes' }),
    });

    expect(address).toBe(`${CONSOLE}login`);
    const headers = { cookie: `rerank_session=${session}` };
    expect((await fetch(`${gateway.url}/api/user/self`, { headers })).status).toBe(401);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['another audience', () => sign(claimsOf({ aud: 'another' }))],
    ['another issuer', () => sign(claimsOf({ iss: 'https://other.example' }))],
    ['an age of six minutes', () => sign(claimsOf({ iat: Math.floor(Date.now() / 1_000) - 360 }))],
    [
      'a key that the provider does not have',
      async () =>
        new SignJWT(claimsOf())
          .setProtectedHeader({ alg: 'RS256', kid: 'two' })
          .sign((await newKey()).privateKey),
    ],
    ['a nonce, as ID tokens have', () => sign(claimsOf({ nonce: 'n' }))],
    ['no event', () => sign(claimsOf({ events: {} }))],
    [
      'nobody in it',
      () => {
        const { sub: _, ...claims } = claimsOf();
        return sign(claims);
      },
    ],
    ['no signature', () => new UnsecuredJWT(claimsOf()).encode()],
    [
      'a signature of the secret',
      () =>
        new SignJWT(claimsOf())
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from(CLIENT.secret)),
    ],
  ])('token with %s ends nothing', async (_, make) => {
    const browser = newBrowser();
    await logIn(browser);

    expect(await post(await make())).toBe(400);
    expect(await statusOf(browser)).toBe(200);
  });

  it('token of a provider whose clock is ahead counts', async () => {
    const browser = newBrowser();
    await logIn(browser);
    const iat = Math.floor(Date.now() / 1_000) + 20;

    expect(await post(await sign(claimsOf({ iat })))).toBe(200);
    expect(await statusOf(browser)).toBe(401);
  });

  it('token counts once', async () => {
    const token = await sign(claimsOf());

    expect([await post(token), await post(token)]).toEqual([200, 400]);
  });

  it('by a page of another site does not happen', async () => {
    const browser = newBrowser();
    await logIn(browser);

    const { status } = await browser.ask(LOGOUT, { headers: { 'sec-fetch-site': 'cross-site' } });

    expect(status).toBe(403);
  });
});

/** A browser elsewhere, behind a proxy that says where. */
class BrowserFrom extends Browser {
  constructor(
    private readonly address: string,
    url: string,
  ) {
    super(() => url);
  }

  override ask(address: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      ...(init.headers as Record<string, string>),
      'x-forwarded-for': this.address,
    };
    return super.ask(address, { ...init, headers });
  }
}

it('a login of an administrator from a new place is reported', async () => {
  const receiver = await startUpstream((_request, res) => void res.writeHead(204).end());
  const settings = settingsFor(provider.issuer);
  const alerted = await startGateway({
    ...{ ...settings, alerts: { webhook_url: receiver.url } },
    server: { ...(settings.server as object), trusted_proxies: ['127.0.0.1'] },
  });
  provider.people.ann = { preferred_username: 'ann', groups: ['admins'] };
  try {
    for (const address of ['203.0.113.5', '203.0.113.5', '198.51.100.7']) {
      expect(await logIn(new BrowserFrom(address, alerted.url))).toBe(CONSOLE);
    }
    await until('it is reported', () => Promise.resolve(receiver.seen.length > 0));
    expect(receiver.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      expect.objectContaining({
        type: 'login.new_place',
        data: expect.objectContaining({ username: 'ann', address: '198.51.100.7' }),
      }),
    ]);
  } finally {
    await alerted.close();
    await receiver.close();
  }
});
