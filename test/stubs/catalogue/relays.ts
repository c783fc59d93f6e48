import { count, flag, list, string, whole } from '../checks.js';
import { errorObject, USUAL_ERRORS } from '../errors.js';
import type { Stub } from '../stub.js';
import { echoObject, echoString, wireStub, type Wire } from '../wire.js';
import { cohereWire } from './cohere.js';

const relay: Wire = {
  rowMembers: echoObject,
  optional: { top_n: count, return_documents: flag },
  around: ({ model, tokens }) => ({
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: errorObject(({ code, status }) => ({
    type: 'invalid_request_error',
    param: '',
    code: code ?? status,
  })),
  errors: {
    invalid: { status: 400, message: 'query is required', blames: 'caller' },
    ...USUAL_ERRORS,
    'no-channel': {
      status: 503,
      message: 'no available channel for model x',
      code: 'model_not_found',
    },
  },
};

/** An echo flag is not known of these, so it must not come. */
const plain: Wire = { ...relay, optional: { top_n: count }, unknown: 'refused' };

/** With SiliconFlow's members, for models that are cut into chunks. */
const chunking: Wire = {
  ...relay,
  optional: {
    top_n: count,
    return_documents: flag,
    max_chunks_per_doc: count,
    overlap_tokens: whole(0, 80),
  },
  unknown: 'refused',
};

const coreshub: Wire = {
  ...plain,
  required: {
    model: string({ min: 1 }),
    query: string({ min: 1, max: 1_600 }),
    documents: list(string({ min: 1, max: 4_096, blank: false }), { max: 64 }),
  },
  rowMembers: ({ text }) => ({ document: { text } }),
};

/** Errors in the gateway's own form. */
const vercelErrors: Pick<Wire, 'error' | 'errors'> = {
  error: errorObject(({ code }) => ({ type: code ?? 'invalid_request_error' })),
  errors: {
    invalid: { status: 400, message: 'query is required', blames: 'caller' },
    ...USUAL_ERRORS,
  },
};

/** Hosts in the form of Jina or Cohere whose own rules are hardly documented. */
export const RELAY_STUBS = {
  'huawei-maas': wireStub({ ...plain, optional: {} }),
  'huawei-maas-singapore': wireStub({ ...plain, optional: {} }),
  'ucloud-modelverse': wireStub(plain),
  qiniu: wireStub(plain),
  'fpt-cloud': wireStub(plain),
  apiyi: wireStub(plain),
  '302ai': wireStub({ ...relay, paths: ['/jina/v1/rerank'] }),
  aihubmix: wireStub(relay),
  greenpt: wireStub(relay),
  n1n: wireStub(relay),
  ragcon: wireStub(relay),
  futurmix: wireStub(relay),
  matrixorigin: wireStub(relay),
  aiping: wireStub({ ...plain, paths: ['/api/v1/rerank'] }),
  blsc: wireStub({ ...plain, paths: ['/v1/p002/rerank'] }),
  lemondata: wireStub({ ...relay, rowMembers: echoString }),
  coreshub: wireStub(coreshub),
  rongcloud: wireStub({ ...chunking, paths: ['/llm/v1/rerank'] }),
  dmxapi: wireStub(chunking),
  vercel: wireStub({ ...cohereWire, ...vercelErrors }),
  mws: wireStub({ ...cohereWire, paths: ['/cohere/v2/rerank'] }),
} satisfies Record<string, Stub>;
