import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { asGatewayError, GatewayError } from '../core/errors.js';
import { newId } from '../gateway/request-id.js';
import type { Observe } from '../gateway/events.js';
import { errorBody } from '../ingress/cohere.js';
import { ingressRoute } from '../ingress/index.js';
import { allow } from './allow.js';
import { managementErrorBody, sendError } from './error-reply.js';
import {
  answerBadHttp,
  answerConnect,
  mustBeTaken,
  PatientServer,
  readOnForAWhile,
} from './connections.js';
import { healthRoutes, type HealthDeps } from './health-routes.js';
import { consoleRoutes, type ConsoleFiles } from './console-routes.js';
import { docsRoutes } from './docs-routes.js';
import { afterPreface, Http2Connections, Http2Request, Http2Response } from './http2.js';
import { managementRoutes, type ManagementRouteDeps } from './management-routes.js';
import { modelRoutes } from './model-routes.js';
import { holdStream, Pacing, SMALL_BYTES } from './pacing.js';
import { pathnameOf } from './pathname.js';
import { requestIdOf } from './request-id.js';
import { handleRerank, type RerankRouteDeps } from './rerank-exchange.js';

export interface HttpDeps extends RerankRouteDeps, HealthDeps, ManagementRouteDeps {
  /** 0: no `Strict-Transport-Security`. */
  readonly hstsMaxAgeS: number;
  readonly observe: Observe;
  /** The browser console; absent if it is switched off or was not built. */
  readonly console: ConsoleFiles | undefined;
}

export interface ServerOptions {
  /** Whether connections that begin with HTTP/2 are served. */
  readonly http2: boolean;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

/** Only in the log: nobody was there to read it. */
const CLIENT_CLOSED_REQUEST = 499;
const NO_ROUTE = 'none';
/** Small pieces that any body may come in. */
const FEW_PIECES = 64;

/** Everything but the posting of rerank requests, as an Express app: the middleware chain, in order. */
function createHttpApp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');

  app.use(takenInTime);
  app.use(requestId);
  app.use(accessLog(deps.observe, deps.gateway.now));
  app.use(
    helmet({
      contentSecurityPolicy: false,
      // A gateway that is also reached without TLS would lock its callers out.
      strictTransportSecurity:
        deps.hstsMaxAgeS === 0 ? false : { maxAge: deps.hstsMaxAgeS, includeSubDomains: false },
    }),
  );
  app.use(readOnly(healthRoutes(deps)));
  app.use(modelRoutes(deps, deps));
  app.use(managementRoutes(deps));
  app.use(readOnly(docsRoutes(deps.operations)));
  if (deps.console !== undefined) app.use(consoleRoutes(deps.console));
  app.use(unknownPath);
  app.use(failure(deps.observe));
  return app;
}

/**
 * The server with the whole HTTP surface. Its request and response classes are created with the Express app's prototypes;
 * otherwise Express would change the prototype of both on every request, which costs more than all the rest.
 */
export function createHttpServer(deps: HttpDeps, options: ServerOptions): PatientServer {
  const app = createHttpApp(deps);
  const pacing = new Pacing(holdStream);
  /** A request behind others of its connection has no connection to answer on yet. */
  const paced = (serve: RequestListener) => (req: IncomingMessage, res: ServerResponse) => {
    if (res.socket === null) pacing.begin(req.socket, () => serve(req, res));
    else serve(req, res);
  };
  const serveWith = (handle: RequestListener) => (req: IncomingMessage, res: ServerResponse) => {
    // What arrives on a connection after its last answer is not served: its caller would never know.
    if (!req.socket.writable) {
      req.resume();
      return;
    }
    // A connection that stayed open while the server closes would be closed under the caller's next request.
    if (server.isDraining) res.shouldKeepAlive = false;
    if (req.url?.startsWith('/') !== true) req.url = pathOfAddress(req.url ?? '');
    // Ahead of Express: the route that is measured in microseconds needs nothing that the app does.
    const route = req.method === 'POST' ? ingressRoute(pathnameOf(req)) : undefined;
    if (route !== undefined) void handleRerank(deps, req, res, route);
    else handle(req, res);
  };
  const serve = paced(serveWith(app));
  const http2 = options.http2 ? new Http2Connections(options, serveWith(onHttp2(app))) : undefined;
  class AppRequest extends IncomingMessage {
    #small = 0;

    /** Node hands over the body here. */
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk !== null && chunk.length < SMALL_BYTES && ++this.#small > FEW_PIECES) {
        pacing.count(this.socket);
      }
      return super.push(chunk, encoding);
    }
  }
  class AppResponse<
    Request extends IncomingMessage = IncomingMessage,
  > extends ServerResponse<Request> {}
  app.request = adopt(AppRequest.prototype, app.request);
  app.response = adopt(AppResponse.prototype, app.response);
  const server: PatientServer = new PatientServer(
    {
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.headersTimeoutMs + options.bodyTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // Node would answer with a bare 400 of its own; no route here depends on the host.
      requireHostHeader: false,
    },
    serve,
    http2,
  );
  // An unknown expectation does not get a bare 417 either: it may be ignored.
  server.on('checkExpectation', serve);
  // Without a listener Node would close the connection and say nothing.
  server.on('connect', (req: IncomingMessage) => {
    answerConnect(req, new AppResponse(req), serve);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    const rest = http2 === undefined ? undefined : afterPreface(error, socket);
    if (rest === undefined) answerBadHttp(error, socket);
    else http2?.take(socket, rest);
  });
  return server;
}

