import { mapValues } from '../core/records.js';
import { bedrockFault } from './bedrock.js';
import { type ComposedProvider } from './provider.js';
import { AWS_CREDENTIALS, AWS_REGION, signBedrock } from './signing/aws.js';

/** How a call to a model on Bedrock is authenticated: by a signature, or by an API key. */
export const bedrockAccess = {
  credentials: {
    ...mapValues(AWS_CREDENTIALS, ({ describe }) => ({ required: false, describe })),
    apiKey: { required: false, describe: 'Bedrock API key, in place of a signature' },
  },
  settings: AWS_REGION,
  mistakes: ({ credentials: { apiKey, accessKeyId, secretAccessKey } }) => [
    apiKey === undefined &&
      (accessKeyId === undefined || secretAccessKey === undefined) &&
      'credentials.access_key_id and credentials.secret_access_key must both be set, or credentials.api_key',
  ],
  sign: signBedrock,
  fault: bedrockFault,
} as const satisfies Partial<ComposedProvider>;
