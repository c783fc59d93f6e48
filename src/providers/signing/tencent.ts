import { requiredCredential, type Endpoint, type SignableRequest } from '../provider.js';
import { chainedHmacHex, contentTypeOf, sha256Hex } from './digest.js';

export interface TencentCredentials {
  readonly secretId: string;
  readonly secretKey: string;
  /** The token of temporary credentials; it is sent but not signed. */
  readonly token?: string | undefined;
}

/** Headers of Tencent Cloud's API 3.0 signature, TC3-HMAC-SHA256. `service` is the first label of the host. */
export function signTencent(
  { method, url, headers, sha256 }: SignableRequest,
  { secretId, secretKey, token }: TencentCredentials,
  service: string,
  nowMs: number,
): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000);
  const day = new Date(seconds * 1000).toISOString().slice(0, 10);
  const scope = `${day}/${service}/tc3_request`;
  const signedHeaders = 'content-type;host';
  const canonical = [
    method,
    '/',
    '',
    `content-type:${contentTypeOf(headers)}`,
    `host:${url.host}`,
    '',
    signedHeaders,
    sha256.toString('hex'),
  ].join('\n');
  const text = ['TC3-HMAC-SHA256', seconds, scope, sha256Hex(canonical)].join('\n');
  const signature = chainedHmacHex(`TC3${secretKey}`, [day, service, 'tc3_request'], text);
  return {
    authorization: `TC3-HMAC-SHA256 Credential=${secretId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
    'x-tc-timestamp': String(seconds),
    ...(token === undefined ? {} : { 'x-tc-token': token }),
  };
}

/** The `sign` of a provider behind Tencent's API 3.0. */
export function tencentSigner(service: string) {
  return (request: SignableRequest, endpoint: Endpoint, nowMs: number): Record<string, string> =>
    signTencent(
      request,
      {
        secretId: requiredCredential(endpoint, 'secretId'),
        secretKey: requiredCredential(endpoint, 'secretKey'),
        token: endpoint.credentials.token?.reveal(),
      },
      service,
      nowMs,
    );
}
