import type { Documents, JsonBody } from '../bytes/index.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  anyPart,
  checkQuery,
  COUNT,
  FIELDS,
  fieldsOf,
  FLAG,
  listNames,
  membersOf,
  MODEL,
  modelOf,
  QUERY,
  topOf,
  validate,
} from './read.js';
import { fastApiError, scoreJson } from './write.js';

const MEMBERS = membersOf({
  model: MODEL,
  query: QUERY,
  top_k: COUNT,
  return_input: FLAG,
  rank_fields: FIELDS,
  rewrite_query: FLAG,
});
const INPUT = listNames('input');

interface Kept {
  /** Of a list that had to be parsed, which documents were sent as strings, by their indexes. */
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
    const members = validate(MEMBERS, request.members());
    checkQuery(members.query);
    const fields = fieldsOf(members.rank_fields);
    let strings: Set<number> | undefined;
    return {
      list: {
        lists: INPUT,
        elements: 'any',
        images: fields === undefined ? 'beside' : 'none',
        fields,
        areNamed: true,
        kinds: 'strings or objects',
        read: (item, index, name) => {
          strings ??= new Set();
          if (typeof item === 'string') strings.add(index);
          return anyPart(item, index, name, fields);
        },
      },
      found: (documents) => ({
        model: modelOf(members.model),
        query: members.query.toWellFormed(),
        documents,
        topN: topOf(members.top_k, documents),
        returnDocuments: members.return_input === true,
        options: fields === undefined ? {} : { rankFields: fields },
        kept: { strings },
      }),
    };
  },
  reply: (_id, { model, documents, topN, returnDocuments }, { rows, usage }, { strings }) => ({
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
  }),
  error: fastApiError,
});

/** A document as sent: a text, or an object in the caller's own bytes; the text of one that has none stands for it. */
function inputOf(documents: Documents, index: number, wasText: boolean | undefined): JsonBody {
  const { text, source } = documents.json(index);
  const isText = source.bytes[0] === QUOTE;
  const wasSentAsText = wasText ?? isText;
  if (wasSentAsText) return text;
  return isText ? { text: source } : source;
}

const QUOTE = 0x22;
