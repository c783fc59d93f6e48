import Joi from 'joi';
import type { JsonBody } from '../bytes/index.js';
import type { RankedRow } from '../core/rerank.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  checkQuery,
  FLAG,
  maybe,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  topOf,
  validate,
  type IngressRequest,
} from './read.js';
import {
  RANKED_MEMBERS,
  readRecord,
  RECORD_MEMBERS,
  sentRecords,
  type GoogleRecord,
} from './records.js';
import { scoreJson } from './write.js';

const MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  topN: maybe(Joi.number().unsafe().integer()),
  ignoreRecordDetailsInResponse: FLAG,
});

/** The records as they came. */
type Kept = (index: number) => GoogleRecord;

const RECORDS = [{ name: 'records', fields: RECORD_MEMBERS }];

/** Google's ranking API: records with the caller's own ids, and no index. */
export const google = defineDialect<Kept>({
  id: 'google',
  title: "Google's ranking API",
  lists: RECORDS,
  paths: ['v1', 'v1beta', 'v1alpha'].map(
    (version) => `/${version}/projects/{project}/locations/{location}/rankingConfigs/{config}:rank`,
  ),
  members: MEMBERS,
  examples: [
    {
      model: EXAMPLE.model,
      query: EXAMPLE.query,
      records: EXAMPLE.texts.map((content, at) => ({ id: String(at), title: 'A planet', content })),
      topN: 2,
    },
    { query: EXAMPLE.query, records: [{ id: '0', title: EXAMPLE.texts[0] }] },
    { query: EXAMPLE.query, records: [{ content: EXAMPLE.texts[0] }] },
  ],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    checkQuery(members.query);
    const { topN } = members;
    const parsed: GoogleRecord[] = [];
    return {
      list: {
        lists: RECORDS,
        elements: 'objects',
        fields: RANKED_MEMBERS,
        areTextsAlone: true,
        kinds: 'records',
        read: (item, index) => {
          const { record, part } = readRecord(item, index);
          parsed.push(record);
          return part;
        },
      },
      found: (documents) => ({
        model: modelOf(members.model),
        query: members.query.toWellFormed(),
        documents,
        topN: topOf(topN == null || topN <= 0 ? undefined : topN, documents),
        returnDocuments: members.ignoreRecordDetailsInResponse !== true,
        options: {},
        kept: recordsOf(request, parsed, documents.count),
      }),
    };
  },
  reply: (_id, { returnDocuments }, { rows }, kept) => ({
    records: rows.map((row) => recordJson(row, kept(row.index), returnDocuments)),
  }),
  error: ({ status, message }) => ({
    body: JSON.stringify({
      error: { code: status, message, status: STATUSES[status] ?? 'UNKNOWN' },
    }),
  }),
});

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function recordJson(
  { index, score }: RankedRow,
  { id = String(index), title, content }: GoogleRecord,
  isWhole: boolean,
): JsonBody {
  return { id, ...(isWhole && { title, content }), score: scoreJson(score) };
}

function recordsOf({ body }: IngressRequest, parsed: readonly GoogleRecord[], count: number): Kept {
  return parsed.length > 0 ? (index) => parsed[index] ?? {} : sentRecords(body, count);
}
