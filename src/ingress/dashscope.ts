import Joi from 'joi';
import type { ErrorCode } from '../core/errors.js';
import type { RerankOptions } from '../core/rerank.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  checkQuery,
  COUNT,
  FLAG,
  isRecord,
  listNames,
  maybe,
  membersOf,
  open,
  MODEL,
  stringPart,
  TEXT,
  textPart,
  validate,
  type WantedList,
} from './read.js';
import { MAIN_ROW, rowsJson } from './rows.js';

const DOCUMENTS = listNames('input.documents');

const MEMBERS = membersOf({
  model: MODEL,
  input: open({
    query: Joi.alternatives<string | { readonly text: string }>(
      Joi.string(),
      open({ text: Joi.string().required() }),
    ).required(),
    documents: Joi.any(),
  }).required(),
  parameters: maybe(open({ top_n: COUNT, return_documents: FLAG, instruct: TEXT })),
});

/** DashScope's native form: input and parameters are separate, and the rows are inside `output`. */
export const dashscope = defineDialect({
  id: 'dashscope',
  title: 'Alibaba DashScope, native',
  lists: DOCUMENTS,
  paths: ['/api/v1/services/rerank/text-rerank/text-rerank'],
  members: MEMBERS,
  examples: [
    {
      model: EXAMPLE.model,
      input: { query: EXAMPLE.query, documents: EXAMPLE.texts },
      parameters: { top_n: 2 },
    },
  ],
  parse: (request) => {
    const { model, input, parameters } = validate(MEMBERS, request.members(), 'input');
    const query = typeof input.query === 'string' ? input.query : input.query.text;
    checkQuery(query, 'input');
    const { instruct } = parameters ?? {};
    const options: RerankOptions =
      instruct == null || instruct === '' ? {} : { instruction: instruct.toWellFormed() };
    const list: WantedList = {
      lists: DOCUMENTS,
      elements: 'any',
      images: 'alone',
      kinds: 'strings',
      read: (item, index, name) => (isRecord(item) ? textPart : stringPart)(item, index, name),
    };
    return plainRequest(list, { model, query }, parameters?.top_n, {
      returnDocuments: parameters?.return_documents === true,
      options,
    });
  },
  reply: (id, { documents, returnDocuments }, ranking) => ({
    request_id: id,
    output: {
      results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined),
    },
    usage: { total_tokens: ranking.usage.inputTokens },
  }),
  error: ({ code, status, message }, requestId) => ({
    body: JSON.stringify({
      code: CODES[code] ?? (status === 403 ? 'AccessDenied' : 'InvalidParameter'),
      message,
      request_id: requestId,
    }),
  }),
});

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_api_key: 'InvalidApiKey',
  invalid_api_key: 'InvalidApiKey',
  token_expired: 'InvalidApiKey',
  token_disabled: 'InvalidApiKey',
  unauthorized: 'InvalidApiKey',
  insufficient_user_quota: 'Arrearage',
  token_quota_exhausted: 'Arrearage',
  token_budget_exhausted: 'Arrearage',
  user_budget_exhausted: 'Arrearage',
  model_not_allowed: 'Model.AccessDenied',
  model_not_found: 'ModelNotFound',
  not_found: 'InvalidURL',
  request_timeout: 'RequestTimeOut',
  rate_limited: 'Throttling.RateQuota',
  too_many_concurrent_requests: 'Throttling',
  internal_error: 'InternalError',
  upstream_error: 'InternalError.Algo',
  upstream_invalid_response: 'InternalError.Algo',
  upstream_timeout: 'RequestTimeOut',
  no_channel_available: 'ModelUnavailable',
  overloaded: 'ServiceUnavailable',
  store_unavailable: 'ServiceUnavailable',
};
