import type { FaultKind } from '../core/retry.js';
import { contentsOf, readPositional } from './dialects.js';
import {
  bearerWith,
  defineProvider,
  onlyFor,
  type CredentialSpec,
  type Endpoint,
  type UpstreamReply,
} from './provider.js';
import { signForVolcengine } from './signing/volcengine.js';
import { USUAL } from './self-hosted.js';

/** Keys for signing; a plain API key in their place is sent as a bearer token. */
export const VOLCENGINE_CREDENTIALS = {
  accessKeyId: { required: false, describe: 'access key id; requests are signed with it' },
  secretAccessKey: {
    required: false,
    describe: 'secret access key, exactly as the console shows it',
  },
  sessionToken: { required: false, describe: 'session token of temporary keys' },
  apiKey: {
    required: false,
    describe: 'API key, if the service takes one in place of a signature',
  },
} as const satisfies Record<string, CredentialSpec>;

export function volcengineMistakes({
  credentials,
}: Pick<Endpoint, 'credentials'>): (string | false)[] {
  const signs = credentials.accessKeyId !== undefined && credentials.secretAccessKey !== undefined;
  return [
    !signs &&
      credentials.apiKey === undefined &&
      'credentials.access_key_id and credentials.secret_access_key must both be set',
  ];
}

/** The codes in the body, which say more than the status; 0 means success. */
const FAULTS: Readonly<Record<number, FaultKind>> = {
  1000001: 'misconfigured',
  1000002: 'caller',
  1000003: 'caller',
  1000028: 'busy',
  1000030: 'transient',
  300004: 'busy',
};

const IMAGE_REFUSED = /image|picture|图片/i;

function isInputFault(code: number): boolean {
  return FAULTS[code] === 'caller';
}

/** Judges by the numeric code in the body. */
export function volcengineFault({ status, json }: UpstreamReply): FaultKind | undefined {
  const code = json?.maybe('code').optionalNumber();
  if (code === undefined || code === 0) return undefined;
  // It takes images only as addresses: another provider may take an image that it refuses.
  const words = json?.maybe('message').optionalString() ?? '';
  if (isInputFault(code) && IMAGE_REFUSED.test(words)) return 'limit';
  return FAULTS[code] ?? (status === 200 ? 'invalid' : undefined);
}

/** Reranking by the knowledge base service: the query is sent with every document, and scores come back by position. */
export const volcengine = defineProvider({
  id: 'volcengine',
  title: 'Volcengine knowledge base',
  baseUrl: 'https://api-knowledgebase.mlp.cn-beijing.volces.com',
  path: '/api/knowledge/service/rerank',
  credentials: VOLCENGINE_CREDENTIALS,
  settings: {
    region: { type: 'string', default: 'cn-beijing', describe: 'region to sign for' },
    service: { type: 'string', default: 'air', describe: 'service name to sign for' },
    accountId: { type: 'string', describe: 'account id, sent as V-Account-Id to older services' },
  },
  mistakes: volcengineMistakes,
  headers: bearerWith({ accountId: 'v-account-id' }),
  sign: signForVolcengine,
  body: ({ model, query, documents, options }) => ({
    rerank_model: model,
    datas:
      documents.images !== 'none'
        ? contentsOf(documents, ({ text, image }) => ({ query, content: text, image }))
        : documents.texts(`{"query":${JSON.stringify(query)},"content":`, '}'),
    rerank_instruction: takesInstruction(model) ? options.instruction : undefined,
  }),
  decode: (reply, { documents }) => {
    // Older servers put the list directly into `data`.
    const data = reply.field('data');
    return {
      rows: readPositional(data.isArray() ? data : data.field('scores'), documents.count),
      usage: { inputTokens: data.maybe('token_usage').optionalNumber() },
    };
  },
  fault: volcengineFault,
  profile: {
    ...USUAL,
    limits: { documents: { default: 200 } },
    sorted: false,
    topN: 'unsupported',
    documents: { objects: false, images: onlyFor(/^doubao-seed/) },
    blanks: 'as_space',
  },
  exampleModels: ['base-multilingual-rerank', 'm3-v2-rerank', 'doubao-seed-rerank'],
  notes: [
    'Requests are signed with an access key; whether a plain API key is taken as well is not documented.',
    'Images are only addresses (http, https or tos): base64 is refused, and the request goes to another provider.',
    'Other regions and BytePlus have other hosts: set the base URL, region and service together.',
  ],
});

function takesInstruction(model: string): boolean {
  return model.startsWith('doubao-seed');
}
