import { encodeReply } from '../core/json/json.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { scoreJson } from './write.js';

/** Infinity: the main contract, but a document is a plain string, and `null` if it was not asked for. */
export const infinity = defineDialect({
  id: 'infinity',
  title: 'Infinity, and LiteLLM\'s "infinity/"',
  lists: cohere.lists,
  paths: [],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseRerank,
  reply: (id, { model, documents, returnDocuments }, { rows, usage }, _kept, { nowMs }) =>
    encodeReply({
      object: 'rerank',
      results: rows.map(({ index, score }) => ({
        relevance_score: scoreJson(score),
        index,
        document: returnDocuments ? documents.textJson(index) : null,
      })),
      model,
      usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens },
      id,
      created: Math.floor(nowMs / 1000),
    }),
  error: cohere.error,
  timed: true,
});
