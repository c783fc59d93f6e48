import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { asGatewayError, GatewayError } from '../core/errors.js';
import type { Observe } from '../gateway/events.js';
import { newId } from '../gateway/request-id.js';
import { errorBody } from '../ingress/cohere.js';
import { RERANK_PATHS } from '../ingress/index.js';
import { allow } from './allow.js';
import { mustBeTaken, readOnForAWhile } from './connections.js';
import { consoleRoutes, type ConsoleFiles } from './console-routes.js';
import { docsRoutes } from './docs-routes.js';
import { managementErrorBody, sendError } from './error-reply.js';
import { healthRoutes, type HealthDeps } from './health-routes.js';
import { managementRoutes, type ManagementRouteDeps } from './management-routes.js';
import { modelRoutes } from './model-routes.js';
import { requestIdOf } from './request-id.js';
import type { RerankRouteDeps } from './rerank-deps.js';
import { onlyPosted, rerankRoute } from './rerank-route.js';

export interface HttpDeps extends RerankRouteDeps, HealthDeps, ManagementRouteDeps {
  /** 0: no `Strict-Transport-Security`. */
  readonly hstsMaxAgeS: number;
  readonly observe: Observe;
  /** The browser console; absent if it is switched off or was not built. */
  readonly console: ConsoleFiles | undefined;
}

/** Only in the log: the client had disconnected. */
const CLIENT_CLOSED_REQUEST = 499;
const NO_ROUTE = 'none';

/** The whole HTTP surface as an Express app, which may be mounted in another: its routes and middleware, in order. */
export function createHttpApp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');

  // First: it is measured in microseconds, and needs nothing of what follows.
  app.post(RERANK_PATHS, rerankRoute(deps));
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
  app.all(RERANK_PATHS, onlyPosted);
  app.use(managementRoutes(deps));
  app.use(readOnly(docsRoutes(deps.operations)));
  if (deps.console !== undefined) app.use(consoleRoutes(deps.console));
  app.use(unknownPath);
  app.use(failure(deps.observe));
  return app;
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
        durationMs: Math.max(0, now() - startedMs),
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
