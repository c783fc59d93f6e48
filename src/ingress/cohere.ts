import Joi from 'joi';
import { JsonFragment, type DocumentPart, type Documents } from '../bytes/index.js';
import type { GatewayError } from '../core/errors.js';
import { quoted } from '../core/quoted.js';
import type { RerankOptions, RerankRequest } from '../core/rerank.js';
import { EXAMPLE } from './example.js';
import { defineDialect, type Asked, type ParsedRerank, type Ranking } from './dialect.js';
import {
  checkQuery,
  COUNT,
  documentsError,
  FIELDS,
  fieldsOf,
  fieldsText,
  FLAG,
  isRecord,
  listNames,
  maybe,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  TEXT,
  topOf,
  validate,
  type Of,
  type IngressRequest,
} from './read.js';
import { MAIN_ROW, rowsText, rowsWithDocuments } from './rows.js';
import { errorMember } from './write.js';

const DOCUMENTS = listNames('documents');

/** The members of a rerank request except `documents`, as they arrive on the wire. `null` means absent. */
export const RERANK_MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  top_n: COUNT,
  return_documents: Joi.alternatives<boolean | 'true' | 'false' | null | undefined>(
    Joi.boolean(),
    Joi.valid('true', 'false', null),
  ),
  rank_fields: FIELDS,
  max_chunks_per_doc: COUNT,
  max_chunk_per_doc: COUNT,
  max_tokens_per_doc: COUNT,
  overlap_tokens: maybe(Joi.number().unsafe().integer().min(0)),
  instruction: TEXT,
  truncation: FLAG,
  priority: maybe(Joi.number().integer().min(0).max(999)),
});
type RerankMembers = Of<typeof RERANK_MEMBERS>;

/** Documents as texts, and as objects with the fields to rank by. */
export const RERANK_EXAMPLES: readonly [object, ...object[]] = [
  { model: EXAMPLE.model, query: EXAMPLE.query, documents: EXAMPLE.texts, top_n: 2 },
  { query: EXAMPLE.query, documents: [...EXAMPLE.texts, { title: 'Io' }], rank_fields: ['title'] },
];

/** The main contract: the form of Cohere, Jina and nearly every self-hosted model server. */
export const cohere = defineDialect<undefined>({
  id: 'cohere',
  title: 'Cohere, Jina, vLLM, Xinference, LocalAI and all that speak like them',
  lists: DOCUMENTS,
  paths: [
    '/v1/rerank',
    // Paths that clients made for other hosts of this form call.
    '/v1/reranks',
    // Lemonade's names for it.
    '/api/v1/reranking',
    '/api/v1/reranker',
    '/v1/reranker',
    '/compatible-api/v1/reranks',
    '/providers/cohere/v2/rerank',
    '/openai/v1/rerank',
  ],
  // llama.cpp's name for it.
  guestPaths: ['/v1/reranking'],
  claim: { list: 'documents' },
  members: RERANK_MEMBERS,
  examples: RERANK_EXAMPLES,
  parse: parseRerank,
  reply: rerankReplyBody,
  error: (error, requestId) => ({ body: errorBody(error, requestId) }),
});

/**
 * Reads a rerank request.
 * @throws GatewayError 400 or 413 that names the field, says what is wrong with it and what would be right.
 */
export function parseRerank(request: IngressRequest): Asked<undefined> {
  return asked(checkMembers(request));
}

/** The same, for forms whose servers take a `top_n` of 0 for all rows. */
export function parseFromZero(request: IngressRequest): Asked<undefined> {
  const value = request.members();
  if (value.top_n !== 0) return parseRerank(request);
  const members = validate(RERANK_MEMBERS, { ...value, top_n: null });
  checkQuery(members.query);
  return asked(members);
}

function asked(members: RerankMembers): Asked<undefined> {
  const fields = fieldsOf(members.rank_fields);
  return {
    list: {
      lists: DOCUMENTS,
      elements: 'any',
      images: fields === undefined ? 'alone' : 'none',
      fields,
      areNamed: true,
      kinds: 'strings, or of objects with "text"',
      read: (item, index) => readDocument(item, index, fields),
    },
    found: (documents) => toRequest(members, documents),
  };
}

