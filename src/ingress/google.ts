import Joi from 'joi';
import type { Documents } from '../bytes/documents.js';
import type { JsonBody } from '../bytes/fragment.js';
import { encodeReply, UnwrittenJson } from '../bytes/encode.js';
import type { RankedRow } from '../core/rerank.js';
import { MANY_DOCUMENTS } from '../bytes/steps.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  checkCount,
  checkQuery,
  FLAG,
  listName,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  readDocuments,
  topOf,
  validate,
  type IngressRequest,
} from './read.js';
import { readRecord, RECORD_MEMBERS, SentRecords, type GoogleRecord } from './sent-records.js';
import { scoreJson } from './write.js';

interface GoogleMembers {
  readonly model?: string | null;
  readonly query: string;
  readonly topN?: number | null;
  readonly ignoreRecordDetailsInResponse?: boolean | null;
}

const MEMBERS = membersOf<GoogleMembers>({
  model: MODEL,
  query: QUERY,
  topN: Joi.number().unsafe().integer().allow(null),
  ignoreRecordDetailsInResponse: FLAG,
});

/** The records as parsed, or where they were left as they came. */
type Kept = readonly GoogleRecord[] | SentRecords;

const RECORDS = [listName('records', { fields: RECORD_MEMBERS })];

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
    const members = validate(MEMBERS, request.members(RECORDS));
    checkQuery(members.query);
    const { documents, kept } = scannedRecords(request) ?? parsedRecords(request);
    const { topN } = members;
    return {
      model: modelOf(members.model),
      query: members.query.toWellFormed(),
      documents,
      topN: topOf(topN == null || topN <= 0 ? undefined : topN, documents),
      returnDocuments: members.ignoreRecordDetailsInResponse !== true,
      options: {},
      kept,
    };
  },
  reply: (_id, { returnDocuments }, { rows }, kept) => {
    if (rows.length > MANY_DOCUMENTS) {
      const shown = (row: RankedRow) => recordJson(row, recordAt(kept, row.index), returnDocuments);
      return new UnwrittenJson({ records: rows.map(shown) });
    }
    const records =
      kept instanceof SentRecords
        ? kept.shown(rows, returnDocuments)
        : rows.map((row) => recordJson(row, kept[row.index] ?? {}, returnDocuments));
    return encodeReply({ records });
  },
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

interface Read {
  readonly documents: Documents;
  readonly kept: Kept;
}

function recordJson(
  { index, score }: RankedRow,
  { id = String(index), title, content }: GoogleRecord,
  isWhole: boolean,
): JsonBody {
  return { id, ...(isWhole && { title, content }), score: scoreJson(score) };
}

function recordAt(kept: Kept, index: number): GoogleRecord {
  return kept instanceof SentRecords ? kept.at(index) : (kept[index] ?? {});
}

/** Records in the bytes that came; `undefined` if the body has to be parsed. */
function scannedRecords(request: IngressRequest): Read | undefined {
  const sent = request.scanAny(RECORDS);
  if (sent === undefined) return undefined;
  checkCount(sent.list.count, request.maxDocuments, sent.name);
  const kept = new SentRecords(sent);
  const documents = request.make(sent, () => kept.documents());
  return documents && { documents, kept };
}

function parsedRecords(request: IngressRequest): Read {
  const kept: GoogleRecord[] = [];
  const documents = readDocuments(request, 'records', 'records', (item, index) => {
    const record = readRecord(item, index);
    kept.push(record);
    const { title, content } = record;
    const text =
      title === undefined || content === undefined
        ? (title ?? content ?? '')
        : `${title}\n${content}`;
    return { text, source: text };
  });
  return { documents, kept };
}
