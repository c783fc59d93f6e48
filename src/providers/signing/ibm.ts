import { decodeJwt } from 'jose/jwt/decode';
import {
  optionalTextSetting,
  requiredCredential,
  textSetting,
  type Endpoint,
  type SettingSpec,
  type TokenSource,
} from '../provider.js';
import { formRequest } from './oauth.js';

export const IBM_IAM_SETTINGS = {
  tokenUrl: {
    type: 'string',
    address: true,
    default: 'https://iam.cloud.ibm.com/identity/token',
    describe: 'where IAM exchanges API keys for tokens',
  },
} as const satisfies Record<string, SettingSpec>;

/** Tokens of IBM Cloud's IAM, in exchange for an API key. */
export const ibmIamToken: TokenSource = {
  request: (endpoint) =>
    formRequest(textSetting(endpoint.settings, 'tokenUrl'), {
      grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
      apikey: requiredCredential(endpoint, 'apiKey'),
    }),
  read: (reply, nowMs) => {
    const expiration = reply.field('expiration').optionalNumber();
    return {
      token: reply.field('access_token').string(),
      expiresAtMs:
        expiration === undefined
          ? nowMs + reply.field('expires_in').numeric() * 1000
          : expiration * 1000,
    };
  },
};

/** Clusters issue tokens for hours; a token with an unknown lifetime is replaced soon. */
const UNSTATED_LIFETIME_MS = 600_000;

/** Tokens of a Cloud Pak for Data cluster, in exchange for a user's API key. */
export const cloudPakToken: TokenSource = {
  request: (endpoint) => ({
    method: 'POST',
    url: authorizeUrl(endpoint),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      username: textSetting(endpoint.settings, 'username'),
      api_key: requiredCredential(endpoint, 'apiKey'),
    }),
  }),
  read: (reply, nowMs) => {
    const token = reply.field('token').string();
    return { token, expiresAtMs: expiryOf(token) ?? nowMs + UNSTATED_LIFETIME_MS };
  },
};

function authorizeUrl({ baseUrl, settings }: Endpoint): string {
  return (
    optionalTextSetting(settings, 'tokenUrl') ??
    new URL('/icp4d-api/v1/authorize', baseUrl).toString()
  );
}

/** When a JWT expires by its own statement; nothing else in it is trusted or checked. */
function expiryOf(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? undefined : exp * 1000;
  } catch {
    // Not a JWT: opaque tokens are allowed, but their expiry is not known.
    return undefined;
  }
}
