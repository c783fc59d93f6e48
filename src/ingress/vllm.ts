import { cohere, parseWithDocuments, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { MAIN_ROW, rowsJson } from './rows.js';

/** vLLM: the main contract, with the document in each row unless the request declines it. */
export const vllm = defineDialect({
  id: 'vllm',
  title: 'vLLM, for clients that read documents without asking for them',
  lists: cohere.lists,
  paths: [],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseWithDocuments,
  reply: (id, { model, documents, returnDocuments }, ranking) => ({
    id,
    model,
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
    },
    results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined),
  }),
  error: cohere.error,
});
