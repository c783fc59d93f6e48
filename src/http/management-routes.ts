import express, { type Request, type Response, type Router } from 'express';
import { GatewayError } from '../core/errors.js';
import { withoutKeys } from '../core/secret.js';
import { storeAnswers } from '../gateway/admission.js';
import { judgeAddress, unknownKey } from '../gateway/key-refusals.js';
import { ADMIN_ROLE, AUDITOR_ROLE, ROOT_ROLE, type Actor } from '../management/audit.js';
import { countAttempt } from '../management/attempts.js';
import type { Login } from '../management/sessions.js';
import { actorOf } from '../management/users.js';
import type { Authenticate } from './authentication.js';
import { allow } from './allow.js';
import { readFormBody, readJsonBody } from './body.js';
import { addressBlock, clientAddress, isSecure, AddressList } from './client-address.js';
import { onlyOnce, type KeptReply } from './idempotency.js';
import { Load, type Place } from './load.js';
import { createFindLogin, sessionCookie, type FindLogin } from './login.js';
import {
  FileReply,
  type Access,
  type Method,
  type Operation,
  type OperationCall,
  type OperationDeps,
  type PreparedOperation,
} from '../operations/operation.js';
import { refuseForeignOrigin } from './origin.js';
import { createFindVouched, type ProxyHeaders } from './proxy-login.js';

export interface ManagementRouteDeps {
  readonly operations: readonly Operation[];
  readonly management: OperationDeps;
  readonly authenticate: Authenticate;
  readonly trustedProxies: AddressList | undefined;
  /** Where a proxy names whom it has authenticated, if one does. */
  readonly proxyHeaders: ProxyHeaders | undefined;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
/** For a body of at most that size, which any line delivers in a second. */
const BODY_WITHIN_MS = 5_000;
const MIB = 1024 * 1024;

/**
 * What is in flight here, apart from the data plane's, so that a tag can be switched off in the middle of an overload.
 * Each address and account has only a part of it; admins have separate places; and the caller is identified before
 * a body is read.
 */
class ManagementLoad {
  readonly #finding = new Load(200, MIB, 0.5);
  readonly #general = new Load(200, 32 * MIB, 0.5);
  readonly #admins = new Load(100, 32 * MIB, 0.5);

  /** Identifies the caller, in a separate place. */
  async find<T>(address: string, work: () => Promise<T>): Promise<T> {
    const place = this.#finding.enter(0, 0);
    try {
      this.#finding.own(place, address, 0, 0);
      return await work();
    } finally {
      this.#finding.leave(place);
    }
  }

  /** Runs the rest, in one of the admins' places or of everybody's. */
  async run<T>(
    owners: { readonly address: string; readonly account: string | undefined },
    isAdmin: boolean,
    { declaredBytes, mostBytes }: { readonly declaredBytes: number; readonly mostBytes: number },
    work: (load: Load, place: Place) => Promise<T>,
  ): Promise<T> {
    const load = isAdmin ? this.#admins : this.#general;
    const place = load.enter(declaredBytes, mostBytes);
    try {
      // Admins may share an address with the people they have to deal with.
      const names = [isAdmin ? undefined : owners.address, owners.account];
      for (const name of names) {
        if (name !== undefined) load.own(place, name, declaredBytes, mostBytes);
      }
      return await work(load, place);
    } finally {
      load.leave(place);
    }
  }
}

const LEAST_ROLE: Readonly<Record<'login' | 'auditor' | 'admin' | 'root', number>> = {
  login: 1,
  auditor: AUDITOR_ROLE,
  admin: ADMIN_ROLE,
  root: ROOT_ROLE,
};

/** Everything below `/api`, from the table of operations. */
export function managementRoutes(deps: ManagementRouteDeps): Router {
  const router = express.Router();
  const load = new ManagementLoad();
  const { management, proxyHeaders, trustedProxies } = deps;
  const byProxy = proxyHeaders && createFindVouched(management, proxyHeaders, trustedProxies);
  const findLogin = createFindLogin(management, byProxy);
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
    router.all(path, allow(allowed.join(', ')));
  }
  return router;
}

/** As much of a client's name for itself as is kept with a login. */
const MAX_AGENT = 256;

/** Operations by path, those with parameters last: `/api/user/self` is not an id. */
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
  load: ManagementLoad,
  operation: Operation,
  req: Request,
  res: Response,
): Promise<void> {
  const address = clientAddress(req, deps.trustedProxies);
  const block = addressBlock(address);
  await storeAnswers(async () => {
    refuseForeignPage(operation, req, deps.trustedProxies);
    const find = (): ReturnType<typeof whoCalls> =>
      whoCalls(deps, findLogin, operation.access, address, req, res);
    const who = operation.access === 'public' ? await find() : await load.find(block, find);
    const owners = { address: block, account: accountOf(who) };
    const isAdmin = roleOf(who) >= ADMIN_ROLE;
    // Where no body is read, none is kept.
    const declared = operation.body === undefined ? 0 : req.headers['content-length'];
    const { bodyLimitBytes: mostBytes = BODY_LIMIT_BYTES } = operation;
    const bodySize = { declaredBytes: Number(declared ?? 0), mostBytes };
    await load.run(owners, isAdmin, bodySize, async (own, place) => {
      await countFrom(deps, operation, block);
      const body =
        operation.body === undefined
          ? undefined
          : await (operation.form === true ? readForm : readBody)(req, mostBytes, own, place);
      const { params, query } = req;
      const secure = isSecure(req, deps.trustedProxies);
      const requestId = String(res.getHeader('X-Request-Id'));
      const agent = withoutKeys(req.headers['user-agent'] ?? '').slice(0, MAX_AGENT);
      const { cookie: cookies = '' } = req.headers;
      const surroundings = {
        ...{ deps: deps.management, requestId, address, block, secure, agent, cookies },
      };
      const call: OperationCall = { ...surroundings, ...who, params, query, body };
      const prepared = operation.prepare(call);
      const { account } = prepared;
      if (operation.limit !== undefined && account !== undefined) {
        // A logged-in caller can only use up their own attempts.
        const from = operation.access === 'public' ? block : 'anywhere';
        await countAttempt(deps.management, operation.limit.name, account, from);
      }
      await answer(deps, operation, prepared, call, req, res);
    });
  });
}

