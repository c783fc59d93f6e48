import type { RequestHandler } from 'express';
import { ingressRoute } from '../ingress/index.js';
import { allow } from './allow.js';
import { pathnameOf } from './pathname.js';
import type { RerankRouteDeps } from './rerank-deps.js';
import { RerankExchange } from './rerank-exchange.js';

/** Ranks what is posted, in any dialect. It answers every failure itself. */
export function rerankRoute(deps: RerankRouteDeps): RequestHandler {
  return (req, res, next) => {
    const route = ingressRoute(pathnameOf(req));
    if (route === undefined) next();
    else return new RerankExchange(deps, req, res, route).serve();
  };
}

/** Refuses every method but POST on the paths of rerank requests. */
export const onlyPosted: RequestHandler = (req, _res, next) => {
  if (ingressRoute(pathnameOf(req)) !== undefined) allow('POST')(req);
  next();
};
