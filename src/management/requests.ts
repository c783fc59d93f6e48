import { GatewayError } from '../core/errors.js';
import type { Store } from '../store/store.js';

/** Says how far back each log reaches. */
export async function noRequest(
  store: Pick<Store, 'logReach'>,
  requestId: string,
): Promise<GatewayError> {
  const { usageFromMs, refusedFromMs } = await store.logReach();
  const since = (ms: number | undefined): string =>
    ms === undefined ? 'there are none' : `they reach back to ${new Date(ms).toISOString()}`;
  return new GatewayError(
    'not_found',
    `There is no request "${requestId}". Of admitted requests, ${since(usageFromMs)}; of refused ones, ${since(refusedFromMs)}. Ids of other gateways look the same.`,
  );
}
