import {
  requiredCredential,
  textSetting,
  type Endpoint,
  type SignableRequest,
} from '../provider.js';
import { chainedHmacHex, compactTimestamp, contentTypeOf, sha256Hex } from './digest.js';

export interface VolcengineCredentials {
  readonly accessKeyId: string;
  /** As the console shows it: it looks like base64 but is not decoded. */
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The request to sign; unlike a channel's requests, it may have any method and a query string. */
export type VolcengineRequest = Omit<SignableRequest, 'method'> & { readonly method: string };

/** Headers of Volcengine's signature, HMAC-SHA256: AWS's fourth version with different names and key. */
export function signVolcengine(
  { method, url, headers, sha256 }: VolcengineRequest,
  { accessKeyId, secretAccessKey, sessionToken }: VolcengineCredentials,
  { region, service }: { readonly region: string; readonly service: string },
  nowMs: number,
): Record<string, string> {
  const date = compactTimestamp(nowMs);
  const day = date.slice(0, 8);
  const bodyHash = sha256.toString('hex');
  const signed: readonly (readonly [string, string])[] = [
    ['content-type', contentTypeOf(headers)],
    ['host', url.host],
    ['x-content-sha256', bodyHash],
    ['x-date', date],
    ...(sessionToken === undefined ? [] : [['x-security-token', sessionToken] as const]),
  ];
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname.split('/').map(encodeStrictly).join('/'),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${region}/${service}/request`;
  const text = ['HMAC-SHA256', date, scope, sha256Hex(canonical)].join('\n');
  const signature = chainedHmacHex(secretAccessKey, [day, region, service, 'request'], text);
  return {
    authorization: `HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    'x-content-sha256': bodyHash,
    'x-date': date,
    ...(sessionToken === undefined ? {} : { 'x-security-token': sessionToken }),
  };
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&');
}

/** Encodes everything but letters, digits and `-_.~`, as the signature's rules require. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Signs with a channel's keys for the region and service in its settings. */
export function signForVolcengine(
  request: SignableRequest,
  endpoint: Endpoint,
  nowMs: number,
): Record<string, string> {
  return signVolcengine(
    request,
    {
      accessKeyId: requiredCredential(endpoint, 'accessKeyId'),
      secretAccessKey: requiredCredential(endpoint, 'secretAccessKey'),
      sessionToken: endpoint.credentials.sessionToken?.reveal(),
    },
    {
      region: textSetting(endpoint.settings, 'region'),
      service: textSetting(endpoint.settings, 'service'),
    },
    nowMs,
  );
}
