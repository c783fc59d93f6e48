import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { AS_TEXT, MAIN_ROW, rowsJson } from './rows.js';

/** The rerank route that Ollama's clients call: the main contract, with documents as plain strings. */
export const ollama = defineDialect({
  id: 'ollama',
  title: 'Ollama, as its plugins call it',
  lists: cohere.lists,
  paths: ['/api/rerank'],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseRerank,
  reply: (_id, { model, documents, returnDocuments }, ranking) => ({
    model,
    results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined, AS_TEXT),
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
    },
  }),
  error: cohere.error,
});
