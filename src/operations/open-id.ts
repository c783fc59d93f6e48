import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import { isRecord } from '../core/records.js';
import {
  endOpenId,
  finishOpenId,
  FLOW_MS,
  openIdOf,
  type OpenIdFlow,
} from '../management/open-id.js';
import { optional, shape } from '../shapes/shape.js';
import { defineOperation, inArea, Reply, type OperationDeps } from './operation.js';
import { cookieNamed, sessionCookieHeader } from './session-cookie.js';

const LIMIT = { name: 'open-id' };
/** Browsers keep no cookie that is longer than 4,096 characters with its name. */
const MAX_ID_TOKEN = 3_900;
const ID_TOKEN = 'rerank_id_token';
/** In place of a token that no cookie holds: the provider then asks before it ends the session. */
const TOO_LONG = '-';
/** As the console writes addresses of its pages. */
const PAGE = /^[\w/?=&%.,:+*-]*$/;
const LOGOUT_PATH = '/api/user/oidc/logout';

const begin = defineOperation({
  id: 'beginOpenId',
  method: 'GET',
  path: '/api/user/oidc/login',
  summary: 'Go to the OpenID provider to log in',
  description: '`to` is the page of the console to go on with, such as `keys?status=2`.',
  access: 'public',
  query: shape({ to: optional(Joi.string().allow('').max(2_000)) }),
  redirects: true,
  errors: ['not_found'],
  limit: LIMIT,
  async handler({ deps, query }) {
    const to = query.to ?? '';
    const openId = openIdOf(deps);
    try {
      const { location, flow } = await openId.begin(to);
      const kept = Buffer.from(JSON.stringify(flow)).toString('base64url');
      return goTo(location, [flowCookie(deps, flow.state, kept, FLOW_MS / 1_000)]);
    } catch (error) {
      return toLoginPage(deps, to, error);
    }
  },
});

const finish = defineOperation({
  id: 'finishOpenId',
  method: 'GET',
  path: '/api/user/oidc/callback',
  summary: 'Come back from the OpenID provider, logged in',
  description: 'Begins a session, or leads to the login page, which says why not.',
  access: 'public',
  query: Joi.object<Readonly<Record<string, unknown>>>({
    state: Joi.string().max(256),
    code: Joi.string().max(4_096),
    error: Joi.string().max(256),
  }).unknown(),
  redirects: true,
  errors: ['not_found'],
  limit: LIMIT,
  async handler({ deps, query, cookies, address, block, agent, secure }) {
    openIdOf(deps);
    const state = typeof query.state === 'string' ? query.state : '';
    const flow = flowIn(cookieNamed(flowName(deps, state), cookies), state);
    const over = flowCookie(deps, state, '', 0);
    try {
      const found = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) found.set(name, String(value));
      const { secret, idToken } = await finishOpenId(deps, found, flow, {
        ...{ address, block, agent },
      });
      const session = sessionCookieHeader(secret, secure, deps.logins.sessionMaxMs);
      return goTo(pageOf(deps, flow?.to ?? ''), [over, session, idTokenCookie(deps, idToken)]);
    } catch (error) {
      return toLoginPage(deps, flow?.to ?? '', error, [over]);
    }
  },
});

const leave = defineOperation({
  id: 'leaveOpenId',
  method: 'GET',
  path: LOGOUT_PATH,
  summary: 'Go to the OpenID provider to log out there too',
  access: 'public',
  unsafe: true,
  redirects: true,
  errors: ['not_found'],
  async handler({ deps, cookies }) {
    const openId = openIdOf(deps);
    const ended = [idTokenCookie(deps, '')];
    try {
      const idToken = cookieNamed(ID_TOKEN, cookies);
      // A person who has logged in another way has no session there.
      const address =
        idToken === undefined
          ? undefined
          : await openId.endAddress(idToken === TOO_LONG ? undefined : idToken);
      return goTo(address ?? pageOf(deps, 'login'), ended);
    } catch (error) {
      return toLoginPage(deps, '', error, ended);
    }
  },
});

