import { list, object, Refusal, string, textAt, valueAt } from '../checks.js';
import { ACCESS_KEY_ID, checkVolcengine, SECRET_KEY } from '../signatures.js';
import type { Stub } from '../stub.js';
import { wireStub, type ErrorShape, type Wire } from '../wire.js';

const VOLCENGINE_CHANNEL = {
  credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_KEY },
  wrongCredentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: 'wrong' },
};

const volcengineError: ErrorShape = ({ status, message, code, kind }) => ({
  status,
  json: {
    code: Number.isNaN(Number(code))
      ? kind === 'key' || kind === 'no-key'
        ? 1_000_001
        : 1_000_003
      : Number(code),
    message,
    request_id: '021700000000000',
  },
});

const volcengine: Wire = {
  paths: ['/api/knowledge/service/rerank'],
  auth: (call) => {
    checkVolcengine(call, 'cn-beijing', 'air');
  },
  required: {
    datas: list(
      object(
        { query: string({ min: 1 }) },
        { content: string({ min: 1 }), title: string(), image: string() },
      ),
      { max: 200 },
    ),
  },
  optional: { rerank_model: string({ min: 1 }), rerank_instruction: string() },
  unknown: 'refused',
  also: (body) => {
    const datas = valueAt(body, 'datas');
    const queries = new Set(
      Array.isArray(datas) ? datas.map((item) => valueAt(item, 'query')) : [],
    );
    if (queries.size !== 1) throw new Refusal('range', 'datas', 'every query must be the same');
  },
  names: { model: 'rerank_model', query: 'datas.0.query', documents: 'datas' },
  textOf: (item) => textAt(item, 'content'),
  order: 'input',
  indexed: false,
  reply: (rows, { tokens, call }) => {
    const scores = rows.map(({ score }) => score);
    return {
      code: 0,
      message: 'success',
      request_id: '021700000000000',
      data: call.modes.has('bare-data') ? scores : { scores, token_usage: tokens },
    };
  },
  statuses: { 'no-key': 403, key: 403, 'content-type': 400 },
  error: volcengineError,
  errors: {
    unauthorized: { status: 403, message: 'unauthorized', code: '1000001' },
    invalid: { status: 400, message: 'invalid request', code: '1000002', blames: 'caller' },
    'invalid-body': { status: 400, message: 'invalid request', code: '1000003', blames: 'caller' },
    quota: { status: 429, message: 'quota exceeded', code: '300004' },
    overloaded: { status: 500, message: 'overloaded', code: '1000028' },
    inference: { status: 500, message: 'inference failed', code: '1000030' },
    'inference-200': { status: 200, message: 'inference failed', code: '1000030' },
  },
  variants: { 'bare-data': 'the scores directly in data, as older servers have it' },
  channel: { ...VOLCENGINE_CHANNEL, model: 'base-multilingual-rerank' },
};

const vikingdb: Wire = {
  ...volcengine,
  paths: ['/api/vikingdb/rerank'],
  auth: (call) => {
    checkVolcengine(call, 'cn-beijing', 'vikingdb');
  },
  required: {
    model_name: string({ min: 1 }),
    query: list(object({ text: string({ min: 1 }) }), { max: 1 }),
    data: list(list(object({ text: string({ min: 1 }) }))),
  },
  optional: { model_version: string({ min: 1 }), instruction: string() },
  also: () => undefined,
  names: { model: 'model_name', query: 'query.0', documents: 'data' },
  textOf: (parts) => textAt(parts, '0.text'),
  indexed: false,
  reply: (rows, { tokens }) => ({
    code: 'Success',
    message: 'ok',
    request_id: '021700000000001',
    result: {
      data: rows.map(({ index, score }) => ({ id: index, score })),
      token_usage: { total_tokens: tokens },
    },
  }),
  channel: { ...VOLCENGINE_CHANNEL, model: 'doubao-seed-rerank' },
  variants: {},
};

/** Volcengine: positional scores, codes in the body. */
export const VOLCENGINE_STUBS = {
  volcengine: wireStub(volcengine),
  vikingdb: wireStub(vikingdb),
} satisfies Record<string, Stub>;
