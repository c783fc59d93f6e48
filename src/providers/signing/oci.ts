import { createPrivateKey, sign as signBytes, type KeyObject } from 'node:crypto';
import {
  CredentialError,
  requiredCredential,
  textSetting,
  type Endpoint,
  type SignableRequest,
} from '../provider.js';
import { contentTypeOf } from './digest.js';

export interface OciKey {
  /** `<tenancy OCID>/<user OCID>/<fingerprint>`, or `ST$<token>` of a session. */
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

/** The `Authorization` of an OCI request: an RSA signature over the named fields, in their order. */
export function ociAuthorization(
  fields: readonly (readonly [name: string, value: string])[],
  { keyId, privateKey }: OciKey,
): string {
  const text = fields.map(([name, value]) => `${name}: ${value}`).join('\n');
  const names = fields.map(([name]) => name).join(' ');
  const signature = signBytes('sha256', Buffer.from(text), privateKey).toString('base64');
  return `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`;
}

/** Headers of an OCI request signature; the length is signed here, and sent by whoever sends the body. */
export function signOci(
  { method, url, headers, bytes, sha256 }: SignableRequest,
  key: OciKey,
  nowMs: number,
): Record<string, string> {
  const date = new Date(nowMs).toUTCString();
  const bodyHash = sha256.toString('base64');
  const authorization = ociAuthorization(
    [
      ['date', date],
      ['(request-target)', `${method.toLowerCase()} ${url.pathname}${url.search}`],
      ['host', url.host],
      ['content-length', String(bytes)],
      ['content-type', contentTypeOf(headers)],
      ['x-content-sha256', bodyHash],
    ],
    key,
  );
  return { authorization, date, 'x-content-sha256': bodyHash };
}

/**
 * A channel's key: a user's, named by tenancy, user and fingerprint, or a session's, named by its token.
 * @throws CredentialError if the key cannot be read or its owner is not named.
 */
export function ociKey({
  credentials,
  settings,
}: Pick<Endpoint, 'credentials' | 'settings'>): OciKey {
  const token = credentials.securityToken?.reveal();
  const owner = ['tenancy', 'user', 'fingerprint'].map((name) => textSetting(settings, name));
  if (token === undefined && owner.includes('')) {
    throw new CredentialError(
      'settings.tenancy, settings.user and settings.fingerprint must be set, or credentials.security_token',
    );
  }
  return {
    keyId: token === undefined ? owner.join('/') : `ST$${token}`,
    privateKey: readPrivateKey(
      requiredCredential({ credentials }, 'privateKey'),
      credentials.passphrase?.reveal(),
    ),
  };
}

function readPrivateKey(pem: string, passphrase: string | undefined): KeyObject {
  let key: KeyObject;
  try {
    // Keys from environment variables often have escaped line ends.
    const text = pem.replaceAll('\\n', '\n');
    key = createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    throw new CredentialError('credentials.private_key is not a readable private key (PEM)', {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== 'rsa') {
    throw new CredentialError('credentials.private_key must be an RSA key');
  }
  return key;
}

/** Reading a key takes longer than signing with it, so it is kept for as long as its endpoint. */
const KEYS = new WeakMap<Endpoint, OciKey>();

/** Signs with a channel's key. */
export function signForOci(
  request: SignableRequest,
  endpoint: Endpoint,
  nowMs: number,
): Record<string, string> {
  let key = KEYS.get(endpoint);
  if (key === undefined) {
    key = ociKey(endpoint);
    KEYS.set(endpoint, key);
  }
  return signOci(request, key, nowMs);
}
