import type { Channel } from '../../core/channel.js';
import { GatewayError } from '../../core/errors.js';
import type { ListUpstreamModels } from '../../core/discovery.js';
import { askServer } from './discover.js';
import { makeRoute, type DeclaredCredentials } from '../channels/route.js';
import { readSigns } from './signs.js';
import type { Upstream } from '../transport/upstream.js';

interface UpstreamModelsDeps {
  readonly upstream: Pick<Upstream, 'send' | 'fetchToken'>;
  readonly declared: DeclaredCredentials;
}

/** Asks the server of a channel which models it has: self-hosted servers and most hosted ones say so. */
export function createListUpstreamModels(deps: UpstreamModelsDeps): ListUpstreamModels {
  return async (channel) => {
    const { baseUrl, apiKey } = placeOf(channel, deps.declared);
    const credentials: Record<string, string> = apiKey === undefined ? {} : { api_key: apiKey };
    const asked = askServer(deps.upstream, { baseUrl, credentials });
    if (!(await asked.answers())) {
      throw new GatewayError('upstream_error', `The server of "${channel.name}" does not answer.`);
    }
    return (await readSigns(asked.ask)).models;
  };
}

function placeOf(
  channel: Channel,
  declared: DeclaredCredentials,
): { readonly baseUrl: string; readonly apiKey: string | undefined } {
  const made = makeRoute(channel, new Map(), declared);
  if (made.kind === 'unusable') {
    throw new GatewayError('conflict', `The channel cannot be used: ${made.why}.`);
  }
  const { origin, endpoint } = made.route;
  if (origin === '') {
    throw new GatewayError(
      'conflict',
      `"${channel.name}" ranks inside the gateway: no server lists its models.`,
    );
  }
  return { baseUrl: endpoint.baseUrl, apiKey: endpoint.credentials.apiKey?.reveal() };
}
