import type { FaultKind } from '../core/retry.js';
import { objectsOf, readRows } from './dialects.js';
import {
  defineProvider,
  optionalTextSetting,
  textSetting,
  type Endpoint,
  type HttpProvider,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { cloudPakToken, IBM_IAM_SETTINGS, ibmIamToken } from './signing/ibm.js';
import { USUAL } from './self-hosted.js';

/** Error codes, which say more than the status; which status goes with which code is not documented. */
const FAULTS: Readonly<Record<string, FaultKind>> = {
  token_quota_reached: 'misconfigured',
  no_associated_service_instance_error: 'misconfigured',
  model_not_supported: 'misconfigured',
  model_no_support_for_function: 'misconfigured',
  authentication_token_expired: 'misconfigured',
  authentication_token_not_valid: 'misconfigured',
  authorization_rejected: 'misconfigured',
  user_authorization_failed: 'misconfigured',
  rate_limit_reached_requests: 'busy',
  consumption_limit_reached: 'busy',
  invalid_request_entity: 'caller',
  json_type_error: 'caller',
  json_validation_error: 'caller',
};

function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  const errors = json?.maybe('errors');
  if (status < 400 || errors?.isArray() !== true) return undefined;
  return FAULTS[errors.item(0).maybe('code').optionalString() ?? ''];
}

/** How many tokens of a document are read; the model refuses longer ones unless told to cut them. */
function tokenLimit({ options, settings }: UpstreamCall): number | undefined {
  if (options.truncation === false) return undefined;
  const limit = options.maxTokensPerDoc ?? Number(settings.truncateInputTokens);
  return limit > 0 ? limit : undefined;
}

function mistakes({ settings }: Pick<Endpoint, 'settings'>): (string | false)[] {
  const owners = ['projectId', 'spaceId'].filter((name) => textSetting(settings, name) !== '');
  return [
    owners.length !== 1 && 'exactly one of settings.project_id and settings.space_id must be set',
  ];
}

const commonSettings = {
  projectId: { type: 'string', describe: 'project that is billed; it or space_id' },
  spaceId: { type: 'string', describe: 'deployment space that is billed; it or project_id' },
  version: { type: 'string', default: '2024-05-31', describe: 'date of the API version' },
  truncateInputTokens: {
    type: 'number',
    default: 512,
    least: 0,
    describe:
      'tokens of a document that are read, where the caller names none; 0 refuses longer ones',
  },
} as const;

const common = {
  path: ({ settings }) =>
    `/ml/v1/text/rerank?version=${encodeURIComponent(textSetting(settings, 'version'))}`,
  body: (call) => {
    const { model, query, documents, topN, settings } = call;
    const projectId = optionalTextSetting(settings, 'projectId');
    return {
      model_id: model,
      // Both together are refused.
      project_id: projectId,
      space_id: projectId === undefined ? optionalTextSetting(settings, 'spaceId') : undefined,
      query,
      inputs: objectsOf(documents, 'text'),
      parameters: {
        truncate_input_tokens: tokenLimit(call),
        return_options: { top_n: topN, inputs: false, query: false },
      },
    };
  },
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'score'),
    usage: { inputTokens: reply.maybe('input_token_count').optionalNumber() },
  }),
  fault,
  profile: {
    ...USUAL,
    limits: { pairTokens: { default: 512 } },
    // Its guide says that rows are sorted, but one of its own samples is not.
    sorted: false,
    echo: 'optional',
    blanks: 'as_space',
    scoreScale: { default: 'cosine', models: [{ match: /ms-marco/, value: 'logit' }] },
  },
  exampleModels: ['cross-encoder/ms-marco-minilm-l-12-v2'],
} satisfies Partial<HttpProvider>;

/** watsonx.ai on IBM Cloud, with tokens from its IAM. */
export const watsonx = defineProvider({
  ...common,
  id: 'watsonx',
  title: 'IBM watsonx.ai',
  baseUrl: 'https://{region}.ml.cloud.ibm.com',
  credentials: {
    apiKey: { required: true, describe: 'IBM Cloud API key, exchanged for tokens' },
  },
  settings: {
    region: {
      type: 'string',
      default: 'us-south',
      describe: 'us-south, eu-de, eu-gb, jp-tok, au-syd or ca-tor',
    },
    ...commonSettings,
    ...IBM_IAM_SETTINGS,
  },
  mistakes,
  headers: () => ({}),
  token: () => ibmIamToken,
  notes: ['Scores of cross-encoders are logits; embedding models give similarities.'],
});

/** watsonx.ai in a Cloud Pak for Data cluster, with the cluster's tokens or its own scheme for API keys. */
export const watsonxOnPrem = defineProvider({
  ...common,
  id: 'watsonx-on-prem',
  title: 'IBM watsonx.ai (Cloud Pak for Data)',
  credentials: {
    apiKey: { required: true, describe: 'API key of the user' },
  },
  settings: {
    username: { type: 'string', required: true, describe: 'user that the API key belongs to' },
    zenApiKey: {
      type: 'boolean',
      default: false,
      describe: 'send user and key with each request (ZenApiKey) in place of a token',
    },
    ...commonSettings,
    tokenUrl: {
      type: 'string',
      address: true,
      describe: 'where the cluster issues tokens, in place of its own /icp4d-api/v1/authorize',
    },
  },
  mistakes,
  headers: ({ credentials, settings }) => {
    if (settings.zenApiKey !== true) return {};
    const pair = `${textSetting(settings, 'username')}:${credentials.apiKey?.reveal() ?? ''}`;
    return { authorization: `ZenApiKey ${Buffer.from(pair).toString('base64')}` };
  },
  token: ({ settings }) => (settings.zenApiKey === true ? undefined : cloudPakToken),
  notes: ['Scores of cross-encoders are logits; embedding models give similarities.'],
});
