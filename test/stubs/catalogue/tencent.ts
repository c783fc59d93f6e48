import { count, flag, list, Refusal, string, valueAt } from '../checks.js';
import { ACCESS_KEY_ID, checkTencent, SECRET_KEY } from '../signatures.js';
import type { Blame, Stub } from '../stub.js';
import { wireStub, type ErrorShape, type ListedError, type Wire } from '../wire.js';

const TENCENT_CODES: Readonly<Record<string, string>> = {
  malformed: 'AuthFailure.InvalidAuthorization',
  'unknown-key': 'AuthFailure.SecretIdNotFound',
  signature: 'AuthFailure.SignatureFailure',
  expired: 'AuthFailure.SignatureExpire',
  scope: 'AuthFailure.SignatureFailure',
};

const tencentError: ErrorShape = ({ message, kind, code }) => {
  const usual =
    kind === 'missing'
      ? 'MissingParameter'
      : kind === 'unknown'
        ? 'UnknownParameter'
        : kind === 'type'
          ? 'InvalidParameter'
          : kind === 'no-key'
            ? 'AuthFailure.InvalidAuthorization'
            : 'InvalidParameterValue';
  const named = TENCENT_CODES[code ?? ''] ?? code ?? usual;
  return {
    status: 200,
    json: { Response: { Error: { Code: named, Message: message }, RequestId: 'eac6b301' } },
  };
};

const listed = (code: string, message = code, blames: Blame = 'channel'): ListedError => ({
  status: 200,
  message,
  code,
  blames,
});

const TENCENT_ERRORS: Readonly<Record<string, ListedError>> = {
  signature: listed('AuthFailure.SignatureFailure'),
  'invalid-parameter': listed('InvalidParameter', 'bad', 'caller'),
  'missing-parameter': listed('MissingParameter', 'bad', 'caller'),
  limit: listed('LimitExceeded'),
  'rate-limit': listed('RequestLimitExceeded'),
  unavailable: listed('ResourceUnavailable'),
  failed: listed('FailedOperation'),
  internal: listed('InternalError'),
};

function tencent(service: string, version: string, wire: Partial<Wire>): Stub {
  return wireStub({
    paths: ['/'],
    auth: (call) => {
      checkTencent(call, service);
      const action = call.headers['x-tc-action'];
      if (action !== 'RunRerank') throw new Refusal('path', '', 'unknown action', 'InvalidAction');
      if (call.headers['x-tc-version'] !== version) {
        throw new Refusal('path', '', 'no such version', 'NoSuchVersion');
      }
      if (call.headers['x-tc-region'] === undefined) {
        throw new Refusal('missing', 'X-TC-Region', 'X-TC-Region is required');
      }
    },
    unknown: 'refused',
    error: tencentError,
    errors: TENCENT_ERRORS,
    channel: {
      credentials: { secretId: ACCESS_KEY_ID, secretKey: SECRET_KEY },
      wrongCredentials: { secretId: ACCESS_KEY_ID, secretKey: 'wrong' },
    },
    ...wire,
  });
}

const tokensUsed = (tokens: number) => ({
  Usage: { TotalTokens: tokens },
  RequestId: 'eac6b301-0000-4000-8000-000000000001',
});

/** Tencent: every error comes with status 200. */
export const TENCENT_STUBS = {
  'tencent-lkeap': tencent('lkeap', '2024-05-22', {
    required: { Query: string({ min: 1 }), Docs: list(string({ min: 1 }), { max: 60 }) },
    optional: { Model: string() },
    also: (body) => {
      const docs = valueAt(body, 'Docs');
      const texts = [valueAt(body, 'Query'), ...(Array.isArray(docs) ? (docs as unknown[]) : [])];
      if (texts.map(String).join('').length > 2_000) {
        throw new Refusal('too-long', 'Docs', 'the total length exceeds 2000 characters');
      }
    },
    names: { query: 'Query', documents: 'Docs', model: 'Model' },
    order: 'input',
    indexed: false,
    reply: (rows, { tokens }) => ({
      Response: { ScoreList: rows.map(({ score }) => score), ...tokensUsed(tokens) },
    }),
  }),
  'tencent-es': tencent('es', '2025-01-01', {
    required: {
      ModelName: string({ min: 1 }),
      Query: string({ min: 1 }),
      Documents: list(string({ min: 1 })),
    },
    optional: { TopN: count, ReturnDocuments: flag },
    names: {
      query: 'Query',
      documents: 'Documents',
      model: 'ModelName',
      topN: 'TopN',
      echo: 'ReturnDocuments',
    },
    reply: (rows, { tokens, echo }) => ({
      Response: {
        Data: rows.map(({ index, score, text }) => ({
          Index: index,
          RelevanceScore: score,
          Document: echo ? text : null,
        })),
        ...tokensUsed(tokens),
      },
    }),
  }),
} satisfies Record<string, Stub>;