type Who = Awaited<ReturnType<typeof whoCalls>>;

function roleOf(who: Who): number {
  if ('actor' in who) return who.actor.role;
  return 'login' in who ? (who.login?.user.role ?? 0) : 0;
}

/** Whose places a request takes: an account's or a key's. */
function accountOf(who: Who): string | undefined {
  if ('identity' in who) return who.identity.keyHash;
  const id = 'actor' in who ? who.actor.id : who.login?.user.id;
  return id === undefined ? undefined : `user ${id}`;
}

/** Browsers send a cookie by themselves, so a change must come from our own pages. */
function refuseForeignPage(
  { method, unsafe = method !== 'GET' }: Operation,
  req: Request,
  trustedProxies: AddressList | undefined,
): void {
  // A blank header counts as absent: then the cookie decides.
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
  | Pick<Extract<OperationCall, { identity: unknown }>, 'identity'>
  | { actor: Actor; login?: Login }
  | Visitor
> {
  if (access === 'public') {
    return { actor: { id: undefined, name: 'anonymous', role: 0, address } };
  }
  if (access === 'visitor') return loginIfAny(findLogin, req, res);
  if (access === 'key') {
    // Memory is good enough to admit a rerank request, which the store judges again; here nothing comes after.
    const { keyHash } = await deps.authenticate(req);
    const credential = await deps.management.gateway.credentials.findFresh(keyHash);
    if (credential === undefined) throw unknownKey();
    if (!credential.userEnabled) throw userDisabled();
    judgeAddress({
      credential,
      addressAllowed: (allowIps) => new AddressList(allowIps).includes(address),
    });
    return { identity: { keyHash, credential } };
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

type Visitor = Pick<
  Extract<OperationCall, { login: Login | undefined; refusal: unknown }>,
  'login' | 'refusal'
>;

/** A login that has ended counts as none: the caller wants to know just that, and why nobody may log in who was vouched for. */
async function loginIfAny(findLogin: FindLogin, req: Request, res: Response): Promise<Visitor> {
  try {
    const login = await findLogin(req, res);
    return { login: login?.user.enabled === true ? login : undefined, refusal: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    const isOver = error.code === 'unauthorized' && error.cause === undefined;
    return { login: undefined, refusal: isOver ? undefined : error.message };
  }
}

function userDisabled(): GatewayError {
  return new GatewayError('user_disabled', 'The account is disabled.');
}

/** Counts one attempt from an address block, on any account. */
async function countFrom(
  { management: { store, now, accounts } }: ManagementRouteDeps,
  { limit }: Operation,
  block: string,
): Promise<void> {
  if (limit === undefined) return;
  const name = `${limit.name}:ip:${block}`;
  const { attemptsPerAddress: most, attemptsWindowMs: windowMs } = accounts;
  const taken = await store.takeLimit(name, most, windowMs, now());
  if (taken.allowed) return;
  throw new GatewayError('rate_limited', 'Too many attempts; try again later.', {
    retryAfterMs: taken.retryAfterMs,
  });
}

/** Refuses what is not valid, and leaves out a byte-order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The members of a form, each once. */
async function readForm(
  req: Request,
  mostBytes: number,
  load: Load,
  place: Place,
): Promise<unknown> {
  const bytes = await readFormBody(req, mostBytes, load, place, BODY_WITHIN_MS);
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
}

async function readBody(
  req: Request,
  mostBytes: number,
  load: Load,
  place: ReturnType<Load['enter']>,
): Promise<unknown> {
  const bytes = await readJsonBody(req, mostBytes, load, place, BODY_WITHIN_MS);
  if (bytes.length === 0) return {};
  // A body without a type is read elsewhere, but a page of another site can send one without a preflight.
  if (req.headers['content-type'] === undefined) {
    throw new GatewayError(
      'unsupported_media_type',
      'The body must be JSON: send the header Content-Type: application/json.',
    );
  }
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
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
  const login = 'login' in call ? call.login : undefined;
  if (key === undefined || login === undefined) {
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
  const { params, query, body } = call;
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

/** Sends a reply that was kept or is about to be: an envelope, or a wrapped file. */
function sendKept(res: Response, kept: KeptReply): void {
  // Both are written above.
  const { file } = JSON.parse(kept.body) as { readonly file?: FileReply };
  if (file === undefined) send(res, kept);
  else sendFile(res, file);
}

/** The caller's login secret. */
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
