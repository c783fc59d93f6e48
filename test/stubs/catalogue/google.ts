import {
  anything,
  flag,
  isObject,
  list,
  object,
  Refusal,
  string,
  textAt,
  valueAt,
  whole,
} from '../checks.js';
import { googleIssuer, GOOGLE_ACCOUNT, issuedBy } from '../issuers.js';
import { registeredKey, strangersKey } from '../signatures.js';
import type { Stub } from '../stub.js';
import { wireStub, type ErrorShape } from '../wire.js';

const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const googleError: ErrorShape = ({ status, message, code }) => ({
  status,
  json: { error: { code: status, message, status: code ?? GOOGLE_STATUS[status] ?? 'UNKNOWN' } },
});

function serviceAccount(base: string, privateKey: string): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'demo',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: GOOGLE_ACCOUNT,
    token_uri: `${base}/token`,
  });
}

/** A key file of the account that the stub knows. */
export function googleKeyFile(base: string): string {
  return serviceAccount(base, registeredKey().privatePem);
}

function strangersKeyFile(base: string): string {
  return serviceAccount(base, strangersKey().privatePem);
}

function google(location: string): Stub {
  return wireStub({
    paths: [`/v1/projects/demo/locations/${location}/rankingConfigs/default_ranking_config:rank`],
    auth: issuedBy('ya29'),
    required: {
      query: string({ min: 1 }),
      records: list(
        object({}, { id: string(), title: string({ min: 1 }), content: string({ min: 1 }) }),
        { max: 200 },
      ),
    },
    optional: {
      model: string(),
      topN: whole(-1),
      ignoreRecordDetailsInResponse: flag,
      userLabels: anything,
    },
    unknown: 'refused',
    also: (body) => {
      const records = valueAt(body, 'records');
      if (!Array.isArray(records)) return;
      records.forEach((record, index) => {
        const text = textAt(record, 'content') + textAt(record, 'title');
        if (text.trim() === '') {
          throw new Refusal(
            'blank',
            `records.${index}`,
            `records[${index}] has neither title nor content`,
          );
        }
      });
    },
    names: { documents: 'records', topN: 'topN', echo: 'ignoreRecordDetailsInResponse' },
    topNZeroIsAll: true,
    textOf: (record) =>
      [valueAt(record, 'title'), valueAt(record, 'content')]
        .filter((text) => typeof text === 'string')
        .join(' '),
    reply: (rows, { echo, body }) => ({
      records: rows.map(({ index, score, source }) => ({
        ...(echo || !isObject(source) ? {} : source),
        id: textAt(body, `records.${index}.id`) || String(index),
        // Zero is left out on the wire.
        ...(score === 0 || score === null ? {} : { score }),
      })),
    }),
    error: googleError,
    errors: {
      'invalid-argument': {
        status: 400,
        message: 'Request contains an invalid argument.',
        blames: 'caller',
      },
      precondition: { status: 400, message: 'billing is disabled', code: 'FAILED_PRECONDITION' },
      unauthenticated: { status: 401, message: 'invalid authentication credentials' },
      'service-disabled': {
        status: 403,
        message: 'Discovery Engine API has not been used in project',
      },
      'not-found': { status: 404, message: 'Requested entity was not found.' },
      exhausted: { status: 429, message: 'Quota exceeded' },
      internal: { status: 500, message: 'Internal error encountered.' },
      unavailable: { status: 503, message: 'The service is currently unavailable.' },
    },
    channel: {
      // Without a key the machine's own account is asked for a token.
      credentials: {},
      settings: (base) => ({
        project: 'demo',
        metadataUrl: `${base}/computeMetadata/v1/instance/service-accounts/default/token`,
      }),
      wrongCredentials: (base) => ({ credentialsJson: strangersKeyFile(base) }),
    },
    beside: googleIssuer,
  });
}

/** Google. */
export const GOOGLE_STUBS = {
  google: google('global'),
  'google-us': google('us'),
  'google-eu': google('eu'),
} satisfies Record<string, Stub>;
