import {
  IncomingMessage,
  Server,
  ServerResponse,
  type RequestListener,
  type ServerOptions,
} from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { GatewayError, systemCode } from '../core/errors.js';
import type { Observe } from '../gateway/events.js';
import {
  asGatewayError,
  errorBody,
  managementErrorBody,
  rawErrorReply,
  sendError,
} from './error-reply.js';
import { healthRoutes, type HealthDeps } from './health-routes.js';
import { docsRoutes } from './docs-routes.js';
import { managementRoutes, type ManagementRouteDeps } from './management-routes.js';
import { newId, requestIdOf } from './request-id.js';
import {
  handleModels,
  handleRerank,
  isRerankPath,
  MODEL_PATH,
  MODELS_PATH,
  type RerankRouteDeps,
} from './rerank-routes.js';

export interface HttpDeps extends RerankRouteDeps, HealthDeps, ManagementRouteDeps {
  readonly observe: Observe;
}

export interface ServerTimeouts {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

/** In the log alone: nobody was there to read it. */
const CLIENT_CLOSED_REQUEST = 499;
const NO_ROUTE = 'none';

/** Everything but the posting of rerank requests, as an Express app: the middleware chain, in order. */
function createHttpApp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');

  app.use(requestId);
  app.use(accessLog(deps.observe, deps.gateway.now));
  app.use(helmet({ contentSecurityPolicy: false }));
  app.use(readOnly(healthRoutes(deps)));
  app.use(modelRoutes(deps));
  app.use(managementRoutes(deps));
  app.use(readOnly(docsRoutes(deps.operations)));
  app.use(unknownPath);
  app.use(failure(deps.observe));
  return app;
}

/**
 * The server with the whole HTTP surface. Its request and response classes are born with the Express app's prototypes:
 * Express would otherwise change the prototype of both on every request, which costs more than all the rest of it.
 */
export function createHttpServer(deps: HttpDeps, timeouts: ServerTimeouts): Server {
  const app = createHttpApp(deps);
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    // What comes on a connection that has had its last answer is not served: its caller would never know.
    if (!req.socket.writable) {
      req.resume();
      return;
    }
    // A connection that is kept while the server closes would be closed under the caller's next request.
    if (!server.listening) res.shouldKeepAlive = false;
    if (req.url?.startsWith('/') === false) req.url = pathOfAddress(req.url);
    // Ahead of Express: the route that is measured in microseconds needs none of what the app does.
    if (req.method === 'POST' && isRerankPath(pathnameOf(req))) void handleRerank(deps, req, res);
    else app(req, res);
  };
  class AppRequest extends IncomingMessage {}
  class AppResponse<
    Request extends IncomingMessage = IncomingMessage,
  > extends ServerResponse<Request> {}
  app.request = adopt(AppRequest.prototype, app.request);
  app.response = adopt(AppResponse.prototype, app.response);
  const server = new PatientServer(
    {
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      headersTimeout: timeouts.headersTimeoutMs,
      requestTimeout: timeouts.headersTimeoutMs + timeouts.bodyTimeoutMs,
      keepAliveTimeout: timeouts.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // Node would answer with a bare 400 of its own; no route here depends on the host.
      requireHostHeader: false,
    },
    serve,
  );
  // Neither is an expectation that nobody knows answered with a bare 417: it may be ignored.
  server.on('checkExpectation', serve);
  // Without a listener Node would close the connection and say nothing.
  server.on('connect', (req: IncomingMessage) => {
    answerConnect(req, new AppResponse(req), serve);
  });
  server.on('clientError', answerBadHttp);
  return server;
}

/**
 * A server to which a connection is idle when its last reply has been taken. To Node it is as soon as the reply was ended:
 * closing it then would cut off whoever is slow to read.
 */
class PatientServer extends Server {
  readonly #sockets = new Set<Socket>();

  constructor(options: ServerOptions, serve: RequestListener) {
    super(options, serve);
    this.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** What is under way is the last that its connection serves, and its reply says so. */
  override close(closed?: (error?: Error) => void): this {
    for (const socket of this.#sockets) {
      const { reply } = workOn(socket);
      if (reply?.headersSent === false) reply.shouldKeepAlive = false;
    }
    return super.close(closed);
  }

  /** Called by `close` too. */
  override closeIdleConnections(): void {
    // Which connection waits for a request is known to Node alone, and it destroys what does: these must not hear of it.
    const unread = [...this.#sockets].filter((socket) => socket.writableLength > 0);
    for (const socket of unread) socket.destroy = () => socket;
    super.closeIdleConnections();
    for (const socket of unread) Reflect.deleteProperty(socket, 'destroy');
  }
}

/** Makes `prototype` what Express expects as its own: inherits from Express's, and has what the app put on it. */
function adopt<T extends object>(prototype: object, expressOwn: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressOwn) as object);
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(expressOwn));
  return prototype as T;
}

