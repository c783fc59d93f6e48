import { isObject, list, object, oneOf, Refusal, string, valueAt, type Check } from '../checks.js';
import { detailList, errorObject } from '../errors.js';
import type { Stub } from '../stub.js';
import { bearerKey, plainText, wireStub, type ErrorShape, type Wire } from '../wire.js';

const passage: Check = (value, at) => {
  object({}, { text: string(), image: string({ min: 1 }) }, 'refused')(value, at);
  if (!isObject(value)) return;
  const { text, image } = value;
  if (text === undefined && image === undefined) {
    throw new Refusal('missing', at, `${at} needs text or image`);
  }
  if (text === '' && image !== undefined) throw new Refusal('blank', at, `${at}.text is empty`);
  if (typeof image === 'string' && !image.startsWith('data:image/')) {
    throw new Refusal('range', `${at}.image`, `${at}.image must be a base64 data URL`);
  }
};

/** What a NIM says of its input, and what the web framework says of the schema. */
const nimError: ErrorShape = (problem) =>
  problem.status === 422
    ? detailList(problem)
    : {
        status: problem.status,
        json: {
          object: 'error',
          message: problem.message,
          detail: {},
          type: 'invalid_request_error',
        },
      };

const hostedError: ErrorShape = (problem) =>
  problem.kind === 'path'
    ? { status: 404, text: '404 page not found' }
    : problem.status === 401 || problem.status === 404 || problem.status === 402
      ? {
          status: problem.status,
          json: { status: problem.status, title: 'Refused', detail: problem.message },
        }
      : nimError(problem);

const nim: Wire = {
  paths: ['/v1/ranking'],
  required: {
    model: string({ min: 1 }),
    query: object({ text: string({ min: 1 }) }),
    passages: list(passage, { max: 512 }),
  },
  // `top_n` is refused by some versions; so it must not come.
  optional: { truncate: oneOf('NONE', 'END') },
  unknown: 'refused',
  also: (body, { modes }) => {
    const passages = valueAt(body, 'passages');
    const texts = Array.isArray(passages) ? passages.map(plainText) : [];
    const long = texts.some((text) => text.split(/\s+/).length > 8_192);
    if (long && valueAt(body, 'truncate') !== 'END' && !modes.has('no-limit')) {
      throw new Refusal(
        'too-long',
        'passages',
        'Input length 16384 exceeds maximum allowed token size 8192',
      );
    }
  },
  names: { documents: 'passages' },
  scale: 'logit',
  reply: (rows, { tokens, call }) => ({
    rankings: rows.map(({ index, score }) => ({ index, logit: score })),
    ...(call.modes.has('no-usage')
      ? {}
      : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  }),
  statuses: { missing: 422, type: 422, unknown: 422, range: 422, empty: 422 },
  error: nimError,
  errors: {
    'too-long': {
      status: 400,
      message: 'Input length 1024 exceeds maximum allowed token size 512',
      blames: 'limit',
    },
    schema: { status: 422, message: 'Field required', blames: 'caller' },
    'unknown-model': { status: 404, message: 'model not found' },
    internal: { status: 500, message: 'internal' },
  },
  variants: { 'no-usage': 'rankings and nothing else, as older containers' },
};

const hosted: Wire = {
  ...nim,
  error: hostedError,
  errors: {
    ...nim.errors,
    unauthorized: { status: 401, message: 'Authentication failed' },
    credits: { status: 402, message: 'Payment required' },
    'no-function': { status: 404, message: 'Function not found' },
    'rate-limit': { status: 429, message: 'Too many requests' },
    'plain-404': { status: 404, message: '', reply: { status: 404, text: '404 page not found' } },
    pending: {
      status: 202,
      message: '',
      reply: { status: 202, headers: { 'nvcf-reqid': '5f0c2c9e' } },
    },
  },
};

/** NVIDIA, hosted and as a container. */
export const NVIDIA_STUBS = {
  nim: wireStub(nim),
  nvidia: wireStub(hosted),
  'nvidia-retrieval': wireStub({
    ...hosted,
    paths: [/^\/v1\/retrieval\/nvidia\/([a-z0-9_-]+\/)?reranking$/],
  }),
  'nvidia-hub': wireStub({
    auth: bearerKey(),
    around: ({ tokens }) => ({ id: 'x', usage: { total_tokens: tokens } }),
    error: errorObject(),
  }),
} satisfies Record<string, Stub>;
