import { readRows } from './dialects.js';
import { CredentialError, defineProvider, textSetting, type UpstreamCall } from './provider.js';
import { ociKey, signForOci } from './signing/oci.js';
import { USUAL } from './self-hosted.js';

/** A dedicated model is addressed by the OCID of its endpoint; one that Oracle may some day share, by its name. */
function servingMode(model: string) {
  return model.startsWith('ocid1.generativeaiendpoint')
    ? { servingType: 'DEDICATED', endpointId: model }
    : { servingType: 'ON_DEMAND', modelId: model };
}

/** Oracle's generative AI service; it calls the query `input`. */
export const oci = defineProvider({
  id: 'oci',
  title: 'Oracle OCI Generative AI',
  baseUrl: 'https://inference.generativeai.{region}.oci.oraclecloud.com',
  path: '/20231130/actions/rerankText',
  credentials: {
    privateKey: { required: true, describe: 'RSA private key of the API key (PEM)' },
    passphrase: { required: false, describe: 'passphrase of the private key' },
    securityToken: {
      required: false,
      describe: 'token of a session, in place of tenancy, user and fingerprint',
    },
  },
  settings: {
    region: { type: 'string', default: 'us-chicago-1', describe: 'OCI region' },
    compartment: { type: 'string', required: true, describe: 'OCID of the compartment' },
    tenancy: { type: 'string', describe: 'OCID of the tenancy' },
    user: { type: 'string', describe: 'OCID of the user' },
    fingerprint: { type: 'string', describe: 'fingerprint of the API key' },
  },
  mistakes: (channel) => {
    try {
      ociKey(channel);
      return [];
    } catch (error) {
      if (error instanceof CredentialError) return [error.message];
      throw error;
    }
  },
  headers: () => ({}),
  sign: signForOci,
  body: ({ model, query, documents, topN, options, settings }: UpstreamCall) => ({
    input: query,
    compartmentId: textSetting(settings, 'compartment'),
    servingMode: servingMode(model),
    documents: documents.texts(),
    topN,
    isEcho: false,
    maxChunksPerDocument: options.maxChunksPerDoc,
    maxTokensPerDocument: options.maxTokensPerDoc,
  }),
  decode: (reply) => ({ rows: readRows(reply.field('documentRanks'), 'index', 'relevanceScore') }),
  // A conflict or a failed precondition passes on a retry.
  fault: ({ status }) => (status === 409 || status === 412 ? 'transient' : undefined),
  profile: {
    ...USUAL,
    echo: 'optional',
    blanks: 'as_space',
    billing: 'search_units',
  },
  exampleModels: ['ocid1.generativeaiendpoint.oc1.us-chicago-1.your-endpoint'],
  notes: [
    'Rerank models (Rerank 3.5, Rerank 4 Pro and Fast) run only on dedicated AI clusters: name the OCID of an endpoint.',
    'Any other name is sent as an on-demand model; Oracle has none for reranking today. Its pages spell them cohere.rerank.v3-5.',
    'The sovereign and government realms have other hosts (oraclecloud.eu, oraclegovcloud.uk): set the base URL.',
  ],
});
