import { Json, JsonShapeError } from '../../core/json.js';
import {
  CredentialError,
  optionalTextSetting,
  textSetting,
  type CredentialSpec,
  type Endpoint,
  type SettingSpec,
  type TokenRequest,
  type TokenSource,
} from '../provider.js';
import { formRequest, readAccessToken } from './oauth.js';

export const GOOGLE_CREDENTIALS = {
  credentialsJson: {
    required: false,
    describe:
      'JSON key of a service account, or of a user as gcloud keeps it; without it the metadata server is asked, as on Compute Engine, Cloud Run and GKE with workload identity',
  },
} as const satisfies Record<string, CredentialSpec>;

export const GOOGLE_TOKEN_SETTINGS = {
  tokenUrl: {
    type: 'string',
    address: true,
    describe: 'where keys are exchanged for tokens, in place of the address in the key',
  },
  metadataUrl: {
    type: 'string',
    address: true,
    default:
      'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token',
    describe: 'where the metadata server hands out tokens',
  },
} as const satisfies Record<string, SettingSpec>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const DEFAULT_TOKEN_URL = 'https://oauth2.googleapis.com/token';
const LIFETIME_SECONDS = 3600;

export type GoogleKey =
  | {
      readonly kind: 'service_account';
      readonly clientEmail: string;
      readonly privateKey: string;
      readonly privateKeyId: string | undefined;
      readonly tokenUrl: string;
    }
  | {
      readonly kind: 'authorized_user';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly refreshToken: string;
      readonly quotaProject: string | undefined;
      readonly tokenUrl: string;
    };

/**
 * The key in a channel's credentials; `undefined` if it has none and relies on the metadata server.
 * @throws CredentialError if there is something that is not a key.
 */
export function googleKey({ credentials }: Pick<Endpoint, 'credentials'>): GoogleKey | undefined {
  const text = credentials.credentialsJson?.reveal();
  if (text === undefined) return undefined;
  let json: Json;
  try {
    json = new Json(JSON.parse(text), 'credentials.credentials_json');
  } catch {
    // The parser's own message quotes the key.
    throw new CredentialError('credentials.credentials_json is not JSON');
  }
  try {
    return readKey(json);
  } catch (error) {
    if (!(error instanceof JsonShapeError)) throw error;
    throw new CredentialError(error.message, { cause: error });
  }
}

function readKey(json: Json): GoogleKey {
  const type = json.field('type').string();
  const tokenUrl = json.field('token_uri').optionalString() ?? DEFAULT_TOKEN_URL;
  switch (type) {
    case 'service_account':
      return {
        kind: type,
        clientEmail: json.field('client_email').string(),
        privateKey: json.field('private_key').string(),
        privateKeyId: json.field('private_key_id').optionalString(),
        tokenUrl,
      };
    case 'authorized_user':
      return {
        kind: type,
        clientId: json.field('client_id').string(),
        clientSecret: json.field('client_secret').string(),
        refreshToken: json.field('refresh_token').string(),
        quotaProject: json.field('quota_project_id').optionalString(),
        tokenUrl,
      };
    default:
      throw new CredentialError(
        'credentials.credentials_json must be of type service_account or authorized_user; leave it out to use the metadata server',
      );
  }
}

/** Access tokens of a service account, a user, or the machine's own account. */
export const googleToken: TokenSource = {
  request: async (endpoint, nowMs) => {
    const key = googleKey(endpoint);
    if (key === undefined) return metadataRequest(endpoint);
    const url = optionalTextSetting(endpoint.settings, 'tokenUrl') ?? key.tokenUrl;
    if (key.kind === 'authorized_user') {
      return formRequest(url, {
        grant_type: 'refresh_token',
        client_id: key.clientId,
        client_secret: key.clientSecret,
        refresh_token: key.refreshToken,
      });
    }
    return formRequest(url, {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await assertionOf(key, nowMs),
    });
  },
  read: readAccessToken,
};

function metadataRequest({ settings }: Endpoint): TokenRequest {
  return {
    method: 'GET',
    url: textSetting(settings, 'metadataUrl'),
    headers: { 'metadata-flavor': 'Google', accept: 'application/json' },
    body: undefined,
  };
}

async function assertionOf(
  key: Extract<GoogleKey, { kind: 'service_account' }>,
  nowMs: number,
): Promise<string> {
  // Forty files, which most gateways never need.
  const { importPKCS8, SignJWT } = await import('jose');
  const issuedAt = Math.floor(nowMs / 1000);
  let privateKey;
  try {
    privateKey = await importPKCS8(key.privateKey, 'RS256');
  } catch (error) {
    throw new CredentialError('private_key in credentials.credentials_json is not a PKCS #8 key', {
      cause: error,
    });
  }
  return (
    new SignJWT({ scope: SCOPE })
      .setProtectedHeader({
        alg: 'RS256',
        typ: 'JWT',
        ...(key.privateKeyId === undefined ? {} : { kid: key.privateKeyId }),
      })
      .setIssuer(key.clientEmail)
      // The address in the key, even if the request goes to another one.
      .setAudience(key.tokenUrl)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS)
      .sign(privateKey)
  );
}
