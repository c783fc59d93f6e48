import type { Config } from '../config/values.js';
import type { TokenCache } from '../gateway/token-cache.js';
import {
  allowAnonymous,
  createAuthenticate,
  createReadSigned,
  type Authenticate,
  type ReadSigned,
} from '../http/authentication.js';
import { AddressList } from '../http/client-address.js';
import type { Secret } from '../core/secret.js';
import type { Background } from '../gateway/background.js';
import { hashSecret } from '../management/secrets.js';
import type { Logger } from '../telemetry/log.js';

/** How callers show who they are. */
export interface Callers {
  readonly authenticate: Authenticate;
  /** For requests signed as AWS wants them; absent if no key may sign. */
  readonly readSigned: ReadSigned | undefined;
  /** The proxies that may name the client of a request; absent if there are none. */
  readonly trustedProxies: AddressList | undefined;
  /** The host name in `server.public_url`. */
  readonly ownHost: string | undefined;
}

export function createCallers(
  { callers: { anonymous, awsKeys }, server }: Pick<Config, 'callers' | 'server'>,
  credentials: TokenCache,
  logger: Logger,
  now: () => number,
  later: Background['run'],
): Callers {
  const named = [
    ...(anonymous === undefined ? [] : [['anonymous.key', anonymous.key] as const]),
    ...Object.entries(awsKeys).map(([id, key]) => [`aws_keys.${id}`, key] as const),
  ];
  later('to look for the keys that settings name', () => warnOfUnknown(named, credentials, logger));
  const byKey = createAuthenticate(credentials);
  const trustedProxies =
    server.trustedProxies.length === 0 ? undefined : new AddressList(server.trustedProxies);
  const readSigned =
    Object.keys(awsKeys).length === 0 ? undefined : createReadSigned(byKey, awsKeys, now);
  const ownHost =
    server.publicUrl === undefined ? undefined : new URL(server.publicUrl).hostname.toLowerCase();
  const shared = { readSigned, trustedProxies, ownHost };
  if (anonymous === undefined) return { authenticate: byKey, ...shared };
  logger.warn(
    { addresses: anonymous.addresses },
    'callers from these addresses are served without a key of their own',
  );
  const allowed = { addresses: new AddressList(anonymous.addresses), key: anonymous.key };
  return { authenticate: allowAnonymous(byKey, allowed, trustedProxies, ownHost), ...shared };
}

async function warnOfUnknown(
  named: readonly (readonly [string, Secret])[],
  credentials: TokenCache,
  logger: Logger,
): Promise<void> {
  for (const [name, key] of named) {
    if ((await credentials.find(hashSecret(key.reveal()))) !== undefined) continue;
    logger.warn(
      { setting: `callers.${name}` },
      'the API key in this setting does not exist: requests that use it are refused',
    );
  }
}
