import { own } from '../core/records.js';
import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import { defineProvider, textSetting, type UpstreamCall, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';
import { AWS_CREDENTIALS, AWS_REGION, signBedrock } from './signing/aws.js';
import { USUAL } from './self-hosted.js';

/** Messages about the model or our way of calling it, sent with the status of a bad request. */
const MISCONFIGURED =
  /model identifier|model arn|modelarn|arn:aws|on-demand throughput|inference profile|extraneous key|required key|not supported|end of its life|legacy/i;
const TOO_LONG = /too long|length less than or equal to|maximum .*tokens/i;

/** The name of an error: before the colon in a header, or after the last # in the body. */
function errorType({ headers, json }: UpstreamReply): string {
  const type =
    headers['x-amzn-errortype'] ?? json?.firstOf('__type', 'code').optionalString() ?? '';
  return type.replace(/:.*$/s, '').replace(/^.*#/, '');
}

/** What the names of errors mean. */
const BY_NAME: Readonly<Record<string, FaultKind>> = {
  ThrottlingException: 'busy',
  TooManyRequestsException: 'busy',
  ServiceQuotaExceededException: 'busy',
  ModelNotReadyException: 'busy',
  ModelTimeoutException: 'timeout',
  ConflictException: 'transient',
  DependencyFailedException: 'transient',
  ModelErrorException: 'transient',
  UnrecognizedClientException: 'misconfigured',
  InvalidSignatureException: 'misconfigured',
  ExpiredTokenException: 'misconfigured',
  AccessDeniedException: 'misconfigured',
  ResourceNotFoundException: 'misconfigured',
};

/** Faults of both runtimes by the error's name, which says more than its status. */
export function bedrockFault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status < 400) return undefined;
  const named = own(BY_NAME, errorType(reply));
  if (named !== undefined) return named;
  if (reply.status === 424 || reply.status === 409) return 'transient';
  if (reply.status !== 400) return undefined;
  const message = readErrorMessage(reply);
  if (TOO_LONG.test(message)) return 'limit';
  return MISCONFIGURED.test(message) ? 'misconfigured' : undefined;
}

function modelArn({ model, settings }: UpstreamCall): string {
  if (model.startsWith('arn:')) return model;
  const region = textSetting(settings, 'region');
  const partition = region.startsWith('cn-')
    ? 'aws-cn'
    : region.startsWith('us-gov-')
      ? 'aws-us-gov'
      : 'aws';
  return `arn:${partition}:bedrock:${region}::foundation-model/${model}`;
}

/** Bedrock's own rerank call, in the agent runtime. Rows may come in pages. */
export const bedrock = defineProvider({
  id: 'bedrock',
  title: 'Amazon Bedrock Rerank',
  baseUrl: 'https://bedrock-agent-runtime.{region}.amazonaws.com',
  path: '/rerank',
  credentials: AWS_CREDENTIALS,
  settings: AWS_REGION,
  headers: () => ({}),
  sign: signBedrock,
  body: (call) => {
    const { model, query, documents, topN, options, page } = call;
    const takesTokenLimit = model.includes('cohere') && options.maxTokensPerDoc !== undefined;
    return {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.texts(
        '{"type":"INLINE","inlineDocumentSource":{"type":"TEXT","textDocument":{"text":',
        '}}}',
      ),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: {
            modelArn: modelArn(call),
            additionalModelRequestFields: takesTokenLimit
              ? { max_tokens_per_doc: options.maxTokensPerDoc }
              : undefined,
          },
          numberOfResults: topN,
        },
      },
      nextToken: page,
    };
  },
  decode: (reply) => ({ rows: readRows(reply.field('results'), 'index', 'relevanceScore') }),
  nextPage: (reply) => reply.maybe('nextToken').optionalString(),
  fault: bedrockFault,
  profile: {
    ...USUAL,
    limits: {
      documents: { default: 1_000 },
      documentCharacters: 32_000,
      queryCharacters: 32_000,
    },
    documents: { objects: true, images: { default: false } },
    blanks: 'as_space',
    billing: 'search_units',
  },
  exampleModels: ['cohere.rerank-v3-5:0', 'amazon.rerank-v1:0'],
  notes: [
    'Signed with access keys: this runtime takes no Bedrock API keys.',
    'Needs bedrock:Rerank on * and bedrock:InvokeModel on the model. amazon.rerank-v1:0 is not in us-east-1.',
    'Inference profiles are refused here: use bedrock-invoke for them.',
  ],
});
