import { count, flag, list, object, Refusal, string, valueAt } from '../checks.js';
import { ibmIssuer, issuedBy } from '../issuers.js';
import { STUB_KEY, type Stub, type StubCall } from '../stub.js';
import { wireStub, type ErrorShape, type Wire } from '../wire.js';

const watsonxError: ErrorShape = ({ status, message, code, kind }) => ({
  status,
  json: {
    errors: [
      {
        code:
          code ??
          (kind === 'key' || kind === 'no-key'
            ? 'authentication_token_not_valid'
            : 'json_validation_error'),
        message,
        more_info: 'https://cloud.ibm.com/apidocs/watsonx-ai',
      },
    ],
    trace: '7f0c0000000000000000000000000001',
    status_code: status,
  },
});

const PROJECT = '12ac4cf1-0000-4000-8000-000000000001';

function watsonx(auth: Wire['auth'], channel: NonNullable<Wire['channel']>): Stub {
  return wireStub({
    paths: ['/ml/v1/text/rerank'],
    auth: (call) => {
      auth?.(call);
      if (!/^\d{4}-\d\d-\d\d$/.test(call.search.get('version') ?? '')) {
        throw new Refusal('missing', 'version', 'version is required', 'invalid_request_entity');
      }
    },
    required: {
      model_id: string({ min: 1 }),
      query: string({ min: 1 }),
      inputs: list(object({ text: string({ min: 1 }) })),
    },
    optional: {
      project_id: string({ min: 1 }),
      space_id: string({ min: 1 }),
      parameters: object(
        {},
        {
          truncate_input_tokens: count,
          return_options: object({}, { top_n: count, inputs: flag, query: flag }),
        },
      ),
    },
    unknown: 'refused',
    also: (body) => {
      const owners = ['project_id', 'space_id'].filter((name) => valueAt(body, name) !== undefined);
      if (owners.length !== 1) {
        throw new Refusal(
          'missing',
          'project_id',
          'exactly one of project_id and space_id must be given',
          'invalid_request_entity',
        );
      }
    },
    names: {
      model: 'model_id',
      documents: 'inputs',
      topN: 'parameters.return_options.top_n',
      echo: 'parameters.return_options.inputs',
    },
    scale: 'logit',
    score: 'score',
    rowMembers: ({ text }, { echo }) => (echo ? { input: { text } } : {}),
    around: ({ model, tokens, query, body }) => ({
      model_id: model,
      created_at: '2026-02-21T10:57:34.183Z',
      input_token_count: tokens,
      ...(valueAt(body, 'parameters.return_options.query') === true ? { query } : {}),
    }),
    error: watsonxError,
    errors: {
      invalid: {
        status: 400,
        message: 'invalid input',
        code: 'invalid_request_entity',
        blames: 'caller',
      },
      'token-expired': {
        status: 401,
        message: 'the token has expired',
        code: 'authentication_token_expired',
      },
      'no-instance': {
        status: 403,
        message: 'no associated service instance',
        code: 'no_associated_service_instance_error',
      },
      'token-quota': { status: 403, message: 'token quota reached', code: 'token_quota_reached' },
      'unknown-model': {
        status: 404,
        message: "Model 'x/y' is not supported",
        code: 'model_not_supported',
      },
      'rate-limit': {
        status: 429,
        message: 'rate limit reached',
        code: 'rate_limit_reached_requests',
      },
      internal: { status: 500, message: 'internal error', code: 'internal_error' },
    },
    channel,
    beside: ibmIssuer,
  });
}

const isZen = ({ headers }: StubCall): boolean =>
  headers.authorization === `ZenApiKey ${Buffer.from(`admin:${STUB_KEY}`).toString('base64')}`;

/** IBM watsonx.ai, whose cross-encoders give logits. */
export const IBM_STUBS = {
  watsonx: watsonx(issuedBy('ibm'), {
    settings: (base) => ({ projectId: PROJECT, tokenUrl: `${base}/identity/token` }),
  }),
  'watsonx-on-prem': watsonx(
    (call) => {
      if (!isZen(call)) issuedBy('ibm')(call);
    },
    {
      settings: (base) => ({
        spaceId: PROJECT,
        username: 'admin',
        tokenUrl: `${base}/icp4d-api/v1/authorize`,
      }),
    },
  ),
} satisfies Record<string, Stub>;
