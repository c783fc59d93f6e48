import express, { type Request, type Response, type Router } from 'express';
import { GatewayError } from '../core/errors.js';
import { storeAnswers } from '../gateway/admission.js';
import { ADMIN_ROLE, ROOT_ROLE, type Actor } from '../management/audit.js';
import { hashSecret } from '../management/secrets.js';
import type { Login } from '../management/sessions.js';
import { actorOf } from '../management/users.js';
import type { Authenticate } from './authentication.js';
import { readJsonBody } from './body.js';
import { addressBlock, clientAddress, isSecure, type AddressList } from './client-address.js';
import { onlyOnce, type KeptReply } from './idempotency.js';
import { Load } from './load.js';
import { createFindLogin, sessionCookie, type FindLogin } from './login.js';
import {
  FileReply,
  type Access,
  type Method,
  type Operation,
  type OperationCall,
  type OperationDeps,
  type PreparedOperation,
} from './operation.js';
import { refuseForeignOrigin } from './origin.js';

export interface ManagementRouteDeps {
  readonly operations: readonly Operation[];
  readonly management: OperationDeps;
  readonly authenticate: Authenticate;
  readonly trustedProxies: AddressList | undefined;
}

const MANAGEMENT_BODY_LIMIT_BYTES = 1024 * 1024;
/** Apart from the data plane's, so that a tag can be switched off in the middle of an overload. */
const MAX_REQUESTS = 200;
const MAX_BYTES = 32 * 1024 * 1024;

const LEAST_ROLE: Readonly<Record<'login' | 'admin' | 'root', number>> = {
  login: 1,
  admin: ADMIN_ROLE,
  root: ROOT_ROLE,
};