/** Makes `prototype` what Express expects: it inherits from Express's, and has what the app added to it. */
function adopt<T extends object>(prototype: object, expressOwn: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressOwn) as object);
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(expressOwn));
  return prototype as T;
}

/**
 * The same app for HTTP/2, of whose requests and responses Express knows nothing: a copy of its methods stands between our
 * classes and Node's.
 */
function onHttp2(app: Express): RequestListener {
  const request = over(Http2ServerRequest.prototype, app.request);
  const response = over(Http2ServerResponse.prototype, app.response);
  const twin = Object.create(app, {
    request: { value: adopt(Http2Request.prototype, request) },
    response: { value: adopt(Http2Response.prototype, response) },
  }) as { handle: RequestListener };
  // The app itself, when called, would handle the request as its own.
  return (req, res) => twin.handle(req, res);
}

/** What Express has for requests or responses, on top of `base` instead of HTTP/1's. */
function over<T extends object>(base: object, expressOwn: T): T {
  const express = Object.getPrototypeOf(expressOwn) as object;
  const methods = Object.create(base, Object.getOwnPropertyDescriptors(express)) as object;
  return Object.create(methods, Object.getOwnPropertyDescriptors(expressOwn)) as T;
}

/** The path and query of a target that does not begin with them: Express reports no error if it finds no path in one. */
function pathOfAddress(target: string): string {
  // A client that takes this for a proxy sends the whole address; CONNECT has a host and a port.
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** A reply that is never read would hold its connection for ever. */
function takenInTime(_req: Request, res: Response, next: NextFunction): void {
  res.once('prefinish', () => mustBeTaken(res));
  next();
}

function requestId(req: Request, res: Response, next: NextFunction): void {
  const id = requestIdOf(req) ?? newId();
  res.setHeader('X-Request-Id', id);
  res.setHeader('X-Oneapi-Request-Id', id);
  next();
}

function idOf(res: Response): string {
  return String(res.getHeader('X-Request-Id'));
}

function accessLog(observe: Observe, now: () => number) {
  return (req: Request, res: Response, next: NextFunction): void => {
    const startedMs = now();
    res.once('close', () => {
      observe({
        kind: 'access',
        requestId: idOf(res),
        method: req.method,
        route: routeOf(req),
        status: res.headersSent ? res.statusCode : CLIENT_CLOSED_REQUEST,
        durationMs: now() - startedMs,
      });
    });
    next();
  };
}

/** The pattern that Express matched; the first if one route has several. */
function routeOf(req: Request): string {
  const route: unknown = req.route;
  if (typeof route !== 'object' || route === null || !('path' in route)) return NO_ROUTE;
  const path: unknown = Array.isArray(route.path) ? route.path[0] : route.path;
  return typeof path === 'string' ? path : NO_ROUTE;
}

/** A router whose routes all answer GET; every other method on their paths is refused. */
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
        requestId: idOf(res),
      });
    }
    const isManagement = /^\/api(\/|$)/i.test(req.path);
    readOnForAWhile(req);
    const bodyOf = isManagement ? managementErrorBody : errorBody;
    sendError(res, error, { body: bodyOf(error, idOf(res)) });
  };
}

const MAX_SHOWN_PATH = 100;

function shortPath(path: string): string {
  return path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}…` : path;
}
