import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import { COUNT, listNames, membersOf, MODEL, QUERY, TEXT, stringsIn, validate } from './read.js';
import { MAIN_ROW, rowsJson } from './rows.js';
import { fastApiError, scoreJson } from './write.js';

const MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  top_n: COUNT,
  latency: TEXT,
});
const DOCUMENTS = listNames('documents');

/** Bytes that a document counts for besides its own and those of the query. */
const BYTES_PER_DOCUMENT = 150;

interface Kept {
  readonly mode: 'fast' | 'slow';
}

/** ZeroEntropy: the reply says how long it took and how many bytes it counted. */
export const zeroentropy = defineDialect<Kept>({
  id: 'zeroentropy',
  title: 'ZeroEntropy',
  lists: DOCUMENTS,
  paths: ['/v1/models/rerank'],
  members: MEMBERS,
  examples: [{ model: EXAMPLE.model, query: EXAMPLE.query, documents: EXAMPLE.texts, top_n: 2 }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    return plainRequest<Kept>(stringsIn(DOCUMENTS), members, members.top_n, {
      kept: { mode: members.latency === 'slow' ? 'slow' : 'fast' },
    });
  },
  reply: (_id, { query, documents }, ranking, { mode }, { elapsedMs }) => {
    const perDocument = BYTES_PER_DOCUMENT + Buffer.byteLength(query);
    return {
      results: rowsJson(ranking, MAIN_ROW),
      actual_latency_mode: mode,
      e2e_latency: scoreJson(elapsedMs / 1000),
      inference_latency: scoreJson(elapsedMs / 1000),
      total_bytes: perDocument * documents.count + documents.meantBytes,
      total_tokens: ranking.usage.inputTokens,
    };
  },
  error: fastApiError,
  timed: true,
});
