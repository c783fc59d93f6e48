import Joi from 'joi';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  listNames,
  maybe,
  membersOf,
  modelOf,
  oneQuery,
  stringsIn,
  TEXT,
  TEXT_OR_TEXTS,
  validate,
} from './read.js';
import { rowsJson } from './rows.js';
import { byPosition, isOfBody, scoreJson } from './write.js';

const MEMBERS = membersOf({
  queries: maybe(TEXT_OR_TEXTS),
  query: maybe(Joi.string()),
  instruction: TEXT,
});
const DOCUMENTS = listNames('documents');

/** DeepInfra: the model in the path, and scores in the order of the documents. */
export const deepinfra = defineDialect({
  id: 'deepinfra',
  title: 'DeepInfra',
  lists: DOCUMENTS,
  paths: ['/v1/inference/{model+}'],
  members: MEMBERS,
  examples: [{ queries: [EXAMPLE.query], documents: EXAMPLE.texts }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members(), 'queries');
    const queries = members.queries ?? members.query ?? [];
    const { instruction } = members;
    const model = modelOf(request.param('model'));
    return {
      list: stringsIn(DOCUMENTS),
      found: (documents) => ({
        model,
        query: oneQuery(
          typeof queries === 'string' ? [queries] : queries,
          documents.count,
          'queries',
        ),
        documents,
        topN: documents.count,
        returnDocuments: false,
        options:
          instruction == null || instruction === ''
            ? {}
            : { instruction: instruction.toWellFormed() },
      }),
    };
  },
  reply: (id, _request, ranking, _kept, { elapsedMs }) => ({
    scores: rowsJson(
      { rows: byPosition(ranking.rows), written: ranking.written },
      (_index, score) => score,
    ),
    input_tokens: ranking.usage.inputTokens,
    request_id: id,
    inference_status: {
      status: 'succeeded',
      runtime_ms: Math.round(elapsedMs),
      cost: scoreJson(0),
      tokens_generated: 0,
      tokens_input: ranking.usage.inputTokens,
    },
  }),
  error: (error) => {
    const { message, param } = error;
    if (!isOfBody(error)) return { body: JSON.stringify({ detail: { error: message } }) };
    const loc = param === undefined ? ['body'] : ['body', param];
    return {
      status: 422,
      body: JSON.stringify({ detail: [{ loc, msg: message, type: 'value_error' }] }),
    };
  },
  timed: true,
});
