import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../src/management/passwords.js';
import { OURSELVES } from '../../src/management/scrypt-thread.js';
import { findLogin, issueAccessToken, startSession } from '../../src/management/sessions.js';
import { actorOf } from '../../src/management/users.js';
import type { NewUser, Store, User } from '../../src/store/store.js';

export const PASSWORD = 'correct horse battery';

export interface Account {
  readonly user: User;
  /** A live login, as the header `Cookie` has it. */
  readonly cookie: string;
  /** A live access token. */
  readonly token: string;
}

export interface ApiReply<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** The envelope, success and failure at once: a test reads the half that its status stands for. */
  readonly body: {
    readonly success: boolean;
    readonly message: string;
    readonly data: T;
    readonly code: string;
    readonly param?: string;
  };
}

export interface ApiCall {
  readonly body?: unknown;
  readonly cookie?: string;
  /** A bearer token of any kind. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

let accounts = 0;
let hashOfPassword: Promise<string> | undefined;

/** An account in the store with a session and an access token, for `PASSWORD` unless it says otherwise. */
export async function createAccount(
  store: Store,
  fields: Partial<NewUser> = {},
  now: () => number = Date.now,
): Promise<Account> {
  accounts += 1;
  hashOfPassword ??= hashPassword(PASSWORD, randomBytes, OURSELVES);
  const created = await store.createUser(
    {
      username: `somebody-${accounts}`,
      email: undefined,
      displayName: `Somebody ${accounts}`,
      passwordHash: await hashOfPassword,
      role: 1,
      enabled: true,
      quota: 0,
      ...fields,
    },
    now(),
  );
  if (created.kind !== 'updated') throw new Error(`the account was not created: ${created.kind}`);
  const { user } = created;
  const settings = { sessionIdleMs: WEEK_MS, sessionMaxMs: 4 * WEEK_MS, accessTokenMs: WEEK_MS };
  const deps = { store, now, randomBytes, accounts: settings };
  const secret = await startSession(deps, user.id);
  const login = await findLogin(deps, secret, 'session');
  if (login === undefined) throw new Error('the session was not found');
  return {
    user,
    cookie: `rerank_session=${secret}`,
    token: await issueAccessToken(deps, login, actorOf(user, undefined)),
  };
}

/** Calls the management API of a gateway. */
export async function callApi<T = unknown>(
  url: string,
  method: string,
  path: string,
  { body, cookie, token, headers = {} }: ApiCall = {},
): Promise<ApiReply<T>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as ApiReply<T>['body'],
  };
}
