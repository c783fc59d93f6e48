import { headedTexts, type Documents } from '../core/documents.js';
import { encodeReply, JsonFragment, UnwrittenJson, type JsonBody } from '../core/json/json.js';
import { MANY_DOCUMENTS } from '../core/steps.js';
import Joi from 'joi';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  areObjects,
  checkQuery,
  documentsError,
  FLAG,
  isRecord,
  listName,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  readDocuments,
  ROW,
  scannedTexts,
  topOf,
  validate,
  type IngressRequest,
  type ScannedBody,
} from './read.js';
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

interface GoogleRecord {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly content?: string | undefined;
}

/** Records that are written in steps, since others would have to wait. */
const LARGE_BYTES = 262_144;
/** Reading a record takes about as long as writing so much text. */
const RECORD_UNITS = 32;

interface Kept {
  readonly records: readonly GoogleRecord[];
  /** Where their content is, if it was left where it came. */
  readonly sent?: ScannedBody;
}

const RECORDS = [listName('records', { text: 'content', keepsOthers: true })];
const QUOTE = Buffer.from('"');

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
    const { documents, ...kept } = scannedRecords(request) ?? parsedRecords(request);
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
  reply: (_id, { returnDocuments, documents }, { rows }, { records, sent }) => {
    const body: JsonBody = {
      records: rows.map(({ index, score }) => {
        const { id = String(index), title, content } = records[index] ?? {};
        const details = returnDocuments
          ? { title, content: sent === undefined ? content : contentJson(sent, index) }
          : {};
        return { id, ...details, score: scoreJson(score) };
      }),
    };
    const isLarge = documents.sizeBytes > LARGE_BYTES || rows.length > MANY_DOCUMENTS;
    return isLarge ? new UnwrittenJson(body) : encodeReply(body);
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

interface Read extends Kept {
  readonly documents: Documents;
}

/** Records that all have a content, which stays where it came; `undefined` if the body has to be parsed. */
function scannedRecords(request: IngressRequest): Read | undefined {
  const sent = request.scanAny(RECORDS);
  if (sent?.others === undefined || !areObjects(sent)) return undefined;
  const contents = scannedTexts(sent, request.maxDocuments);
  const records = request.makeEach('records', sent.others, readRecord, () => RECORD_UNITS);
  const heads = new Map<number, string>();
  for (const [index, { title }] of records.entries()) {
    if (title !== undefined) heads.set(index, `${title}\n`);
  }
  const documents = heads.size === 0 ? contents : headedTexts(sent, heads);
  return documents && { documents, records, sent };
}

function parsedRecords(request: IngressRequest): Read {
  const records: GoogleRecord[] = [];
  const documents = readDocuments(request, 'records', 'records', (item, index) => {
    const record = readRecord(item, index);
    records.push(record);
    const { title, content } = record;
    const text =
      title === undefined || content === undefined
        ? (title ?? content ?? '')
        : `${title}\n${content}`;
    return { text, source: text };
  });
  return { documents, records };
}

/** The content of a record in the bytes that came: what stood in front of it may have been written over. */
function contentJson({ body, list: { rows } }: ScannedBody, index: number): JsonBody {
  const start = (rows[index * ROW + 2] ?? 0) + 1;
  const end = rows[index * ROW + 3] ?? 0;
  return new JsonFragment({
    size: 1 + end - start,
    iterate: () => [QUOTE, body.subarray(start, end)],
    copy: (target: Buffer, at: number) => {
      body.copy(target, at + QUOTE.copy(target, at), start, end);
    },
  });
}

function readRecord(item: unknown, index: number): GoogleRecord {
  if (!isRecord(item)) throw documentsError(`records[${index}] must be an object.`, 'records');
  const [id, title, content] = ['id', 'title', 'content'].map((name) => {
    const value = item[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    // The caller finds its records by these alone: none may be replaced quietly.
    throw documentsError(`records[${index}].${name} must be a string.`, 'records');
  });
  if (title === undefined && content === undefined) {
    throw documentsError(`records[${index}] must have a title or content.`, 'records');
  }
  return { id, title, content };
}
