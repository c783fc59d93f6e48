import Joi from 'joi';
import { ERRORS } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  COUNT,
  listNames,
  maybe,
  membersOf,
  MODEL,
  modelOf,
  objectsIn,
  open,
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
    const model = modelOf(members.model) ?? request.param('model');
    const asked = { model, query: members.query.text };
    return plainRequest(objectsIn(PASSAGES), asked, members.top_n ?? members.top_k, {
      options: members.truncate == null ? {} : { truncation: members.truncate !== 'NONE' },
    });
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