const end = defineOperation({
  id: 'endOpenId',
  method: 'POST',
  path: LOGOUT_PATH,
  summary: 'End the sessions of somebody who has logged out at the OpenID provider',
  description:
    'For the provider alone: a form with its signed `logout_token` (back-channel logout).',
  access: 'public',
  form: true,
  body: Joi.object<{ logout_token: string }>({
    logout_token: Joi.string().max(16_384).required(),
  }).unknown(),
  errors: ['not_found', 'upstream_error'],
  async handler({ deps, body }) {
    await endOpenId(deps, body.logout_token);
    return null;
  },
});

export const OPEN_ID_OPERATIONS = inArea('sessions', [begin, finish, leave, end]);

function goTo(location: string, cookies: readonly string[]): Reply<null> {
  return new Reply(null, { status: 302, headers: { Location: location, 'Set-Cookie': cookies } });
}

function baseOf({ publicUrl = '' }: Pick<OperationDeps, 'publicUrl'>): string {
  return publicUrl.replace(/\/+$/, '');
}

/** A page of the console, and never anything else: its first page stands for every other address. */
function pageOf(deps: OperationDeps, to: string): string {
  const root = `${baseOf(deps)}/console/`;
  if (!PAGE.test(to) || !URL.canParse(to, root)) return root;
  const { href } = new URL(to, root);
  return href.startsWith(new URL(root).href) ? href : root;
}

/** The page says in its own words what the code means: what others write into an address is not shown. */
function toLoginPage(
  deps: OperationDeps,
  to: string,
  error: unknown,
  cookies: readonly string[] = [],
): Reply<null> {
  if (!(error instanceof GatewayError)) throw error;
  // Mistakes between provider and gateway are for those who run both.
  if (error.cause !== undefined && error.code !== 'permission_denied') {
    deps.later('a login at the OpenID provider', () => Promise.reject(asError(error.cause)));
  }
  const query = new URLSearchParams({ refused: error.code, ...(to === '' ? {} : { to }) });
  return goTo(`${pageOf(deps, 'login')}?${query.toString()}`, cookies);
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

/** One for each login under way, so that two tabs do not disturb each other. Lax: the provider leads back here. */
function flowCookie(deps: OperationDeps, state: string, value: string, maxAgeS: number): string {
  const attributes = [`${flowName(deps, state)}=${value}`, 'Path=/', `Max-Age=${maxAgeS}`];
  const secure = isHttps(deps) ? ['Secure'] : [];
  return [...attributes, 'HttpOnly', 'SameSite=Lax', ...secure].join('; ');
}

/** With this prefix, no neighbour of the gateway's host can set it. */
function flowName(deps: OperationDeps, state: string): string {
  const mark = state.replaceAll(/[^\w-]/g, '').slice(0, 8);
  return `${isHttps(deps) ? '__Host-' : ''}rerank_login_${mark}`;
}

function idTokenCookie(deps: OperationDeps, idToken: string): string {
  const value = idToken.length > MAX_ID_TOKEN ? TOO_LONG : idToken;
  const maxAge = value === '' ? 0 : Math.floor(deps.logins.sessionMaxMs / 1_000);
  const path = new URL(baseOf(deps) + LOGOUT_PATH).pathname;
  const attributes = [`${ID_TOKEN}=${value}`, `Path=${path}`, `Max-Age=${maxAge}`];
  const secure = isHttps(deps) ? ['Secure'] : [];
  return [...attributes, 'HttpOnly', 'SameSite=Strict', ...secure].join('; ');
}

function isHttps({ publicUrl = '' }: Pick<OperationDeps, 'publicUrl'>): boolean {
  return publicUrl.startsWith('https:');
}

/** What the browser kept; `undefined` if it is not of a login of ours. */
function flowIn(value: string | undefined, state: string): OpenIdFlow | undefined {
  if (value === undefined || state === '') return undefined;
  const kept = parsed(Buffer.from(value, 'base64url').toString('utf8'));
  if (!isRecord(kept) || kept.state !== state) return undefined;
  const { nonce, verifier, to, atMs } = kept;
  if (typeof nonce !== 'string' || typeof verifier !== 'string') return undefined;
  return typeof to === 'string' ? { state, nonce, verifier, to, atMs: Number(atMs) } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
