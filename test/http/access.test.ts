import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Access, Operation } from '../../src/operations/operation.js';
import { OPERATIONS } from '../../src/operations/index.js';
import { startSession } from '../../src/management/sessions.js';
import { callApi, createAccount, type ApiCall, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

/** Every operation of the table, so that a new one is held to the same without a test of its own. */

const WEEK_MS = 604_800_000;

let gateway: TestGateway;
let callers: Readonly<Record<Caller, ApiCall>>;

const CALLERS = [
  'nobody',
  'unknown secret',
  'API key',
  'API key of a disabled user',
  'guest',
  'user by cookie',
  'user by token',
  'auditor',
  'admin',
  'root',
  'disabled user',
  'expired session',
  'deleted user',
  'login of somebody else',
  'page of another site',
] as const;
type Caller = (typeof CALLERS)[number];

beforeAll(async () => {
  gateway = await startGateway({
    accounts: { attempts_per_address: 100_000, attempts_per_account: 100_000 },
  });
  const { store } = gateway;
  const account = (fields: Parameters<typeof createAccount>[1] = {}) =>
    createAccount(store, fields);
  const [user, auditor, admin, root, guest, disabled, gone, past] = [
    await account({ role: 1 }),
    await account({ role: 5 }),
    await account({ role: 10 }),
    await account({ role: 100 }),
    await account({ role: 0 }),
    await account({ enabled: false }),
    await account(),
    await account(),
  ];
  await store.deleteUser(gone.user.id);
  const secret = await startSession(
    {
      store,
      now: () => Date.now() - WEEK_MS,
      randomBytes,
      accounts: { sessionIdleMs: WEEK_MS / 2, sessionMaxMs: WEEK_MS, accessTokenMs: WEEK_MS },
    },
    past.user.id,
  );
  callers = {
    nobody: {},
    'unknown secret': { token: 'at-nothing-that-anybody-has' },
    'API key': { token: (await gateway.createKey()).key },
    'API key of a disabled user': {
      token: (await gateway.createKey({ userId: disabled.user.id })).key,
    },
    guest: { cookie: guest.cookie },
    'user by cookie': { cookie: user.cookie },
    'user by token': { token: user.token },
    auditor: { cookie: auditor.cookie },
    admin: { cookie: admin.cookie },
    root: { token: root.token },
    'disabled user': { cookie: disabled.cookie },
    'expired session': { cookie: `rerank_session=${secret}` },
    'deleted user': { token: gone.token },
    'login of somebody else': {
      cookie: root.cookie,
      headers: { 'new-api-user': String(user.user.id) },
    },
    'page of another site': { cookie: root.cookie, headers: { origin: 'https://elsewhere.test' } },
  };
});
afterAll(() => gateway.close());

/** The roles of those who are logged in. */
const ROLES: Partial<Readonly<Record<Caller, number>>> = {
  guest: 0,
  'user by cookie': 1,
  'user by token': 1,
  auditor: 5,
  admin: 10,
  root: 100,
  'page of another site': 100,
};

/** What a caller gets: let in, or which refusal. */
function expected(access: Access, changes: boolean, caller: Caller): string {
  if (caller === 'page of another site' && changes) return '403 permission_denied';
  if (access === 'public' || access === 'visitor') return 'in';
  if (access === 'key') {
    if (caller === 'API key') return 'in';
    if (caller === 'API key of a disabled user') return '403 user_disabled';
    const secret = callers[caller].token !== undefined;
    return secret ? '401 invalid_api_key' : '401 missing_api_key';
  }
  const least = { login: 1, auditor: 5, admin: 10, root: 100 }[access];
  if (caller === 'disabled user') return '403 user_disabled';
  const role = ROLES[caller];
  if (role === undefined) return '401 unauthorized';
  return role >= least ? 'in' : '403 permission_denied';
}

/** A path that names nothing that is there, and a body that no operation takes: who is let in changes nothing. */
function pathOf({ path }: Operation): string {
  return path.replaceAll(/:\w+/g, '999999999');
}

function outcome({ status, body: { code } }: ApiReply): string {
  return status === 401 || status === 403 ? `${status} ${code}` : 'in';
}

const changes = ({ method, unsafe = method !== 'GET' }: Operation): boolean => unsafe;

describe.each(OPERATIONS.map((operation) => ({ operation, name: operation.id })))(
  '$name',
  ({ operation }) => {
    it('lets in those who may call it, and nobody else', async () => {
      // With neither a body to refuse nor an id to miss, it would be done to the callers themselves.
      const harmless =
        operation.body !== undefined || operation.params !== undefined || !changes(operation);
      const tried = CALLERS.filter(
        (caller) => harmless || expected(operation.access, changes(operation), caller) !== 'in',
      );
      const results: Record<string, string> = {};
      const wanted: Record<string, string> = {};
      for (const caller of tried) {
        const body = operation.body === undefined ? {} : { body: '[]' };
        const call = { ...callers[caller], ...body };
        const reply = await callApi(gateway.url, operation.method, pathOf(operation), call);
        results[caller] = outcome(reply);
        wanted[caller] = expected(operation.access, changes(operation), caller);
      }

      expect(results).toEqual(wanted);
    });

    it('has its method alone and those of its path', async () => {
      const wrongMethod = await callApi(gateway.url, 'PATCH', pathOf(operation));

      expect(wrongMethod.status).toBe(405);
      expect(wrongMethod.body).toMatchObject({ success: false, code: 'method_not_allowed' });
      expect(wrongMethod.headers.get('allow')).toContain(operation.method);
    });

    if (operation.body !== undefined && operation.access !== 'key' && operation.form !== true) {
      it('reads JSON alone, of a bounded size', async () => {
        const send = async (contentType: string | undefined, body: string | Blob) => {
          const response = await fetch(`${gateway.url}${pathOf(operation)}`, {
            method: operation.method,
            headers: {
              cookie: callers.root.cookie ?? '',
              authorization: `Bearer ${callers.root.token ?? ''}`,
              ...(contentType === undefined ? {} : { 'content-type': contentType }),
            },
            body,
          });
          return ((await response.json()) as ApiReply['body']).code;
        };

        expect(await send('text/plain', '{}')).toBe('unsupported_media_type');
        expect(await send('application/x-www-form-urlencoded', 'a=1')).toBe(
          'unsupported_media_type',
        );
        expect(await send(undefined, new Blob(['{}']))).toBe('unsupported_media_type');
        expect(await send('application/json', '{')).toBe('invalid_json');
        expect(await send('application/json', '[]')).toBe('invalid_request');
        const tooMuch = 'x'.repeat(operation.bodyLimitBytes ?? 1024 * 1024);
        expect(await send('application/json', `"${tooMuch}"`)).toBe('payload_too_large');
      });
    }
  },
);

it('answers JSON for management paths that do not exist', async () => {
  const reply = await callApi(gateway.url, 'GET', '/api/nothing/here');

  expect([reply.status, reply.body.code]).toEqual([404, 'not_found']);
});

it('takes no access token out of the address', async () => {
  const { token } = callers.root;
  const reply = await callApi(gateway.url, 'GET', `/api/user/self?access_token=${token ?? ''}`);

  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request']);
});

it('lets its own pages send changes', async () => {
  const { cookie = '' } = callers.admin;
  const own = { origin: gateway.url, 'sec-fetch-site': 'same-origin' };
  const send = (headers: Record<string, string>) =>
    callApi(gateway.url, 'PUT', '/api/user/self', { body: {}, headers, cookie });

  expect((await send(own)).status).toBe(200);
  // An address that was typed in, or a bookmark.
  expect((await send({ 'sec-fetch-site': 'none' })).status).toBe(200);
  expect((await send({ ...own, 'sec-fetch-site': 'same-site' })).status).toBe(403);
  expect((await send({ origin: 'null' })).status).toBe(403);
  expect((await send({ origin: 'null', authorization: '' })).status).toBe(403);
});

it.each([
  ['guest', '/api/user/self', 'user'],
  ['user by token', '/api/overview', 'auditor'],
] as const)('tells %s at %s which role it takes', async (caller, path, role) => {
  const { body } = await callApi(gateway.url, 'GET', path, callers[caller]);

  expect(body).toMatchObject({ message: expect.stringContaining(`it takes the role ${role}.`) });
});
