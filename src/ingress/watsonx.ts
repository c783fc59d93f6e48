import Joi from 'joi';
import type { ErrorCode } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  COUNT,
  FLAG,
  listNames,
  maybe,
  membersOf,
  MODEL,
  objectsIn,
  open,
  QUERY,
  validate,
} from './read.js';
import { rowsJson } from './rows.js';

const INPUTS = listNames('inputs');

const MEMBERS = membersOf({
  model_id: MODEL,
  query: QUERY,
  parameters: maybe(
    open({
      truncate_input_tokens: maybe(Joi.number().integer()),
      return_options: maybe(open({ top_n: COUNT, inputs: FLAG, query: FLAG })),
    }),
  ),
});

interface Kept {
  readonly returnsQuery: boolean;
}

/** IBM watsonx.ai: `inputs`, and options inside `parameters`. */
export const watsonx = defineDialect<Kept>({
  id: 'watsonx',
  title: 'IBM watsonx.ai',
  lists: INPUTS,
  paths: ['/ml/v1/text/rerank'],
  members: MEMBERS,
  examples: [
    {
      model_id: EXAMPLE.model,
      query: EXAMPLE.query,
      inputs: EXAMPLE.texts.map((text) => ({ text })),
      parameters: { return_options: { top_n: 2, query: true } },
    },
    { query: EXAMPLE.query, inputs: EXAMPLE.texts.map((text) => ({ text })) },
  ],
  parse: (request) => {
    const { model_id: model, query, parameters } = validate(MEMBERS, request.members());
    const options = parameters?.return_options;
    return plainRequest<Kept>(objectsIn(INPUTS), { model, query }, options?.top_n, {
      returnDocuments: options?.inputs === true,
      options: parameters?.truncate_input_tokens == null ? {} : { truncation: true },
      kept: { returnsQuery: options?.query === true },
    });
  },
  reply: (_id, request, ranking, { returnsQuery }, { nowMs }) => ({
    model_id: request.model,
    results: rowsJson(
      ranking,
      (index, score) => `{"index":${index},"score":${score}}`,
      request.returnDocuments ? request.documents : undefined,
      { name: 'input', areTexts: false },
    ),
    created_at: new Date(nowMs).toISOString(),
    input_token_count: ranking.usage.inputTokens,
    query: returnsQuery ? request.query : undefined,
  }),
  error: ({ code, status, message }, requestId) => ({
    body: JSON.stringify({
      errors: [
        {
          code: CODES[code] ?? (status < 500 ? 'invalid_request_entity' : 'internal_error'),
          message,
          more_info: 'https://cloud.ibm.com/apidocs/watsonx-ai',
        },
      ],
      trace: requestId,
      status_code: status,
    }),
  }),
  timed: true,
});

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_json: 'json_type_error',
  invalid_query: 'invalid_input_argument',
  invalid_documents: 'invalid_input_argument',
  missing_api_key: 'authorization_rejected',
  invalid_api_key: 'authorization_rejected',
  token_disabled: 'authorization_rejected',
  token_expired: 'authentication_token_expired',
  insufficient_user_quota: 'token_quota_reached',
  token_quota_exhausted: 'token_quota_reached',
  token_budget_exhausted: 'token_quota_reached',
  user_budget_exhausted: 'token_quota_reached',
  ip_not_allowed: 'user_authorization_failed',
  model_not_allowed: 'user_authorization_failed',
  tag_not_allowed: 'user_authorization_failed',
  user_disabled: 'user_authorization_failed',
  permission_denied: 'user_authorization_failed',
  model_not_found: 'model_not_supported',
  rate_limited: 'rate_limit_reached_requests',
  too_many_concurrent_requests: 'consumption_limit_reached',
};
