import type { FaultKind } from '../core/retry.js';
import { cohere, cohereV1, LONG_DOCUMENTS_NOTE, TOKENS_PER_DOCUMENT } from './cohere.js';
import {
  defineProvider,
  headerMistake,
  keyInHeader,
  textSetting,
  type Endpoint,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { ENTRA_SECRET, ENTRA_SETTINGS, tokenWithoutKey } from './signing/entra.js';

function mistakes({
  credentials,
  settings,
}: Pick<Endpoint, 'credentials' | 'settings'>): (string | false)[] {
  const { apiKey, clientSecret } = credentials;
  const named = ['tenant', 'clientId'].every((name) => textSetting(settings, name) !== '');
  return [
    apiKey === undefined &&
      clientSecret === undefined &&
      'credentials.api_key is missing, or credentials.client_secret with settings.tenant and settings.client_id',
    clientSecret !== undefined &&
      !named &&
      'credentials.client_secret needs settings.tenant and settings.client_id',
    textSetting(settings, 'apiKeyHeader') !== '' && headerMistake(settings, 'apiKeyHeader'),
  ];
}

/** Azure's own gateway answers before Cohere does: wrong deployments and versions are not the caller's fault. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status === 424) return 'transient';
  if (reply.status === 400 && AZURE_REFUSAL.test(readErrorMessage(reply))) return 'misconfigured';
  return undefined;
}

const AZURE_REFUSAL = /api version|deployment|unknown model|subscription/i;

const common = {
  credentials: {
    apiKey: { required: false, describe: 'key of the deployment or resource' },
    ...ENTRA_SECRET,
  },
  settings: {
    apiKeyHeader: {
      type: 'string',
      default: 'authorization',
      describe: 'header for the key: authorization (as a bearer token) or api-key',
    },
    ...ENTRA_SETTINGS,
  },
  mistakes,
  headers: keyInHeader,
  token: tokenWithoutKey,
} satisfies Partial<HttpProvider>;

/** The parts of Cohere's second API version that differ from the first. */
const secondVersion = {
  body: cohere.body,
  decode: cohere.decode,
  settings: { ...common.settings, ...TOKENS_PER_DOCUMENT },
  mistakes,
} satisfies Partial<HttpProvider>;

/** Deployment names are arbitrary; usually they contain the model's name. */
function profileOf({ profile }: HttpProvider): ProviderProfile {
  const pairTokens = { default: 4_096, models: [{ match: /rerank-?v?4/i, value: 32_768 }] };
  return { ...profile, limits: { ...profile.limits, pairTokens } };
}

const faultOf =
  (own: HttpProvider['fault']) =>
  (reply: UpstreamReply): FaultKind | undefined =>
    fault(reply) ?? own?.(reply);

/** Cohere's models on an Azure AI Foundry resource; the model is the name of the deployment. */
export const azureFoundry = defineProvider({
  ...common,
  ...secondVersion,
  id: 'azure-foundry',
  title: 'Azure AI Foundry (Cohere)',
  path: '/providers/cohere/v2/rerank',
  fault: faultOf(cohere.fault),
  profile: profileOf(cohere),
  exampleModels: ['Cohere-rerank-v4.0-pro', 'Cohere-rerank-v4.0-fast'],
  notes: [
    'The base URL is https://<resource>.services.ai.azure.com; upstream model names are deployment names.',
    'Scores can be very small: compare them rather than applying a threshold.',
    LONG_DOCUMENTS_NOTE,
  ],
});

const SERVERLESS_ADDRESS =
  'The base URL is https://<deployment>.<region>.models.ai.azure.com, of older ones https://<endpoint>.<region>.inference.ai.azure.com.';

/** Cohere's models as separate serverless deployments, with Cohere's second API version; the model name is ignored. */
export const azureServerless = defineProvider({
  ...common,
  ...secondVersion,
  id: 'azure-serverless',
  title: 'Azure serverless (Cohere v2)',
  path: '/v2/rerank',
  fault: faultOf(cohere.fault),
  profile: profileOf(cohere),
  exampleModels: ['cohere-rerank-v3.5'],
  notes: [
    SERVERLESS_ADDRESS,
    'Cohere documents only /v1/rerank for serverless deployments, including version 4: if this answers 404, use azure-serverless-v1.',
    LONG_DOCUMENTS_NOTE,
  ],
});

/** The same with Cohere's first API version. */
export const azureServerlessV1 = defineProvider({
  ...common,
  id: 'azure-serverless-v1',
  title: 'Azure serverless (Cohere v1)',
  path: '/v1/rerank',
  body: cohereV1.body,
  decode: cohereV1.decode,
  fault: faultOf(cohereV1.fault),
  profile: profileOf(cohereV1),
  exampleModels: [
    'cohere-rerank-v3-multilingual',
    'cohere-rerank-v3-english',
    'cohere-rerank-v3.5',
    'cohere-rerank-v4-pro',
    'cohere-rerank-v4-fast',
  ],
  notes: [SERVERLESS_ADDRESS],
});
