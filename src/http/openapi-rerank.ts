import { setImmediate } from 'node:timers/promises';
import Joi from 'joi';
import type { ErrorCode } from '../core/errors.js';
import { cohere, RERANK_MEMBERS } from '../ingress/cohere.js';
import { DIALECTS } from '../ingress/index.js';
import { REQUIRED_COUNT } from '../shapes/counts.js';
import { EXPLAINED } from '../shapes/explained.js';
import { shapeOf, type DialectShape } from './dialect-shape.js';
import { schemaOf, type JsonSchema } from './json-schema.js';
import { healthReply, infoReply, nimReply, xinferenceAuthReply } from './model-routes.js';
import {
  errorResponses,
  KEPT_STATUSES,
  KEY_ERRORS,
  RERANK_ERRORS,
  RERANK_ERROR,
} from './openapi-errors.js';
import {
  JSON_TYPE,
  jsonContent,
  listed,
  requestBody,
  SECURITY,
  type ApiOperation,
  type Content,
  type Convert,
} from './openapi-parts.js';
import { dialectPaths, guestSentence, RERANK_PARAMETERS } from './openapi-dialects.js';

const RERANK_REPLY = Joi.object({
  id: Joi.string().required(),
  model: Joi.string().required(),
  results: Joi.array()
    .items(
      Joi.object({
        index: REQUIRED_COUNT,
        relevance_score: Joi.number().required(),
        document: Joi.object().unknown(true).description('Only when it was asked for.'),
      }),
    )
    .required(),
  meta: Joi.object({
    api_version: Joi.object({ version: Joi.string().required() }).required(),
    billed_units: Joi.object({ search_units: REQUIRED_COUNT }).required(),
    tokens: Joi.object({ input_tokens: REQUIRED_COUNT, output_tokens: REQUIRED_COUNT }).required(),
    warnings: Joi.array()
      .items(Joi.string())
      .description('Remarks on the ranking, such as that a fallback made it.'),
    degraded: Joi.boolean().description('Only where a last resort made it.'),
  }).required(),
  usage: Joi.object({
    prompt_tokens: REQUIRED_COUNT,
    completion_tokens: REQUIRED_COUNT,
    total_tokens: REQUIRED_COUNT,
  }).required(),
  explanation: EXPLAINED.description('With explain=after.'),
});

const MODEL = Joi.object({
  id: Joi.string().required(),
  object: Joi.string().valid('model').required(),
  created: REQUIRED_COUNT,
  owned_by: Joi.string().required(),
  model_type: Joi.string().valid('rerank').required(),
  alias_of: Joi.string().description('The model that this name stands for.'),
});

