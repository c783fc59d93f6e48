import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import { COUNT, FLAG, listNames, membersOf, MODEL, QUERY, stringsIn, validate } from './read.js';
import { AS_TEXT, MAIN_ROW, rowsJson } from './rows.js';
import { errorMember } from './write.js';

const MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  top_k: COUNT,
  return_documents: FLAG,
  truncation: FLAG,
});
const DOCUMENTS = listNames('documents');
/** Members that only the main contract knows, apart from `truncation`. */
const OF_OTHERS = [
  'top_n',
  'rank_fields',
  'max_chunks_per_doc',
  'max_chunk_per_doc',
  'max_tokens_per_doc',
  'overlap_tokens',
  'instruction',
  'priority',
];

/** Voyage: `top_k`, rows in `data`, and documents as plain strings. */
export const voyage = defineDialect({
  id: 'voyage',
  title: 'Voyage AI',
  lists: DOCUMENTS,
  paths: [],
  claim: {
    list: 'documents',
    // Both members may be left out: then Voyage's own clients are recognised by their user agent.
    byHeaders: ({ 'user-agent': agent }) => typeof agent === 'string' && /voyage/i.test(agent),
    byMembers: (members) =>
      ('top_k' in members || 'truncation' in members) &&
      OF_OTHERS.every((name) => members[name] == null),
  },
  members: MEMBERS,
  examples: [{ model: EXAMPLE.model, query: EXAMPLE.query, documents: EXAMPLE.texts, top_k: 2 }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    return plainRequest(stringsIn(DOCUMENTS), members, members.top_k, {
      returnDocuments: members.return_documents === true,
      options: members.truncation == null ? {} : { truncation: members.truncation },
    });
  },
  reply: (_id, { model, documents, returnDocuments }, ranking) => ({
    object: 'list',
    data: rowsJson(ranking, MAIN_ROW, returnDocuments ? documents : undefined, AS_TEXT),
    model,
    usage: { total_tokens: ranking.usage.inputTokens },
  }),
  // Voyage's own clients read `detail`, the AI SDK's community provider `error`: with that, the Python client below 0.5
  // fails. It sends the user agent of `requests` or `aiohttp`.
  error: (error, _id, { 'user-agent': agent }) => ({
    body: JSON.stringify({
      detail: error.message,
      error: /python/i.test(String(agent)) ? undefined : errorMember(error),
    }),
  }),
});
