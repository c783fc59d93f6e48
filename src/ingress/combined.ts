import type { JsonBody } from '../bytes/index.js';
import type { RerankRequest } from '../core/rerank.js';
import { cohere, parseRerank, RERANK_EXAMPLES, RERANK_MEMBERS } from './cohere.js';
import { defineDialect, type Ranking } from './dialect.js';
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
    const { list, found } = parseRerank(request);
    // Continue's Voyage provider gives the count by Voyage's name.
    const { top_k: topK } = request.members();
    const most = Number.isSafeInteger(topK) && (topK as number) >= 1 ? (topK as number) : Infinity;
    return {
      list,
      found: (documents) => {
        const parsed = found(documents);
        return { ...parsed, topN: Math.min(most, parsed.topN) };
      },
    };
  },
  reply: (id, request, ranking) => ({
    id,
    ...rowsTwice(request, ranking),
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: ranking.usage.searchUnits },
      tokens: { input_tokens: ranking.usage.inputTokens, output_tokens: 0 },
    },
  }),
  error: cohere.error,
});

/** The model, the rows as `results` and as `data`, where documents are strings, and the usage. */
export function rowsTwice(
  { model, documents, returnDocuments }: RerankRequest,
  ranking: Ranking,
): Readonly<Record<string, JsonBody>> {
  const echoed = returnDocuments ? documents : undefined;
  const { inputTokens } = ranking.usage;
  return {
    model,
    results: rowsJson(ranking, MAIN_ROW, echoed),
    data: rowsJson(ranking, MAIN_ROW, echoed, AS_TEXT),
    usage: { prompt_tokens: inputTokens, completion_tokens: 0, total_tokens: inputTokens },
  };
}
