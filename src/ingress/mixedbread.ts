import type { Documents } from '../bytes/documents.js';
import { JsonFragment, type JsonBody } from '../bytes/fragment.js';
import { encodeReply, UnwrittenJson } from '../bytes/encode.js';
import { MANY_DOCUMENTS } from '../bytes/steps.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  alikeDocuments,
  anyPart,
  areTexts,
  checkQuery,
  COUNT,
  documentsByFields,
  documentsWithImages,
  FIELDS,
  fieldsOf,
  FLAG,
  listNames,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  writeDocuments,
  scannedDocuments,
  stringElements,
  topOf,
  validate,
  type IngressRequest,
  type Members,
} from './read.js';
import { fastApiError, scoreJson } from './write.js';

interface MixedbreadMembers {
  readonly model?: string | null;
  readonly query: string;
  readonly top_k?: number | null;
  readonly return_input?: boolean | null;
  readonly rank_fields?: string[] | null;
  readonly rewrite_query?: boolean | null;
}

const MEMBERS = membersOf<MixedbreadMembers>({
  model: MODEL,
  query: QUERY,
  top_k: COUNT,
  return_input: FLAG,
  rank_fields: FIELDS,
  rewrite_query: FLAG,
});
const INPUT = listNames('input');

interface Kept {
  /** Which documents were sent as strings, by their indexes, if they had to be parsed. */
  readonly strings: ReadonlySet<number> | undefined;
}

/** Mixedbread: documents are in `input`, and the reply repeats the request's options. */
export const mixedbread = defineDialect<Kept>({
  id: 'mixedbread',
  title: 'Mixedbread',
  lists: INPUT,
  paths: ['/v1/reranking'],
  members: MEMBERS,
  examples: [
    {
      model: EXAMPLE.model,
      query: EXAMPLE.query,
      input: EXAMPLE.texts,
      top_k: 2,
      return_input: true,
    },
    {
      query: EXAMPLE.query,
      input: EXAMPLE.texts.map((title) => ({ title })),
      rank_fields: ['title'],
    },
  ],
  parse: (request) => {
    const members = validate(MEMBERS, request.members(INPUT));
    checkQuery(members.query);
    const fields = fieldsOf(members.rank_fields);
    const scanned = sentInput(request, fields);
    const documents =
      scanned ??
      alikeInput(request, fields) ??
      writeDocuments(request, 'input', 'strings or objects', (item, index) =>
        anyPart(item, 'input', index, fields),
      );
    return {
      model: modelOf(members.model),
      query: members.query.toWellFormed(),
      documents,
      topN: topOf(members.top_k, documents),
      returnDocuments: members.return_input === true,
      options: fields === undefined ? {} : { rankFields: fields },
      kept: { strings: scanned === undefined ? stringElements(request, INPUT) : undefined },
    };
  },
  reply: (_id, { model, documents, topN, returnDocuments }, { rows, usage }, { strings }) => {
    const body = {
      object: 'list',
      model,
      data: rows.map(({ index, score }) => ({
        index,
        score: scoreJson(score),
        input: returnDocuments ? inputOf(documents, index, strings?.has(index)) : null,
        // The older Python SDK insists on this word; the newer one accepts any.
        object: 'text_document',
      })),
      usage: {
        prompt_tokens: usage.inputTokens,
        completion_tokens: 0,
        total_tokens: usage.inputTokens,
      },
      top_k: topN,
      return_input: returnDocuments,
    };
    return rows.length > MANY_DOCUMENTS ? new UnwrittenJson(body) : encodeReply(body);
  },
  error: fastApiError,
});

/** The input in the bytes that came; `undefined` if the body has to be parsed. */
function sentInput(
  request: IngressRequest,
  fields: readonly string[] | undefined,
): Documents | undefined {
  const scanned = request.scan(INPUT) ?? (areTexts(fields) ? request.scanAny(INPUT) : undefined);
  if (scanned !== undefined) return scannedDocuments(scanned, request.maxDocuments);
  return fields === undefined
    ? documentsWithImages(request, INPUT, ({ list }) => !list.lacksTexts)
    : documentsByFields(request, INPUT, fields);
}

/** Objects without a text that all have the same members, by which they are ranked. */
function alikeInput(
  request: IngressRequest,
  fields: readonly string[] | undefined,
): Documents | undefined {
  if (fields !== undefined) return undefined;
  const membersOf = (first: Members): Members => ('text' in first ? {} : first);
  return alikeDocuments(request, INPUT, { path: '', membersOf });
}

/** A document as sent: a text, or an object in the caller's own bytes. */
function inputOf(documents: Documents, index: number, wasText: boolean | undefined): JsonBody {
  const echo = documents.echo(index);
  return (wasText ?? !(echo instanceof JsonFragment)) ? documents.textJson(index) : echo;
}
