import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';

/**
 * Refuses a request that another site's page made a browser send, possibly with a cookie. Browsers say where a request comes
 * from, in `Sec-Fetch-Site` or `Origin`; a client that sends neither is not a browser and has only cookies of its own
 * choosing.
 */
export function refuseForeignOrigin(req: IncomingMessage, hosts: readonly string[]): void {
  const site = req.headers['sec-fetch-site'];
  const { origin } = req.headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
  if (origin === undefined) return;
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  if (host === undefined || !hosts.includes(host)) throw foreign();
}

function foreign(): GatewayError {
  return new GatewayError('permission_denied', "Other sites' pages may not send this request.");
}
