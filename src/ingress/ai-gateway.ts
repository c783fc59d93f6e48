import Joi from 'joi';
import type { DocumentPart } from '../bytes/index.js';
import type { ErrorCode } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  COUNT,
  documentsError,
  isRecord,
  listNames,
  membersOf,
  open,
  QUERY,
  stringsIn,
  validate,
  type WantedList,
} from './read.js';
import { rowsJson } from './rows.js';

const VALUES = listNames('documents.values');

const MEMBERS = membersOf({
  query: QUERY,
  documents: open({
    type: Joi.string().valid('text', 'object').required(),
    values: Joi.any(),
  }).required(),
  topN: COUNT,
});

/** Vercel's AI Gateway as the AI SDK calls it: the model in a header. */
export const aiGateway = defineDialect({
  id: 'ai-gateway',
  title: 'Vercel AI Gateway',
  lists: VALUES,
  // One for each version of the client's protocol: AI SDK 6 and 7.
  paths: ['/v3/ai/reranking-model', '/v4/ai/reranking-model'],
  members: MEMBERS,
  examples: [{ query: EXAMPLE.query, documents: { type: 'text', values: EXAMPLE.texts }, topN: 2 }],
  parse: (request) => {
    const { query, documents: given, topN } = validate(MEMBERS, request.members());
    const { 'ai-model-id': named } = request.headers;
    const model = typeof named === 'string' ? named.trim() : undefined;
    return plainRequest(
      given.type === 'text' ? stringsIn(VALUES) : OBJECTS,
      { model, query },
      topN,
    );
  },
  reply: (_id, _request, ranking) => ({
    ranking: rowsJson(ranking, (index, score) => `{"index":${index},"relevanceScore":${score}}`),
  }),
  error: ({ code, status, message }) => ({
    body: JSON.stringify({ error: { message, type: TYPES[code] ?? typeOf(status) } }),
  }),
});

/** The client chooses the class of an error by these words. */
const TYPES: Readonly<Partial<Record<ErrorCode, string>>> = {
  model_not_found: 'model_not_found',
  rate_limited: 'rate_limit_exceeded',
  too_many_concurrent_requests: 'rate_limit_exceeded',
};

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'forbidden';
  return status < 500 ? 'invalid_request_error' : 'internal_server_error';
}

function objectPart(item: unknown, index: number): DocumentPart {
  if (!isRecord(item)) throw documentsError(`documents.values[${index}] must be an object.`);
  const { text } = item;
  if (typeof text === 'string') return { text, source: item };
  const whole = JSON.stringify(item);
  return { text: whole, source: whole };
}

/** Objects; those without a text are ranked by all their members. */
const OBJECTS: WantedList = {
  lists: VALUES,
  elements: 'objects',
  kinds: 'objects',
  read: objectPart,
};