export async function rerankPaths(
  convert: Convert,
): Promise<Record<string, Record<string, ApiOperation>>> {
  const common = { tags: ['rerank'], security: SECURITY.key };
  const members = convert(RERANK_MEMBERS);
  const documents: JsonSchema = {
    type: 'array',
    minItems: 1,
    description:
      'Texts, or objects with text, image or both (or with the members that rank_fields names).',
    items: { anyOf: [{ type: 'string' }, { type: 'object' }] },
  };
  const query: JsonSchema = {
    ...members.properties?.query,
    minLength: 1,
    description: 'Not blank.',
  };
  const returnDocuments: JsonSchema = {
    ...members.properties?.return_documents,
    default: false,
    description: 'Whether each row has its document, as {"text": …} or as it came.',
  };
  const model = ['model_not_found', 'model_not_allowed'] as const;
  const others = [];
  for (const dialect of DIALECTS.filter((each) => each !== cohere)) {
    await setImmediate();
    others.push({ ...dialect, shape: shapeOf(dialect, convert, RERANK_ERRORS) });
  }
  const shared = others.filter(({ claim }) => claim !== undefined);
  return {
    '/v1/rerank': {
      post: {
        ...common,
        operationId: 'rerank',
        summary: 'Rank documents by how well they answer a query',
        description: `Also at /rerank, /v2/rerank, ${cohere.paths.slice(1).join(', ')}. Requests that look like those of ${listed(shared.map(({ title }) => title))}, or that a key's dialect says are theirs, are read and answered in their form, below.${(cohere.guestPaths ?? []).map((path) => ` ${guestSentence(path)}`).join('')}`,
        parameters: RERANK_PARAMETERS,
        requestBody: requestBody({
          ...members,
          properties: {
            ...members.properties,
            query,
            documents,
            return_documents: returnDocuments,
          },
          required: ['query', 'documents'],
        }),
        responses: {
          '200': jsonContent('The ranking, best first.', {
            anyOf: [
              convert(RERANK_REPLY),
              ...shared.map(({ shape }) => shape.reply),
              convert(EXPLAINED),
            ],
          }),
          ...sharedErrors(shared.map(({ shape }) => shape)),
        },
      },
    },
    ...Object.fromEntries(others.flatMap(dialectPaths)),
    ...preflightPaths(),
    '/v1/models': {
      get: {
        ...common,
        operationId: 'listModels',
        summary: 'The models that the key may use',
        responses: {
          '200': jsonContent(
            'All of them.',
            convert(
              Joi.object({
                object: Joi.string().valid('list').required(),
                data: Joi.array().items(MODEL).required(),
              }),
            ),
          ),
          ...errorResponses(KEY_ERRORS, RERANK_ERROR),
        },
      },
    },
    '/v1/models/{id}': {
      get: {
        ...common,
        operationId: 'getModel',
        summary: 'One model that the key may use',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          '200': jsonContent('The model.', convert(MODEL)),
          ...errorResponses([...KEY_ERRORS, ...model], RERANK_ERROR),
        },
      },
    },
  };
}

/** What clients of some forms ask before they rank. */
function preflightPaths(): Record<string, Record<string, ApiOperation>> {
  const asked = (id: string, summary: string, reply: unknown, codes: readonly ErrorCode[]) => ({
    get: {
      operationId: id,
      tags: ['rerank in other forms'],
      summary,
      security: codes.includes('missing_api_key') ? SECURITY.key : SECURITY.public,
      responses: {
        '200': jsonContent('As the original would answer.', schemaOf(reply)),
        ...errorResponses(codes, RERANK_ERROR),
      },
    },
  });
  const health = ['store_unavailable', 'internal_error'] as const;
  const info = [...KEY_ERRORS, 'model_not_found'] as const;
  return {
    '/info': asked('teiInfo', "The key's default model, as TEI does", infoReply('m', 1), info),
    '/health': asked('health', 'As TEI, Infinity and LocalAI report it', healthReply(500), health),
    '/v1/cluster/auth': asked(
      'xinferenceAuth',
      "Whether a key is required, for Xinference's client",
      xinferenceAuthReply(),
      health,
    ),
    '/v1/health/ready': asked('nimReady', 'As NIM reports it', nimReply('ready'), health),
    '/v1/health/live': asked('nimLive', 'As NIM reports it', nimReply('live'), health),
  };
}

/** Errors of the main contract and of the forms that share its paths. */
function sharedErrors(shapes: readonly DialectShape[]): Record<string, Content> {
  const own = errorResponses(RERANK_ERRORS, RERANK_ERROR, KEPT_STATUSES);
  const statuses = new Set([
    ...Object.keys(own).map(Number),
    ...shapes.flatMap(({ errors }) => [...errors.keys()]),
  ]);
  const sorted = [...statuses].sort((a, b) => a - b);
  return Object.fromEntries(
    sorted.map((status) => {
      const { description, content } = own[status] ?? {};
      const theirs = shapes.flatMap(({ errors }) => errors.get(status) ?? []);
      const codes = description ?? [...new Set(theirs.flatMap((one) => one.codes))].join(', ');
      const schemas = [content?.[JSON_TYPE]?.schema ?? [], ...theirs.map(({ schema }) => schema)];
      return [String(status), jsonContent(codes, { anyOf: schemas.flat() })];
    }),
  );
}
