import Joi from 'joi';
import { ERRORS } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  checkQuery,
  COUNT,
  listNames,
  maybe,
  membersOf,
  MODEL,
  modelOf,
  objectsIn,
  open,
  topOf,
  validate,
} from './read.js';
import { rescored, rowsJson } from './rows.js';
import { asLogits } from './write.js';

const PASSAGES = listNames('passages');

const MEMBERS = membersOf({
  model: MODEL,
  query: open({ text: Joi.string().required() }).required(),
  truncate: maybe(Joi.string().valid('NONE', 'END', 'START')),
  // Neither is in NVIDIA's API; its clients and LiteLLM send them.
  top_n: COUNT,
  top_k: COUNT,
});

/** NVIDIA NIM: passages in, logits out. */
export const nvidia = defineDialect({
  id: 'nvidia',
  title: 'NVIDIA NIM and build.nvidia.com',
  lists: PASSAGES,
  paths: ['/v1/ranking', '/v1/retrieval/{model+}/reranking'],
  members: MEMBERS,
  examples: [
    {
      model: EXAMPLE.model,
      query: { text: EXAMPLE.query },
      passages: EXAMPLE.texts.map((text) => ({ text })),
    },
  ],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    checkQuery(members.query.text);
    const model = modelOf(members.model) ?? modelOf(request.param('model'));
    return {
      list: objectsIn(PASSAGES),
      found: (documents) => ({
        model,
        query: members.query.text.toWellFormed(),
        documents,
        topN: topOf(members.top_n ?? members.top_k, documents),
        returnDocuments: false,
        options: members.truncate == null ? {} : { truncation: members.truncate !== 'NONE' },
      }),
    };
  },
  reply: (_id, _request, ranking) => ({
    rankings: rowsJson(
      rescored(ranking, asLogits),
      (index, score) => `{"index":${index},"logit":${score}}`,
    ),
    usage: {
      prompt_tokens: ranking.usage.inputTokens,
      total_tokens: ranking.usage.inputTokens,
    },
  }),
  error: ({ message, code }) => ({
    body: JSON.stringify({ object: 'error', message, detail: {}, type: ERRORS[code].type }),
  }),
});
