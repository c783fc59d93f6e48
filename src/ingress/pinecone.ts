import Joi from 'joi';
import type { DocumentPart } from '../bytes/index.js';
import type { RerankOptions } from '../core/rerank.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
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
  open,
  QUERY,
  validate,
  type WantedList,
} from './read.js';
import { rowsJson } from './rows.js';

const MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  top_n: COUNT,
  return_documents: FLAG,
  rank_fields: FIELDS,
  parameters: maybe(open({ truncate: Joi.any<unknown>() })),
});
const DEFAULT_FIELDS = ['text'];
const DOCUMENTS = listNames('documents');

/** Pinecone inference: documents are objects, and are returned unless the caller declines. */
export const pinecone = defineDialect({
  id: 'pinecone',
  title: 'Pinecone inference',
  lists: DOCUMENTS,
  paths: [],
  claim: {
    list: 'documents',
    byHeaders: (headers) => headers['x-pinecone-api-version'] !== undefined,
  },
  members: MEMBERS,
  examples: [
    {
      model: EXAMPLE.model,
      query: EXAMPLE.query,
      documents: EXAMPLE.texts.map((text, at) => ({ id: String(at), text })),
      top_n: 2,
    },
    {
      query: EXAMPLE.query,
      documents: EXAMPLE.texts.map((title) => ({ title })),
      rank_fields: ['title'],
    },
  ],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    const named = fieldsOf(members.rank_fields);
    const fields = named ?? DEFAULT_FIELDS;
    const truncate = members.parameters?.truncate;
    const options: { -readonly [K in keyof RerankOptions]: RerankOptions[K] } = {};
    if (named !== undefined) options.rankFields = named;
    if (truncate === 'END' || truncate === 'NONE') options.truncation = truncate === 'END';
    const list: WantedList = {
      lists: DOCUMENTS,
      elements: 'any',
      fields,
      areNamed: true,
      areAllNeeded: true,
      kinds: 'objects',
      read: (item, index) => readDocument(item, index, fields),
    };
    const returnDocuments = members.return_documents ?? true;
    return plainRequest(list, members, members.top_n, { returnDocuments, options });
  },
  reply: (_id, { model, documents, returnDocuments }, ranking) => ({
    model,
    data: rowsJson(
      ranking,
      (index, score) => `{"index":${index},"score":${score}}`,
      returnDocuments ? documents : undefined,
    ),
    usage: { rerank_units: ranking.usage.searchUnits },
  }),
  error: ({ message, status }) => ({
    body: JSON.stringify({ error: { code: CODES[status] ?? 'UNKNOWN', message }, status }),
  }),
});

const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function readDocument(item: unknown, index: number, fields: readonly string[]): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (!isRecord(item)) throw documentsError(`documents[${index}] must be an object.`);
  const missing = fields.find((field) => !Object.hasOwn(item, field) || item[field] === null);
  if (missing !== undefined) {
    throw documentsError(`field '${missing}' not found in document at index ${index}`);
  }
  return { text: fieldsText(item, fields), source: item };
}
