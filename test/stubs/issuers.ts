import { Refusal } from './checks.js';
import { verifiedClaims } from './signatures.js';
import { STUB_KEY, type StubCall, type StubReply } from './stub.js';

/** Token endpoints. A token carries its own end, so that stubs need no memory. */

const LIFETIME_SECONDS = 3_600;

/** Seconds that tokens live: an hour, or what a mode such as `expires-2` says. */
function lifetime({ modes }: StubCall): number {
  for (const mode of modes) if (mode.startsWith('expires-')) return Number(mode.slice(8));
  return LIFETIME_SECONDS;
}

function issue(issuer: string, call: StubCall): { token: string; seconds: number; endsAt: number } {
  const seconds = lifetime(call);
  const endsAt = Math.floor(call.nowMs / 1000) + seconds;
  return { token: `${issuer}.${endsAt}`, seconds, endsAt };
}

/** A bearer token of this issuer that has not ended. */
export function issuedBy(issuer: string): (call: StubCall) => void {
  return ({ headers, nowMs }) => {
    const value = headers.authorization;
    if (value === undefined) throw new Refusal('no-key', 'authorization', 'no token was given');
    const [scheme, name, endsAt] = /^(\S+) ([\w-]+)\.(\d+)$/.exec(value)?.slice(1) ?? [];
    if (scheme !== 'Bearer' || name !== issuer) {
      throw new Refusal('key', 'authorization', 'the token is not valid');
    }
    if (Number(endsAt) * 1000 <= nowMs) {
      throw new Refusal('key', 'authorization', 'the token has expired', 'expired');
    }
  };
}

const form = (call: StubCall): URLSearchParams => new URLSearchParams(call.body.toString());

function isForm({ headers, method }: StubCall): boolean {
  return method === 'POST' && headers['content-type'] === 'application/x-www-form-urlencoded';
}

export const GOOGLE_ACCOUNT = 'reranker@demo.iam.gserviceaccount.com';
const CLOUD_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** Google: assertions of a service account, refresh tokens of a user, and the metadata server. */
export function googleIssuer(call: StubCall): StubReply | undefined {
  const granted = (): StubReply => {
    const { token, seconds } = issue('ya29', call);
    return {
      status: 200,
      json: { access_token: token, expires_in: seconds, token_type: 'Bearer' },
    };
  };
  const refused = (description: string): StubReply => ({
    status: 400,
    json: { error: 'invalid_grant', error_description: description },
  });
  if (call.path === '/computeMetadata/v1/instance/service-accounts/default/token') {
    return call.method === 'GET' && call.headers['metadata-flavor'] === 'Google'
      ? granted()
      : { status: 403, text: 'Missing Metadata-Flavor:Google header' };
  }
  if (call.path !== '/token') return undefined;
  if (!isForm(call)) return refused('not a form');
  const fields = form(call);
  if (fields.get('grant_type') === 'refresh_token') {
    const known =
      fields.get('client_id') === 'client' &&
      fields.get('client_secret') === STUB_KEY &&
      fields.get('refresh_token') === STUB_KEY;
    return known ? granted() : refused('Bad Request');
  }
  if (fields.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
    return { status: 400, json: { error: 'unsupported_grant_type' } };
  }
  const claims = verifiedClaims(fields.get('assertion') ?? '');
  if (claims === undefined) return refused('Invalid JWT Signature.');
  const now = Math.floor(call.nowMs / 1000);
  const lives = Number(claims.exp) > now && Number(claims.exp) - Number(claims.iat) <= 3_600;
  if (!lives) return refused('Invalid JWT: Token must be a short-lived token (60 minutes)');
  const good =
    claims.iss === GOOGLE_ACCOUNT &&
    claims.scope === CLOUD_SCOPE &&
    claims.aud === `${call.base}/token`;
  return good ? granted() : refused('Invalid JWT: claims');
}

/** IBM Cloud's IAM, and the endpoint of a Cloud Pak for Data cluster. */
export function ibmIssuer(call: StubCall): StubReply | undefined {
  if (call.path === '/identity/token') {
    const fields = form(call);
    const good =
      isForm(call) &&
      call.headers.accept === 'application/json' &&
      fields.get('grant_type') === 'urn:ibm:params:oauth:grant-type:apikey' &&
      fields.get('apikey') === STUB_KEY;
    if (!good) {
      return {
        status: 400,
        json: {
          errorCode: 'BXNIM0415E',
          errorMessage: 'Provided API key could not be found.',
        },
      };
    }
    const { token, seconds, endsAt } = issue('ibm', call);
    return {
      status: 200,
      json: {
        access_token: token,
        refresh_token: 'not_supported',
        token_type: 'Bearer',
        expires_in: seconds,
        expiration: endsAt,
      },
    };
  }
  if (call.path !== '/icp4d-api/v1/authorize') return undefined;
  // A client that takes the address for IBM Cloud's sends a form.
  if (isForm(call)) return { status: 400, json: { exception: 'The body is not JSON.' } };
  const body = JSON.parse(call.body.toString()) as { username?: string; api_key?: string };
  return body.username === 'admin' && body.api_key === STUB_KEY
    ? { status: 200, json: { token: issue('ibm', call).token, message: 'Success' } }
    : { status: 401, json: { exception: 'User unauthorized to invoke this endpoint.' } };
}

/** Microsoft Entra, for one tenant and application. */
export function entraIssuer(call: StubCall): StubReply | undefined {
  const tenant = /^\/([\w-]+)\/oauth2\/v2\.0\/token$/.exec(call.path)?.[1];
  if (tenant === undefined) return undefined;
  const fields = form(call);
  const refused = (error: string, description: string): StubReply => ({
    status: error === 'invalid_client' ? 401 : 400,
    json: { error, error_description: description },
  });
  if (tenant !== 'tenant') return refused('invalid_request', 'AADSTS90002: Tenant not found.');
  if (!isForm(call) || fields.get('grant_type') !== 'client_credentials') {
    return refused('unsupported_grant_type', 'AADSTS70003: Unsupported grant type.');
  }
  if (fields.get('client_id') !== 'client' || fields.get('client_secret') !== STUB_KEY) {
    return refused('invalid_client', 'AADSTS7000215: Invalid client secret provided.');
  }
  const scopes = ['https://cognitiveservices.azure.com/.default', 'https://ai.azure.com/.default'];
  if (!scopes.includes(fields.get('scope') ?? '')) {
    return refused('invalid_scope', 'AADSTS70011: The provided value for scope is not valid.');
  }
  const { token, seconds } = issue('entra', call);
  return { status: 200, json: { access_token: token, expires_in: seconds, token_type: 'Bearer' } };
}
