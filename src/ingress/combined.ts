import { encodeReply } from '../bytes/encode.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { listNames } from './read.js';
import { AS_TEXT, MAIN_ROW, rowsJson } from './rows.js';

const DOCUMENTS = listNames('documents');

/** The main contract with its rows repeated as `data`, for clients that send one form and read the other. */
export const combined = defineDialect({
  id: 'combined',
  title: "Continue's OpenAI and Voyage providers",
  lists: DOCUMENTS,
  paths: [],
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: (request) => {
    const parsed = parseRerank(request);
    // Continue's Voyage provider gives the count by Voyage's name.
    const { top_k: topK } = request.members(DOCUMENTS);
    const isCount = Number.isSafeInteger(topK) && (topK as number) >= 1;
    return isCount ? { ...parsed, topN: Math.min(topK as number, parsed.topN) } : parsed;
  },
  reply: (id, { model, documents, returnDocuments }, ranking) =>
    encodeReply({
      id,
      model,
      results: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined),
      data: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined, AS_TEXT),
      meta: {
        api_version: { version: '2' },
        billed_units: { search_units: ranking.usage.searchUnits },
        tokens: { input_tokens: ranking.usage.inputTokens, output_tokens: 0 },
      },
      usage: {
        prompt_tokens: ranking.usage.inputTokens,
        completion_tokens: 0,
        total_tokens: ranking.usage.inputTokens,
      },
    }),
  error: cohere.error,
});
