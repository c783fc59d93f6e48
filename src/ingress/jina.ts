import { cohere, parseWithDocuments, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { MAIN_ROW, rowsJson } from './rows.js';

/** Jina: the main contract, with the document in each row unless the request declines it. */
export const jina = defineDialect({
  id: 'jina',
  title: 'Jina AI, for clients that read documents without asking for them',
  lists: cohere.lists,
  paths: [],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseWithDocuments,
  reply: (_id, { model, documents, returnDocuments }, ranking) => ({
    model,
    object: 'list',
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
    },
    results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined),
  }),
  error: cohere.error,
});
