import { timingSafeEqual } from 'node:crypto';
import express, { type Router } from 'express';
import { GatewayError } from '../core/errors.js';

export interface HealthDeps {
  /** Rejects while the gateway cannot serve: the store is away, or it is shutting down. */
  readonly ready: () => Promise<void>;
  /** The metrics in Prometheus' text format; absent where they are switched off. */
  readonly metrics:
    (() => Promise<{ readonly contentType: string; readonly text: string }>) | undefined;
  /** The bearer token that `/metrics` asks for, if any. */
  readonly metricsToken: string | undefined;
}

/** `/healthz`: the process runs. `/readyz`: it can serve. `/metrics`: for Prometheus. */
export function healthRoutes(deps: HealthDeps): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    try {
      await deps.ready();
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      throw new GatewayError('store_unavailable', 'The gateway is not ready to serve.', {
        retryAfterMs: 1_000,
        cause: error,
      });
    }
    res.json({ status: 'ready' });
  });
  const { metrics, metricsToken } = deps;
  if (metrics !== undefined) {
    router.get('/metrics', async (req, res) => {
      if (
        metricsToken !== undefined &&
        !sameText(req.headers.authorization, `Bearer ${metricsToken}`)
      ) {
        throw new GatewayError('missing_api_key', 'Metrics ask for their own bearer token.');
      }
      const { contentType, text } = await metrics();
      res.type(contentType).send(text);
    });
  }
  return router;
}

function sameText(given: string | undefined, expected: string): boolean {
  const left = Buffer.from(given ?? '');
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
