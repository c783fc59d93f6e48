import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import { COUNT, listNames, membersOf, MODEL, QUERY, stringsIn, validate } from './read.js';
import { rowsJson } from './rows.js';

const MEMBERS = membersOf({ model: MODEL, query: QUERY, top_n: COUNT });
const TEXTS = listNames('texts');

/** Isaacus: `texts`, and problems in the form of RFC 7807. */
export const isaacus = defineDialect({
  id: 'isaacus',
  title: 'Isaacus',
  lists: TEXTS,
  paths: ['/v1/rerankings'],
  members: MEMBERS,
  examples: [{ model: EXAMPLE.model, query: EXAMPLE.query, texts: EXAMPLE.texts, top_n: 2 }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    return plainRequest(stringsIn(TEXTS), members, members.top_n);
  },
  reply: (_id, _request, ranking) => ({
    results: rowsJson(ranking, (index, score) => `{"index":${index},"score":${score}}`),
    usage: { input_tokens: ranking.usage.inputTokens },
  }),
  error: ({ code, status, message }) => ({
    body: JSON.stringify({
      type: `https://docs.isaacus.com/api-reference/errors#${status}-${code.replaceAll('_', '-')}`,
      title: code.replaceAll('_', ' '),
      status,
      detail: message,
      instance: null,
    }),
    headers: { 'Content-Type': 'application/problem+json' },
  }),
});
