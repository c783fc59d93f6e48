import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { MAIN_ROW, rowsJson } from './rows.js';

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
  parse: (request) => {
    const { list, found } = parseRerank(request);
    return { list, found: (documents) => ({ ...found(documents), returnDocuments: true }) };
  },
  reply: (id, { model, documents }, ranking) => ({
    id,
    model,
    results: rowsJson(ranking, MAIN_ROW, documents),
    usage: { search_units: ranking.usage.searchUnits, total_tokens: ranking.usage.inputTokens },
  }),
  error: ({ message, status }) => ({
    body: JSON.stringify({ error: { code: status, message }, user_id: null }),
  }),
});
