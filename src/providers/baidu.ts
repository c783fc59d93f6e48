import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  bearerWith,
  defineProvider,
  optionalTextSetting,
  REQUIRED_API_KEY,
  textSetting,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';

const PATH = '/v2/rerank';
const FORMER_PATH = '/v2/rerankers';

const TOO_MUCH = /number of documents|at most|too (long|many)|exceed|length/i;
const NO_BALANCE = /overdue|arrear|balance|quota|欠费/i;

/** Codes of the first version, which come with status 200. */
const FIRST_VERSION: ReadonlyMap<number, FaultKind> = new Map([
  [4, 'busy'],
  [6, 'misconfigured'],
  [17, 'misconfigured'],
  [18, 'busy'],
  [19, 'misconfigured'],
  [110, 'misconfigured'],
  [111, 'misconfigured'],
  [336_100, 'busy'],
  [336_221, 'limit'],
  [336_501, 'busy'],
  [336_502, 'busy'],
]);

function fault(reply: UpstreamReply): FaultKind | undefined {
  const { json, status } = reply;
  const legacy = json?.maybe('error_code').optionalNumber();
  if (legacy !== undefined && legacy !== 0) {
    return FIRST_VERSION.get(legacy) ?? byMessage(reply) ?? 'invalid';
  }
  const code = json?.maybe('error').maybe('code').optionalString() ?? '';
  if (/rate_limit/i.test(code)) return 'busy';
  if (/^invalid_(iam_token|model|api_?key|appid)/i.test(code)) return 'misconfigured';
  return status === 400 || status === 403 || status === 429 ? byMessage(reply) : undefined;
}

function byMessage(reply: UpstreamReply): FaultKind | undefined {
  const message = readErrorMessage(reply);
  // A rate or a quota is exceeded too.
  if (reply.status !== 429 && TOO_MUCH.test(message)) return 'limit';
  return NO_BALANCE.test(message) ? 'misconfigured' : undefined;
}

/** Two names of the route have been documented, and it is not known which will stay. */
function otherForm(
  reply: UpstreamReply,
  { settings }: Pick<UpstreamCall, 'settings'>,
): { readonly path: string } | undefined {
  const noRoute = reply.status === 404 && fault(reply) === undefined;
  return noRoute && textSetting(settings, 'path') === '' ? { path: FORMER_PATH } : undefined;
}

/** Baidu Qianfan, second version. Documents are returned unasked. */
export const baidu = defineProvider({
  id: 'baidu',
  title: 'Baidu Qianfan',
  baseUrl: 'https://qianfan.baidubce.com',
  path: ({ settings }) => optionalTextSetting(settings, 'path') ?? PATH,
  credentials: REQUIRED_API_KEY,
  settings: {
    path: {
      type: 'string',
      default: '',
      describe: `path of the route; empty tries ${PATH} and, if there is none, ${FORMER_PATH}`,
    },
    appid: { type: 'string', default: '', describe: 'value of the header appid; empty sends none' },
  },
  headers: bearerWith({ appid: 'appid' }),
  body: plainBody,
  decode: decodeJinaLike,
  fault,
  otherForm,
  profile: {
    ...HOSTED,
    limits: {
      documents: { default: 64 },
      pairTokens: { default: 1_424 },
      documentTokens: { default: 1_024 },
      documentCharacters: 4_096,
      queryCharacters: 1_600,
    },
    echo: 'always',
    blanks: 'refused',
  },
  exampleModels: ['bce-reranker-base', 'qwen3-reranker-8b'],
  notes: ['Queries are cut at 400 tokens and documents at 1024.'],
});
