import express, { type Request, type Response, type Router } from 'express';
import { GatewayError } from '../core/errors.js';
import { withoutKeys } from '../core/secret.js';
import { storeAnswers } from '../gateway/admission.js';
import { ADMIN_ROLE } from '../management/audit.js';
import { countAttempt } from '../management/attempts.js';
import type { Authenticate } from './authentication.js';
import { allow } from './allow.js';
import { addressBlock, clientAddress, isSecure, AddressList } from './client-address.js';
import { onlyOnce, type KeptReply } from './idempotency.js';
import { Load, type Place } from './load.js';
import { createFindLogin, sessionCookie, type FindLogin } from './login.js';
import {
  FileReply,
  type Method,
  type Operation,
  type OperationCall,
  type OperationDeps,
  type PreparedOperation,
} from '../operations/operation.js';
import { refuseForeignOrigin } from './origin.js';
import { createFindVouched, type ProxyHeaders } from './proxy-login.js';
import { whoCalls } from './who-calls.js';
import { readBody, readForm } from './read-input.js';

export interface ManagementRouteDeps {
  readonly operations: readonly Operation[];
  readonly management: OperationDeps;
  readonly authenticate: Authenticate;
  readonly trustedProxies: AddressList | undefined;
  /** Where a proxy names whom it has authenticated, if one does. */
  readonly proxyHeaders: ProxyHeaders | undefined;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
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
