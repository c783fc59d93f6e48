import type { Json } from '../core/json.js';
import type { UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import {
  CredentialError,
  defineProvider,
  optionalTextSetting,
  textSetting,
  type Endpoint,
  type HttpProvider,
  type UpstreamReply,
} from './provider.js';
import {
  GOOGLE_CREDENTIALS,
  GOOGLE_TOKEN_SETTINGS,
  googleKey,
  googleToken,
  type GoogleKey,
} from './signing/google.js';
import { USUAL } from './self-hosted.js';

type Channel = Pick<Endpoint, 'credentials' | 'settings'>;

/** The key, or the reason why it is unusable, which is reported where the key is needed. */
function readKey(channel: Pick<Channel, 'credentials'>): GoogleKey | CredentialError | undefined {
  try {
    return googleKey(channel);
  } catch (error) {
    if (error instanceof CredentialError) return error;
    throw error;
  }
}

/** Users do not belong to a project, so they name the one that is billed. */
function headers(endpoint: Endpoint): Record<string, string> {
  const named = optionalTextSetting(endpoint.settings, 'quotaProject');
  const key = readKey(endpoint);
  const isUser =
    key !== undefined && !(key instanceof CredentialError) && key.kind === 'authorized_user';
  const project =
    named ?? (isUser ? (key.quotaProject ?? textSetting(endpoint.settings, 'project')) : undefined);
  return project === undefined ? {} : { 'x-goog-user-project': project };
}

/** Rows by `id`, the index that was sent. Zero scores are left out on the wire; if all are missing, only the order is known. */
function decode(reply: Json): UpstreamRanking {
  const rows = readRows(reply.field('records'), 'id', 'score', 'absent');
  if (rows.every(({ score }) => score === undefined)) return { rows, orderOnly: true };
  return { rows: rows.map(({ index, score = 0 }) => ({ index, score })) };
}

function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  if (status === 499) return 'transient';
  // For a project without billing or without the service, the status is that of a bad request.
  const reason = json?.maybe('error').maybe('status').optionalString();
  return status === 400 && reason === 'FAILED_PRECONDITION' ? 'misconfigured' : undefined;
}

const common = {
  path: ({ settings }) => {
    const part = (name: string) => encodeURIComponent(textSetting(settings, name));
    return `/${part('apiVersion')}/projects/${part('project')}/locations/${part('location')}/rankingConfigs/${part('rankingConfig')}:rank`;
  },
  credentials: GOOGLE_CREDENTIALS,
  mistakes: (channel) => {
    const key = readKey(channel);
    return [key instanceof CredentialError && key.message];
  },
  credentialAddresses: (channel) => {
    const key = readKey(channel);
    const address = key instanceof CredentialError ? undefined : key?.tokenUrl;
    return address === undefined ? {} : { credentialsJson: address };
  },
  headers,
  token: () => googleToken,
  body: ({ model, query, documents, topN }) => ({
    model,
    query,
    records: documents.texts((index) => `{"id":"${index}","content":`, '}'),
    topN,
    ignoreRecordDetailsInResponse: true,
  }),
  decode,
  fault,
  profile: {
    ...USUAL,
    limits: {
      documents: { default: 200 },
      pairTokens: {
        default: 1_024,
        models: [{ match: /-512|-00[123]$/, value: 512 }],
      },
    },
    echo: 'optional',
    blanks: 'refused',
    billing: 'search_units',
  },
  exampleModels: [
    'semantic-ranker-default-004',
    'semantic-ranker-fast-004',
    'semantic-ranker-default@latest',
    'semantic-ranker-fast@latest',
  ],
  notes: [
    'The account needs discoveryengine.rankingConfigs.rank, as in the role Discovery Engine Viewer.',
    'How many tokens of a record the newer models read is not documented.',
  ],
} satisfies Partial<HttpProvider>;

function settings(location: string) {
  return {
    project: { type: 'string', required: true, describe: 'Google Cloud project id or number' },
    location: { type: 'string', default: location, describe: 'location of the ranking' },
    apiVersion: { type: 'string', default: 'v1', describe: 'v1, v1beta or v1alpha' },
    rankingConfig: {
      type: 'string',
      default: 'default_ranking_config',
      describe: 'name of the ranking configuration',
    },
    quotaProject: {
      type: 'string',
      describe: 'project that is billed, if not the account’s own',
    },
    ...GOOGLE_TOKEN_SETTINGS,
  } as const;
}

/** The ranking API of Google's Vertex AI Search. */
export const google = defineProvider({
  ...common,
  id: 'google',
  title: 'Google ranking API',
  baseUrl: 'https://discoveryengine.googleapis.com',
  settings: settings('global'),
});

/** The same, kept inside the United States. */
export const googleUs = defineProvider({
  ...common,
  id: 'google-us',
  title: 'Google ranking API (US)',
  baseUrl: 'https://us-discoveryengine.googleapis.com',
  settings: settings('us'),
});

/** The same, kept inside the European Union. */
export const googleEu = defineProvider({
  ...common,
  id: 'google-eu',
  title: 'Google ranking API (EU)',
  baseUrl: 'https://eu-discoveryengine.googleapis.com',
  settings: settings('eu'),
});
