import { count, flag, list, object, oneOf, Refusal, string, valueAt } from '../checks.js';
import { checkOci, registeredKey, strangersKey } from '../signatures.js';
import type { Stub } from '../stub.js';
import { wireStub, type Asked, type Wire, type WireRow } from '../wire.js';

const OCI_CODES: Readonly<Record<number, string>> = {
  400: 'InvalidParameter',
  401: 'NotAuthenticated',
  404: 'NotAuthorizedOrNotFound',
  429: 'TooManyRequests',
  500: 'InternalServerError',
};

const OCI_OWNER = {
  tenancy: 'ocid1.tenancy.oc1..t',
  user: 'ocid1.user.oc1..u',
  fingerprint: '20:3b',
};

const oci: Wire = {
  paths: ['/20231130/actions/rerankText'],
  auth: (call) => {
    checkOci(call, `${OCI_OWNER.tenancy}/${OCI_OWNER.user}/${OCI_OWNER.fingerprint}`);
  },
  required: {
    input: string({ min: 1 }),
    compartmentId: string({ min: 1 }),
    servingMode: object(
      { servingType: oneOf('ON_DEMAND', 'DEDICATED') },
      { modelId: string({ min: 1 }), endpointId: string({ min: 1 }) },
    ),
    documents: list(string({ min: 1 })),
  },
  optional: {
    topN: count,
    isEcho: flag,
    maxChunksPerDocument: count,
    maxTokensPerDocument: count,
  },
  unknown: 'refused',
  also: (body) => {
    const dedicated = valueAt(body, 'servingMode.servingType') === 'DEDICATED';
    const name = dedicated ? 'endpointId' : 'modelId';
    if (valueAt(body, `servingMode.${name}`) === undefined) {
      throw new Refusal('missing', `servingMode.${name}`, `${name} is required`);
    }
  },
  names: { query: 'input', topN: 'topN', echo: 'isEcho', model: 'servingMode.modelId' },
  list: 'documentRanks',
  score: 'relevanceScore',
  rowMembers: ({ text }: WireRow, { echo }: Asked) => (echo ? { document: { text } } : {}),
  around: () => ({
    id: '9c2e0000-0000-4000-8000-000000000001',
    modelId: 'ocid1.generativeaimodel.oc1..x',
    modelVersion: '3.5',
  }),
  error: ({ status, message, code }) => ({
    status,
    headers: { 'opc-request-id': 'stub' },
    json: { code: code ?? OCI_CODES[status] ?? 'Unknown', message },
  }),
  errors: {
    'invalid-parameter': { status: 400, message: 'invalid input', blames: 'caller' },
    'not-authenticated': {
      status: 401,
      message:
        'The required information to complete authentication was not provided or was incorrect.',
    },
    'not-found': { status: 404, message: 'Authorization failed or requested resource not found.' },
    conflict: { status: 409, message: 'conflict', code: 'IncorrectState' },
    precondition: { status: 412, message: 'no match', code: 'NoEtagMatch' },
    'rate-limit': { status: 429, message: 'too many requests' },
    internal: { status: 500, message: 'internal server error' },
    unavailable: { status: 503, message: 'unavailable', code: 'ServiceUnavailable' },
  },
  channel: {
    credentials: () => ({ privateKey: registeredKey().privatePem }),
    wrongCredentials: () => ({ privateKey: strangersKey().privatePem }),
    settings: () => ({ ...OCI_OWNER, compartment: 'ocid1.compartment.oc1..x' }),
  },
};

/** Oracle. */
export const ORACLE_STUBS = {
  oci: wireStub(oci),
} satisfies Record<string, Stub>;
