import { encodeReply } from '../core/json/json.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { documentJson, scoreJson } from './write.js';

/** OpenRouter: the main contract with a document on every row, asked for or not, and statuses as error codes. */
export const openrouter = defineDialect({
  id: 'openrouter',
  title: 'OpenRouter',
  lists: cohere.lists,
  paths: ['/api/v1/rerank'],
  claim: {
    list: 'documents',
    byHeaders: ({ 'user-agent': agent }) => typeof agent === 'string' && /openrouter/i.test(agent),
  },
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: (request) => ({ ...parseRerank(request), returnDocuments: true }),
  reply: (id, { model, documents }, { rows, usage }) =>
    encodeReply({
      id,
      model,
      results: rows.map(({ index, score }) => ({
        document: documentJson(documents, index),
        index,
        relevance_score: scoreJson(score),
      })),
      usage: { search_units: usage.searchUnits, total_tokens: usage.inputTokens },
    }),
  error: ({ message, status }) => ({
    body: JSON.stringify({ error: { code: status, message }, user_id: null }),
  }),
});
