import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  COUNT,
  FLAG,
  listNames,
  maybe,
  membersOf,
  open,
  QUERY,
  stringsIn,
  validate,
} from './read.js';
import { MAIN_ROW, rowsJson } from './rows.js';

const MEMBERS = membersOf({
  query: QUERY,
  top_n: COUNT,
  return_documents: FLAG,
  task_settings: maybe(open({ top_n: COUNT, return_documents: FLAG })),
});
const INPUT = listNames('input');

/** Elastic's inference API: the model is the endpoint in the path, and the rows are in `rerank`. */
export const elastic = defineDialect({
  id: 'elastic',
  title: 'Elasticsearch inference',
  lists: INPUT,
  paths: ['/_inference/rerank/{model}', '/_inference/{model}'],
  members: MEMBERS,
  examples: [{ query: EXAMPLE.query, input: EXAMPLE.texts, top_n: 2 }],
  parse: (request) => {
    const { input: lone, ...rest } = request.members();
    const members = validate(MEMBERS, rest);
    const { query, task_settings: task } = members;
    return plainRequest(
      { ...stringsIn(INPUT), instead: typeof lone === 'string' ? [lone] : undefined },
      { model: request.param('model'), query },
      members.top_n ?? task?.top_n,
      { returnDocuments: (members.return_documents ?? task?.return_documents) === true },
    );
  },
  reply: (_id, { documents, returnDocuments }, ranking) => ({
    rerank: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined, {
      name: 'text',
      areTexts: true,
    }),
  }),
  error: ({ status, message }) => {
    const cause = { type: TYPES[status] ?? 'status_exception', reason: message };
    return { body: JSON.stringify({ error: { root_cause: [cause], ...cause }, status }) };
  },
  // Elastic's clients refuse a server that does not send this header.
  headers: () => ({ 'X-Elastic-Product': 'Elasticsearch' }),
});

const TYPES: Readonly<Record<number, string>> = {
  400: 'action_request_validation_exception',
  401: 'security_exception',
  403: 'security_exception',
  404: 'resource_not_found_exception',
};
