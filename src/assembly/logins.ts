import type { Config } from '../config/values.js';
import type { ProxyHeaders } from '../http/proxy-login.js';
import type { OpenId } from '../management/open-id.js';
import { createOpenId } from '../oidc/open-id.js';

/** The provider that the settings name; `undefined` if there is none. */
export function openIdFrom(
  { oidc, server }: Pick<Config, 'oidc' | 'server'>,
  now: () => number,
): OpenId | undefined {
  const { issuer, clientId, ...rest } = oidc;
  // The settings are refused where the first is there without the others.
  if (issuer === undefined || clientId === undefined || server.publicUrl === undefined) {
    return undefined;
  }
  return createOpenId({ ...rest, issuer, clientId, publicUrl: server.publicUrl, now });
}

/** The headers of the proxy that authenticates; `undefined` if none does. */
export function proxyHeadersFrom({ login }: Pick<Config, 'login'>): ProxyHeaders | undefined {
  const { header, emailHeader, groupsHeader } = login;
  return header === undefined ? undefined : { header, emailHeader, groupsHeader };
}
