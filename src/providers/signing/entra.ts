import {
  optionalTextSetting,
  requiredCredential,
  textSetting,
  type CredentialSpec,
  type Endpoint,
  type SettingSpec,
  type TokenSource,
} from '../provider.js';
import { formRequest, readAccessToken } from './oauth.js';

/** Besides an API key, which is used if there is one. */
export const ENTRA_SECRET = {
  clientSecret: {
    required: false,
    describe: 'secret of an Entra application, exchanged for tokens in place of a key',
  },
} as const satisfies Record<string, CredentialSpec>;

export const ENTRA_SETTINGS = {
  tenant: { type: 'string', describe: 'Entra tenant id, for a token in place of a key' },
  clientId: { type: 'string', describe: 'Entra application (client) id' },
  scope: {
    type: 'string',
    default: 'https://cognitiveservices.azure.com/.default',
    describe: 'what the token is for; some hosts want https://ai.azure.com/.default',
  },
  tokenUrl: {
    type: 'string',
    address: true,
    describe: 'where tokens are issued, in place of the public cloud of the tenant',
  },
} as const satisfies Record<string, SettingSpec>;

/** Tokens of an Entra application, obtained with its client secret. */
const entraToken: TokenSource = {
  request: (endpoint) => {
    const tenant = encodeURIComponent(textSetting(endpoint.settings, 'tenant'));
    return formRequest(
      optionalTextSetting(endpoint.settings, 'tokenUrl') ??
        `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
      {
        grant_type: 'client_credentials',
        client_id: textSetting(endpoint.settings, 'clientId'),
        client_secret: requiredCredential(endpoint, 'clientSecret'),
        scope: textSetting(endpoint.settings, 'scope'),
      },
    );
  },
  read: readAccessToken,
};

/** Tokens for a channel that has a client secret in place of a key. */
export function tokenWithoutKey({
  credentials,
}: Pick<Endpoint, 'credentials'>): TokenSource | undefined {
  const { apiKey, clientSecret } = credentials;
  return apiKey === undefined && clientSecret !== undefined ? entraToken : undefined;
}