/** The same, for forms that return each document unless the request declines it. */
export function parseWithDocuments(request: IngressRequest): Asked<undefined> {
  const { list, found } = parseFromZero(request);
  const { return_documents: wanted } = request.members();
  return {
    list,
    found: (documents) => {
      const parsed = found(documents);
      return { ...parsed, returnDocuments: wanted == null || parsed.returnDocuments };
    },
  };
}

function checkMembers(request: IngressRequest): RerankMembers {
  const value = request.members();
  // `arePlain` has checked all that the type states.
  const members = request.isPlain()
    ? (value as unknown as RerankMembers)
    : validate(RERANK_MEMBERS, value);
  checkQuery(members.query);
  return members;
}

/**
 * One document of the main contract.
 * @throws GatewayError 400 that names it and says what would be right.
 */
export function readDocument(
  item: unknown,
  index: number,
  rankFields?: readonly string[],
): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (!isRecord(item)) {
    throw documentsError(`documents[${index}] must be a string or an object.`);
  }
  if (rankFields !== undefined) return { text: fieldsText(item, rankFields), source: item };
  const { text, image } = item;
  const isImage = typeof image === 'string' && image !== '';
  // Next to a text, an `image` that is not an image is a member like any other.
  if (typeof text === 'string') {
    return isImage ? { text, image, source: item } : { text, source: item };
  }
  const isAlone = (text === undefined || text === null) && image !== undefined && image !== null;
  if (isAlone && isImage) return { image, source: item };
  throw documentsError(
    isAlone
      ? `documents[${index}].image must be a URL or base64 in a string.`
      : `documents[${index}] must have "text" as a string, or rank_fields must name the fields to rank by.`,
  );
}

function toRequest(members: RerankMembers, documents: Documents): ParsedRerank<undefined> {
  return {
    model: modelOf(members.model),
    query: members.query.toWellFormed(),
    documents,
    topN: topOf(members.top_n, documents),
    returnDocuments: members.return_documents === true || members.return_documents === 'true',
    options: toOptions(members),
  };
}

function toOptions(members: RerankMembers): RerankOptions {
  const options: { -readonly [K in keyof RerankOptions]: RerankOptions[K] } = {};
  const maxChunks = members.max_chunks_per_doc ?? members.max_chunk_per_doc;
  const rankFields = fieldsOf(members.rank_fields);
  if (rankFields !== undefined) options.rankFields = rankFields;
  if (maxChunks != null) options.maxChunksPerDoc = maxChunks;
  if (members.max_tokens_per_doc != null) options.maxTokensPerDoc = members.max_tokens_per_doc;
  if (members.overlap_tokens != null) options.overlapTokens = members.overlap_tokens;
  if (members.instruction != null && members.instruction !== '') {
    options.instruction = members.instruction.toWellFormed();
  }
  if (members.truncation != null) options.truncation = members.truncation;
  if (members.priority != null) options.priority = members.priority;
  return options;
}

/**
 * The body of a ranking. Written by hand: the rows are plain numbers, the documents are the caller's own bytes, and
 * building objects only to print them costs more than the rest of the reply.
 */
export function rerankReplyBody(id: string, request: RerankRequest, reply: Ranking): JsonFragment {
  const head = `{"id":"${id}","model":${quoted(request.model)},"results":[`;
  const tail = usageText(reply);
  if (request.returnDocuments && reply.rows.length > 0) {
    return JsonFragment.joined([head, rowsWithDocuments(reply, MAIN_ROW, request.documents), tail]);
  }
  const rows = rowsText(reply, MAIN_ROW);
  return new JsonFragment(
    head + rows + tail,
    Buffer.byteLength(head) + rows.length + Buffer.byteLength(tail),
  );
}

function usageText({ usage, warnings, isDegraded }: Ranking): string {
  const { inputTokens, searchUnits } = usage;
  const told = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
  return (
    `],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":${searchUnits}},` +
    `"tokens":{"input_tokens":${inputTokens},"output_tokens":0}${told}${isDegraded === true ? ',"degraded":true' : ''}},` +
    `"usage":{"prompt_tokens":${inputTokens},"completion_tokens":0,"total_tokens":${inputTokens}}}`
  );
}

/** The body of an error, in one shape that every known client of this form reads. Without a request it has no id. */
export function errorBody(error: GatewayError, requestId?: string): string {
  const { message } = error;
  return JSON.stringify({
    message,
    detail: message,
    error: errorMember(error),
    request_id: requestId,
  });
}
