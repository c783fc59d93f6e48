import aws4 from 'aws4';
import {
  CredentialError,
  requiredCredential,
  textSetting,
  type CredentialSpec,
  type Endpoint,
  type SettingSpec,
  type SignableRequest,
} from '../provider.js';
import { compactTimestamp, contentTypeOf } from './digest.js';

export interface AwsScope {
  readonly region: string;
  readonly service: string;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const CONTENT_HASH = 'x-amz-content-sha256';
/** The signer takes the hash of a body from this header, which is neither signed nor sent. */
const AS_GIVEN = { doNotModifyHeaders: true, extraHeadersToIgnore: { [CONTENT_HASH]: true } };

/**
 * Headers of AWS Signature Version 4. It covers host, content type, date and, for temporary credentials, their token:
 * headers that a proxy on the way leaves alone.
 */
export function signAws(
  { method, url, headers, sha256 }: SignableRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  scope: AwsScope,
  nowMs: number,
): Record<string, string> {
  const date = compactTimestamp(nowMs);
  const added = {
    'x-amz-date': date,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const signer = new aws4.RequestSigner(
    {
      method,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        ...(headers['content-type'] === undefined
          ? {}
          : { 'content-type': contentTypeOf(headers) }),
        ...added,
        [CONTENT_HASH]: sha256.toString('hex'),
      },
      ...scope,
      ...AS_GIVEN,
    },
    { accessKeyId, secretAccessKey },
  );
  signer.datetime = date;
  return { ...added, authorization: signer.authHeader() };
}

export const AWS_CREDENTIALS = {
  accessKeyId: { required: true, describe: 'access key id of an IAM user or role' },
  secretAccessKey: { required: true, describe: 'secret access key' },
  sessionToken: {
    required: false,
    describe: 'session token of temporary credentials; renew all three before they expire',
  },
} as const satisfies Record<string, CredentialSpec>;

export const AWS_REGION = {
  region: { type: 'string', default: 'us-east-1', describe: 'AWS region of the model' },
} as const satisfies Record<string, SettingSpec>;

/** Signs a request to Bedrock, whose two runtimes share one signing name. */
export function signBedrock(
  request: SignableRequest,
  endpoint: Endpoint,
  nowMs: number,
): Record<string, string> {
  const region = textSetting(endpoint.settings, 'region');
  if (region === '') throw new CredentialError('settings.region is missing');
  return signAws(
    request,
    {
      accessKeyId: requiredCredential(endpoint, 'accessKeyId'),
      secretAccessKey: requiredCredential(endpoint, 'secretAccessKey'),
      sessionToken: endpoint.credentials.sessionToken?.reveal(),
    },
    { region, service: 'bedrock' },
    nowMs,
  );
}
