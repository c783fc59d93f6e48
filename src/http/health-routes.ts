import { timingSafeEqual } from 'node:crypto';
import express, { type Router } from 'express';
import { GatewayError } from '../core/errors.js';
import { clientAddress, isRebound, isRelayedHere, type AddressList } from './client-address.js';

export interface HealthDeps {
  /** Rejects while the gateway cannot serve: the store is away, or it is shutting down. */
  readonly ready: () => Promise<void>;
  /** What should be fixed although the gateway can serve. */
  readonly warnings: () => readonly string[];
  /** The metrics in Prometheus' text format; absent if they are switched off. */
  readonly metrics:
    (() => Promise<{ readonly contentType: string; readonly text: string }>) | undefined;
  /** The bearer token that `/metrics` requires, if any. */
  readonly metricsToken: string | undefined;
  /** The addresses that may read `/metrics` if no token is set. */
  readonly metricsReaders: AddressList;
  readonly trustedProxies: AddressList | undefined;
  /** The host name in `server.public_url`. */
  readonly ownHost: string | undefined;
}

/** `/healthz`: the process runs. `/readyz`: it can serve. `/metrics`: for Prometheus. */
export function healthRoutes(deps: HealthDeps): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    await whenReady(deps);
    const warnings = deps.warnings();
    res.json({ status: 'ready', ...(warnings.length > 0 ? { warnings } : {}) });
  });
  const { metrics, metricsToken, metricsReaders, trustedProxies, ownHost } = deps;
  if (metrics !== undefined) {
    router.get('/metrics', async (req, res) => {
      if (
        metricsToken !== undefined &&
        !sameText(req.headers.authorization, `Bearer ${metricsToken}`)
      ) {
        throw new GatewayError('missing_api_key', 'Metrics need their own bearer token.');
      }
      if (
        metricsToken === undefined &&
        (isRelayedHere(req, trustedProxies) ||
          !metricsReaders.includes(clientAddress(req, trustedProxies)))
      ) {
        throw new GatewayError(
          'permission_denied',
          'Metrics are for the addresses in metrics.allow_ips, or for holders of metrics.token.',
        );
      }
      if (metricsToken === undefined && isRebound(req, trustedProxies, ownHost)) {
        throw new GatewayError(
          'permission_denied',
          'On this machine, metrics are at http://localhost and http://127.0.0.1, or need metrics.token.',
        );
      }
      const { contentType, text } = await metrics();
      res.type(contentType).send(text);
    });
  }
  return router;
}

/** @throws GatewayError 503 while the gateway cannot serve. */
export async function whenReady({ ready }: Pick<HealthDeps, 'ready'>): Promise<void> {
  try {
    await ready();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('store_unavailable', 'The gateway is not ready to serve.', {
      retryAfterMs: 1_000,
      cause: error,
    });
  }
}

function sameText(given: string | undefined, expected: string): boolean {
  const left = Buffer.from(given ?? '');
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
