import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import { listNames, membersOf, QUERY, stringsIn, validate } from './read.js';
import { rowsJson } from './rows.js';

const MEMBERS = membersOf({ query: QUERY });
const DOCS = listNames('docs');

/** Alibaba's AI Search Open Platform: the model is a service of the path's workspace, whichever that is, and all rows return. */
export const aliyunOpensearch = defineDialect({
  id: 'aliyun-opensearch',
  title: 'Alibaba Cloud OpenSearch (AI Search)',
  lists: DOCS,
  paths: ['/v3/openapi/workspaces/{workspace}/ranker/{model}'],
  members: MEMBERS,
  examples: [{ query: EXAMPLE.query, docs: EXAMPLE.texts }],
  parse: (request) => {
    const { query } = validate(MEMBERS, request.members());
    return plainRequest(stringsIn(DOCS), { model: request.param('model'), query }, undefined);
  },
  reply: (id, { documents }, ranking, _kept, { elapsedMs }) => ({
    request_id: id,
    latency: Math.round(elapsedMs),
    usage: { doc_count: documents.count, token_count: ranking.usage.inputTokens },
    result: {
      scores: rowsJson(ranking, (index, score) => `{"index":${index},"score":${score}}`),
    },
  }),
  error: ({ status, message }, requestId) => ({
    body: JSON.stringify({
      request_id: requestId,
      latency: 0,
      code: CODES[status] ?? (status < 500 ? 'InvalidParameter' : 'InternalServerError'),
      http_code: status,
      message,
    }),
  }),
  timed: true,
});

const CODES: Readonly<Record<number, string>> = {
  401: 'InvalidApiKey',
  403: 'AccessDenied',
  404: 'NotFound',
  429: 'Throttling.User',
  503: 'ServiceUnavailable',
};
