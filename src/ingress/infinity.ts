import { cohere, parseFromZero, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { AS_TEXT, MAIN_ROW, rowsJson } from './rows.js';

/** Infinity: the main contract, but a document is a plain string, and `null` if it was not asked for. */
export const infinity = defineDialect({
  id: 'infinity',
  title: 'Infinity, and LiteLLM\'s "infinity/"',
  lists: cohere.lists,
  paths: [],
  // Zhipu's clients read documents as strings, too, and may send 0 as `top_n`.
  hostPaths: ['/api/paas/v4/rerank'],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseFromZero,
  reply: (id, { model, documents, returnDocuments }, ranking, _kept, { nowMs }) => ({
    object: 'rerank',
    results: returnDocuments
      ? rowsJson(ranking, MAIN_ROW, documents, AS_TEXT)
      : rowsJson(
          ranking,
          (index, score) => `{"relevance_score":${score},"index":${index},"document":null}`,
        ),
    model,
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
    },
    id,
    created: Math.floor(nowMs / 1000),
  }),
  error: cohere.error,
  timed: true,
});
