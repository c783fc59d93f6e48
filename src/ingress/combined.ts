import { encodeReply } from '../core/json/json.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect } from './dialect.js';
import { listNames } from './read.js';
import { documentJson, scoreJson } from './write.js';

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
  reply: (id, { model, documents, returnDocuments }, { rows, usage }) =>
    encodeReply({
      id,
      model,
      results: rows.map(({ index, score }) => ({
        index,
        relevance_score: scoreJson(score),
        document: returnDocuments ? documentJson(documents, index) : undefined,
      })),
      data: rows.map(({ index, score }) => ({
        index,
        relevance_score: scoreJson(score),
        document: returnDocuments ? documents.textJson(index) : undefined,
      })),
      meta: {
        api_version: { version: '2' },
        billed_units: { search_units: usage.searchUnits },
        tokens: { input_tokens: usage.inputTokens, output_tokens: 0 },
      },
      usage: {
        prompt_tokens: usage.inputTokens,
        completion_tokens: 0,
        total_tokens: usage.inputTokens,
      },
    }),
  error: cohere.error,
});
