import type { LooseEnd } from './references.js';
import type { Config } from './values.js';

/** Settings about logins that do not work together. */
export function loginMistakes({
  login,
  oidc,
  server,
}: Pick<Config, 'login' | 'oidc' | 'server'>): LooseEnd[] {
  const { issuer, clientId } = oidc;
  const { header, emailHeader, groupsHeader } = login;
  const isTold = emailHeader !== undefined || groupsHeader !== undefined;
  const found: [boolean, LooseEnd['path'], string][] = [
    [
      !login.passwords && issuer === undefined && header === undefined,
      ['login', 'passwords'],
      'is false, and neither oidc.issuer nor login.header says how to log in instead',
    ],
    [
      header !== undefined && server.trustedProxies.length === 0,
      ['login', 'header'],
      'counts only from a proxy in server.trusted_proxies, which names none',
    ],
    [
      header === undefined && isTold,
      ['login', 'header'],
      'is missing: without it, the other headers mean nothing',
    ],
    [
      issuer !== undefined && clientId === undefined,
      ['oidc', 'client_id'],
      'is missing: the provider knows the gateway by it',
    ],
    [
      issuer !== undefined && server.publicUrl === undefined,
      ['server', 'public_url'],
      'is missing: the provider sends people back there',
    ],
  ];
  return found.flatMap(([isWrong, path, message]) => (isWrong ? [{ path, message }] : []));
}
