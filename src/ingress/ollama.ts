import { encodeReply } from '../core/json/json.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { scoreJson } from './write.js';

/** The rerank route that Ollama's clients call: the main contract, with documents as plain strings. */
export const ollama = defineDialect({
  id: 'ollama',
  title: 'Ollama, as its plugins call it',
  lists: cohere.lists,
  paths: ['/api/rerank'],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseRerank,
  reply: (_id, { model, documents, returnDocuments }, { rows, usage }) =>
    encodeReply({
      model,
      results: rows.map(({ index, score }) => ({
        index,
        relevance_score: scoreJson(score),
        document: returnDocuments ? documents.textJson(index) : undefined,
      })),
      usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens },
    }),
  error: cohere.error,
});