/** Everything below `/api`, from the table of operations. */
export function managementRoutes(deps: ManagementRouteDeps): Router {
  const router = express.Router();
  const load = new Load(MAX_REQUESTS, MAX_BYTES);
  const findLogin = createFindLogin(deps.management);
  router.use('/api', (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  for (const [path, operations] of byPath(deps.operations)) {
    for (const operation of operations) {
      router[toVerb(operation.method)](path, (req, res) =>
        serve(deps, findLogin, load, operation, req, res),
      );
    }
    const methods = operations.map(({ method }) => method);
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    router.all(path, (req) => {
      throw new GatewayError(
        'method_not_allowed',
        `${req.method} is not allowed on this path; use ${allowed.join(', ')}.`,
        { headers: { Allow: allowed.join(', ') } },
      );
    });
  }
  return router;
}

/** Operations by path, those with parameters last: `/api/user/self` is no id. */
function byPath(operations: readonly Operation[]): [string, Operation[]][] {
  const paths = new Map<string, Operation[]>();
  for (const operation of operations) {
    const list = paths.get(operation.path) ?? [];
    list.push(operation);
    paths.set(operation.path, list);
  }
  const parameters = (path: string): number => path.split('/:').length;
  return [...paths].sort(([a], [b]) => parameters(a) - parameters(b));
}

function toVerb(method: Method): 'get' | 'post' | 'put' | 'delete' {
  return method.toLowerCase() as Lowercase<Method>;
}

/** One request, from the cookie to the envelope. */
async function serve(
  deps: ManagementRouteDeps,
  findLogin: FindLogin,
  load: Load,
  operation: Operation,
  req: Request,
  res: Response,
): Promise<void> {
  // Where no body is read, none is kept.
  const declaredBytes = operation.body === undefined ? 0 : req.headers['content-length'];
  const place = load.enter(Number(declaredBytes ?? 0), MANAGEMENT_BODY_LIMIT_BYTES);
  try {
    await storeAnswers(async () => {
      const address = clientAddress(req, deps.trustedProxies);
      const secure = isSecure(req, deps.trustedProxies);
      refuseForeignPage(operation, req, deps.trustedProxies);
      const who = await whoCalls(deps, findLogin, operation.access, address, req, res);
      await countAttempt(deps, operation, 'ip', addressBlock(address));
      const body = operation.body === undefined ? undefined : await readBody(req, load, place);
      const { params, query } = req;
      const surroundings = { deps: deps.management, address, secure };
      const call: OperationCall = { ...surroundings, ...who, params, query, body };
      const prepared = operation.prepare(call);
      if (prepared.account !== undefined) {
        await countAttempt(deps, operation, 'account', hashSecret(prepared.account));
      }
      await answer(deps, operation, prepared, call, req, res);
    });
  } finally {
    load.leave(place);
  }
}

/** A cookie is sent by browsers on their own, so that what changes something must come from our own pages. */
function refuseForeignPage(
  { method, unsafe = method !== 'GET' }: Operation,
  req: Request,
  trustedProxies: AddressList | undefined,
): void {
  // A blank header is none: then it is the cookie that counts.
  if (!unsafe || (req.headers.authorization ?? '').trim() !== '') return;
  const proxied = trustedProxies?.includes(req.socket.remoteAddress ?? '') === true;
  const hosts = [req.headers.host, proxied ? req.headers['x-forwarded-host'] : undefined];
  refuseForeignOrigin(
    req,
    hosts.filter((host) => typeof host === 'string'),
  );
}

async function whoCalls(
  deps: ManagementRouteDeps,
  findLogin: FindLogin,
  access: Access,
  address: string,
  req: Request,
  res: Response,
): Promise<
  Pick<Extract<OperationCall, { identity: unknown }>, 'identity'> | { actor: Actor; login?: Login }
> {
  if (access === 'public') {
    return { actor: { id: undefined, name: 'anonymous', role: 0, address } };
  }
  if (access === 'key') {
    const identity = await deps.authenticate(req);
    if (!identity.credential.userEnabled) throw userDisabled();
    return { identity };
  }
  const login = await findLogin(req, res);
  if (login === undefined) {
    throw new GatewayError('unauthorized', 'Log in first, or send an access token.');
  }
  const { user } = login;
  const named = req.headers['new-api-user'];
  if (named !== undefined && named !== String(user.id)) {
    throw new GatewayError('unauthorized', 'The header New-Api-User names another user.');
  }
  if (!user.enabled) throw userDisabled();
  if (user.role < LEAST_ROLE[access]) {
    throw new GatewayError('permission_denied', 'Your account may not do this.');
  }
  return { login, actor: actorOf(user, address) };
}

function userDisabled(): GatewayError {
  return new GatewayError('user_disabled', 'The account is disabled.');
}

async function countAttempt(
  { management: { store, now, accounts } }: ManagementRouteDeps,
  { limit }: Operation,
  by: 'ip' | 'account',
  who: string,
): Promise<void> {
  if (limit === undefined) return;
  const most = by === 'ip' ? accounts.attemptsPerAddress : accounts.attemptsPerAccount;
  const name = `${limit.name}:${by}:${who}`;
  const taken = await store.takeLimit(name, most, accounts.attemptsWindowMs, now());
  if (taken.allowed) return;
  throw new GatewayError('rate_limited', 'Too many attempts; try again later.', {
    retryAfterMs: taken.retryAfterMs,
  });
}

async function readBody(
  req: Request,
  load: Load,
  place: ReturnType<Load['enter']>,
): Promise<unknown> {
  const bytes = await readJsonBody(req, MANAGEMENT_BODY_LIMIT_BYTES, load, place);
  if (bytes.length === 0) return {};
  // Without a type it is read elsewhere, but a page of another site can send that without asking.
  if (req.headers['content-type'] === undefined) {
    throw new GatewayError(
      'unsupported_media_type',
      'The body must be JSON: send the header Content-Type: application/json.',
    );
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid JSON.', { cause: error });
  }
}

async function answer(
  deps: ManagementRouteDeps,
  operation: Operation,
  prepared: PreparedOperation,
  call: OperationCall,
  req: Request,
  res: Response,
): Promise<void> {
  const key = operation.idempotent === true ? req.headers['idempotency-key'] : undefined;
  if (key === undefined || !('login' in call)) {
    const reply = await prepared.run();
    if (reply instanceof FileReply) {
      sendFile(res, reply);
      return;
    }
    for (const [name, value] of Object.entries(reply.extras.headers ?? {})) {
      res.setHeader(name, value);
    }
    send(res, envelope(reply.data, reply.extras));
    return;
  }
  const { store, now } = deps.management;
  const { login, params, query, body } = call;
  const request = {
    key: Array.isArray(key) ? key.join(',') : key,
    scope: `${login.user.id} ${operation.id}`,
    request: JSON.stringify([params, query, body]),
    secret: presentedSecret(req),
  };
  const kept = await onlyOnce(store, now, request, async () => {
    const reply = await prepared.run();
    if (reply instanceof FileReply) return { status: 200, body: JSON.stringify({ file: reply }) };
    return envelope(reply.data, reply.extras);
  });
  sendKept(res, kept);
}

/** Sends a reply that was kept, or is to be: an envelope, or a file in a wrapping of its own. */
function sendKept(res: Response, kept: KeptReply): void {
  // Both are written above.
  const { file } = JSON.parse(kept.body) as { readonly file?: FileReply };
  if (file === undefined) send(res, kept);
  else sendFile(res, file);
}

/** What the caller is logged in with. */
function presentedSecret(req: Request): string {
  return req.headers.authorization ?? sessionCookie(req) ?? '';
}

function envelope(
  data: unknown,
  { status = 200, message = '' }: { readonly status?: number; readonly message?: string },
): KeptReply {
  return { status, body: JSON.stringify({ success: true, message, data }) };
}

function send(res: Response, { status, body }: KeptReply): void {
  res.status(status).type('application/json').send(body);
}

function sendFile(res: Response, { mediaType, name, text }: FileReply): void {
  res.setHeader('Content-Disposition', `attachment; filename="${name}"`);
  res.type(mediaType).send(text);
}
