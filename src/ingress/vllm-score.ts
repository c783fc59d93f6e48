import { GatewayError } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  listNames,
  maybe,
  membersOf,
  MODEL,
  modelOf,
  oneQuery,
  stringsIn,
  TEXT_OR_TEXTS,
  validate,
  type IngressRequest,
  type WantedList,
} from './read.js';
import { rowsJson } from './rows.js';
import { byPosition } from './write.js';

const SIDE = maybe(TEXT_OR_TEXTS);
const MEMBERS = membersOf({
  model: MODEL,
  text_1: SIDE,
  data_1: SIDE,
  queries: SIDE,
});

/** The members that may hold the documents, by the one that holds the queries. */
const PAIRS = { text_1: ['text_2'], data_1: ['data_2'], queries: ['documents', 'items'] } as const;
const LISTS = listNames('text_2', 'data_2', 'documents', 'items');

/** vLLM's scores: pairs of texts, each scored, in the order in which they were sent. */
export const vllmScore = defineDialect({
  id: 'vllm-score',
  title: "vLLM's score route",
  lists: LISTS,
  paths: ['/v1/score'],
  members: MEMBERS,
  examples: [{ model: EXAMPLE.model, text_1: EXAMPLE.query, text_2: EXAMPLE.texts }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    const name = (['text_1', 'data_1', 'queries'] as const).find((side) => members[side] != null);
    if (name === undefined) {
      throw new GatewayError(
        'invalid_query',
        'Send text_1 and text_2, or queries and documents: the query, and what is scored against it.',
        { param: 'text_1' },
      );
    }
    const side = members[name] ?? '';
    return {
      list: listOf(request, PAIRS[name]),
      found: (documents) => ({
        model: modelOf(members.model),
        query: oneQuery(typeof side === 'string' ? [side] : side, documents.count, name),
        documents,
        topN: documents.count,
        returnDocuments: false,
        options: {},
      }),
    };
  },
  reply: (id, { model }, ranking, _kept, { nowMs }) => ({
    id,
    object: 'list',
    created: Math.floor(nowMs / 1000),
    model,
    data: rowsJson(
      { rows: byPosition(ranking.rows), written: ranking.written },
      (index, score) => `{"index":${index},"object":"score","score":${score}}`,
    ),
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
      completion_tokens: 0,
    },
  }),
  error: ({ message, status, param, code }) => ({
    body: JSON.stringify({
      error: { message, type: code, param: param ?? null, code: status },
    }),
  }),
  timed: true,
});

/** A single text stands for a list of one. Of several names, the first that is there counts. */
function listOf(request: IngressRequest, names: readonly string[]): WantedList {
  const members = request.members();
  const found = request.list?.name;
  const name = names.find((each) => each === found || members[each] != null);
  const value = name === undefined || name === found ? undefined : members[name];
  const instead = typeof value === 'string' ? [value] : undefined;
  return { ...stringsIn(listNames(...names)), instead };
}
