import type { ErrorCode, GatewayError } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import { plainRequest } from './plain-request.js';
import {
  COUNT,
  FLAG,
  listNames,
  membersOf,
  MODEL,
  QUERY,
  TEXT,
  stringsIn,
  validate,
} from './read.js';
import { rescored, rowsJson } from './rows.js';
import { asLogits, asProbabilities, isOfBody } from './write.js';

const MEMBERS = membersOf({
  query: QUERY,
  raw_scores: FLAG,
  return_text: FLAG,
  truncate: FLAG,
  truncation_direction: TEXT,
  // Neither is in TEI's API; some of its clients send them.
  model: MODEL,
  top_n: COUNT,
});
// SGLang's clients, for which a key's `dialect` selects this form, name them `documents`.
const TEXTS = listNames('texts', 'documents');

interface Kept {
  readonly rawScores: boolean;
}

/** Text-embeddings-inference: `texts` in, a bare array out, and no model name. */
export const tei = defineDialect<Kept>({
  id: 'tei',
  title: 'Hugging Face text-embeddings-inference (TEI)',
  listed: true,
  lists: TEXTS,
  paths: [],
  // llama.cpp reads either list there.
  guestPaths: ['/v1/reranking'],
  claim: { list: 'texts' },
  members: MEMBERS,
  examples: [{ query: EXAMPLE.query, texts: EXAMPLE.texts, return_text: true }],
  parse: (request) => {
    const members = validate(MEMBERS, request.members());
    return plainRequest<Kept>(stringsIn(TEXTS), members, members.top_n, {
      returnDocuments: members.return_text === true,
      options: members.truncate == null ? {} : { truncation: members.truncate },
      kept: { rawScores: members.raw_scores === true },
    });
  },
  reply: (_id, { documents, returnDocuments }, ranking, { rawScores }) =>
    rowsJson(
      rescored(ranking, rawScores ? asLogits : asProbabilities),
      (index, score) => `{"index":${index},"score":${score}}`,
      returnDocuments ? documents : undefined,
      { name: 'text', areTexts: true },
    ),
  error: (error) => {
    const [type, status] = kindOf(error);
    const body = JSON.stringify({ error: error.message, error_type: type });
    return status === undefined ? { body } : { body, status };
  },
});

type Kind = 'Unhealthy' | 'Backend' | 'Overloaded' | 'Validation' | 'Empty';

const KINDS: Readonly<Partial<Record<ErrorCode, readonly [Kind, status?: number]>>> = {
  rate_limited: ['Overloaded'],
  too_many_concurrent_requests: ['Overloaded'],
  overloaded: ['Overloaded', 429],
  no_channel_available: ['Unhealthy'],
  store_unavailable: ['Unhealthy'],
  internal_error: ['Backend'],
  upstream_error: ['Backend', 424],
  upstream_invalid_response: ['Backend', 424],
  upstream_timeout: ['Backend', 424],
};

function kindOf(error: GatewayError): readonly [Kind, status?: number] {
  if (error.code === 'invalid_documents' && error.message.includes('empty')) return ['Empty'];
  if (isOfBody(error)) return ['Validation', 422];
  return KINDS[error.code] ?? ['Validation'];
}