function pathnameOf(req: IncomingMessage): string {
  const url = req.url ?? '/';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The path and query of a target that does not begin with them: Express has no error for one that it finds no path in. */
function pathOfAddress(target: string): string {
  // A client that takes this for a proxy sends the whole address; CONNECT has a host and a port.
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

function requestId(req: Request, res: Response, next: NextFunction): void {
  const id = requestIdOf(req) ?? newId();
  res.setHeader('X-Request-Id', id);
  res.setHeader('X-Oneapi-Request-Id', id);
  next();
}

function accessLog(observe: Observe, now: () => number) {
  return (req: Request, res: Response, next: NextFunction): void => {
    const startedMs = now();
    res.once('close', () => {
      observe({
        kind: 'access',
        requestId: String(res.getHeader('X-Request-Id')),
        method: req.method,
        route: routeOf(req),
        status: res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST,
        durationMs: now() - startedMs,
      });
    });
    next();
  };
}

/** The pattern that Express has matched; the first where one route has several. */
function routeOf(req: Request): string {
  const route: unknown = req.route;
  if (typeof route !== 'object' || route === null || !('path' in route)) return NO_ROUTE;
  const path: unknown = Array.isArray(route.path) ? route.path[0] : route.path;
  return typeof path === 'string' ? path : NO_ROUTE;
}

function modelRoutes(deps: RerankRouteDeps): express.Router {
  const router = express.Router();
  // The names by which the log knows them are first.
  const list = ['/v1/models', MODELS_PATH];
  const one = ['/v1/models/*model', MODEL_PATH];
  router.get(list, async (req, res) => {
    res.json(await handleModels(deps, req, undefined));
  });
  router.get(one, async (req, res) => {
    const { model } = req.params;
    res.json(await handleModels(deps, req, Array.isArray(model) ? model.join('/') : model));
  });
  router.all([...list, ...one], allow('GET, HEAD'));
  router.use((req, _res, next) => {
    if (isRerankPath(pathnameOf(req))) allow('POST')(req);
    next();
  });
  return router;
}

/** Answers every other method of a path that exists. */
function allow(methods: string): (req: Request) => never {
  return (req) => {
    throw new GatewayError(
      'method_not_allowed',
      `${req.method} is not allowed on this path; use ${methods}.`,
      { headers: { Allow: methods } },
    );
  };
}

/** A router all of whose routes answer GET; every other method on their paths is told so. */
function readOnly(router: express.Router): express.Router {
  const paths = router.stack.flatMap(({ route }) => route?.path ?? []);
  for (const path of paths) router.all(path, allow('GET, HEAD'));
  return router;
}

function unknownPath(req: Request): never {
  throw new GatewayError('not_found', `There is nothing at ${req.method} ${shortPath(req.path)}.`);
}

function failure(observe: Observe) {
  return (thrown: unknown, req: Request, res: Response, next: NextFunction): void => {
    if (res.headersSent) {
      next(thrown);
      return;
    }
    const error = asGatewayError(thrown);
    if (error.code === 'internal_error') {
      observe({
        kind: 'fault',
        what: `${req.method} ${shortPath(req.path)} failed`,
        error: thrown,
      });
    }
    sendError(res, error, /^\/api(\/|$)/i.test(req.path) ? managementErrorBody : errorBody);
  };
}

const MAX_SHOWN_PATH = 100;

function shortPath(path: string): string {
  return path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}…` : path;
}

/** How long the last answer of a connection has to arrive. */
const LAST_ANSWER_MS = 1_000;

/**
 * Answers CONNECT like any other method that a path does not have, behind the replies to the requests before it. Node takes a
 * tunnel to begin, and has let go of the connection: it is closed here.
 */
function answerConnect(
  req: IncomingMessage,
  res: ServerResponse,
  serve: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  const { socket } = req;
  // What comes now would go through the tunnel. It is read all the same: closing on it would reset the connection.
  socket.on('error', () => socket.destroy()).resume();
  const answer = (): void => {
    const { reply } = workOn(socket);
    if (reply !== undefined) {
      reply.on('close', answer);
      return;
    }
    if (!socket.writable) return;
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.on('finish', () => endSoon(socket));
    serve(req, res);
  };
  answer();
}

/** Connections on which nothing more can be read. Each further byte that comes is told as one more error. */
const unreadable = new WeakSet<Socket>();

/**
 * Answers what is no readable HTTP request, in the shape of every other error, and closes the connection. Replies to the
 * requests before it go first.
 */
function answerBadHttp(error: Error, socket: Socket): void {
  if (unreadable.has(socket)) {
    if (socket.readableEnded) socket.end();
    return;
  }
  unreadable.add(socket);
  const hasCome = arrivalOn(socket);
  const answer = (): void => {
    const { reply, request } = workOn(socket);
    if (systemCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT' && hasCome()) {
      unreadable.delete(socket);
      return;
    }
    if (reply?.req.complete === true) {
      reply.on('close', answer);
      return;
    }
    const isGone = !socket.writable || systemCode(error) === 'ECONNRESET';
    // A request may have had its answer before it was there as a whole.
    const isAnswered = reply === undefined ? request?.complete === false : reply.headersSent;
    if (isGone || isAnswered) socket.destroySoon();
    else endWithError(socket, error);
  };
  answer();
}

/** Tells whether the request that a connection waits for now, or for the rest of, has come as a whole since. */
function arrivalOn(socket: Socket): () => boolean {
  const { request: last } = workOn(socket);
  if (last?.complete === false) return () => last.complete;
  return () => {
    const { request } = workOn(socket);
    return request !== last && request?.complete === true;
  };
}

/** What Node keeps on a socket under no public name, and asks itself before it answers what it cannot read. */
interface WorkingSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/** The reply that a connection is busy with, and the last request whose headers came. */
function workOn({ _httpMessage: reply, parser }: WorkingSocket) {
  return { reply: reply ?? undefined, request: parser?.incoming ?? undefined };
}

function endWithError(socket: Socket, error: Error): void {
  const code = systemCode(error);
  const reply =
    code === 'HPE_HEADER_OVERFLOW'
      ? new GatewayError('headers_too_large', 'The headers are too large.')
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new GatewayError('request_timeout', 'The request did not arrive in time.')
        : new GatewayError('invalid_request', 'The request is not valid HTTP.');
  endSoon(socket, rawErrorReply(reply));
}

/** Ends a connection. A caller that never closes its own side would hold it for ever. */
function endSoon(socket: Socket, last = ''): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.on('close', () => clearTimeout(timer));
}
