import { TOKEN_MEMBERS } from '../core/token-members.js';
import type { IngressDialect } from '../ingress/dialect.js';
import type { DialectShape } from './dialect-shape.js';
import { either, type JsonSchema } from './json-schema.js';
import {
  jsonContent,
  REQUEST_ID,
  requestBody,
  SECURITY,
  type ApiOperation,
  type ApiParameter,
  type Content,
} from './openapi-parts.js';

const RERANK_TAG: ApiParameter = {
  name: 'X-Rerank-Tag',
  in: 'header',
  required: false,
  description: 'Only channels with this tag are asked.',
  schema: { type: 'string' },
};

/** What a rerank request in any form may ask beside its body. */
export const RERANK_PARAMETERS: readonly ApiParameter[] = [
  RERANK_TAG,
  REQUEST_ID,
  {
    name: 'explain',
    in: 'query',
    required: false,
    description:
      '1: explain the request instead of ranking, and send nothing; after: explain it with the reply. For keys with may_explain.',
    schema: { type: 'string', enum: ['0', '1', 'after'], default: '0' },
  },
  {
    name: 'X-Rerank-Explain',
    in: 'header',
    required: false,
    description: 'The same as explain.',
    schema: { type: 'string', enum: ['0', '1', 'after'], default: '0' },
  },
  {
    name: 'X-Request-Timeout-Ms',
    in: 'header',
    required: false,
    description: "How long the caller waits; shortens the gateway's deadline.",
    schema: { type: 'integer', minimum: 1 },
  },
  {
    name: 'Cache-Control',
    in: 'header',
    required: false,
    description:
      'max-age: how old a kept ranking may be, in seconds; no-cache: only a fresh one will do.',
    schema: { type: 'string' },
  },
];

/** A form's operations, one for each of its paths. */
export function dialectPaths({
  id,
  title,
  claim,
  examples,
  guestPaths = [],
  shape,
}: IngressDialect & { readonly shape: DialectShape }): [string, Record<string, ApiOperation>][] {
  const { paths, request, reply, errors } = shape;
  const isSetting = TOKEN_MEMBERS.dialect.choices.some((choice) => choice === id);
  const where = [
    ...(claim === undefined ? [] : ['where requests have its marks']),
    ...(isSetting ? [`where the key's dialect is \`${id}\``] : []),
  ].join(' or ');
  const description = [
    ...(where === '' ? [] : [`Also at /v1/rerank and /rerank ${where}.`]),
    ...guestPaths.map(guestSentence),
  ].join(' ');
  return paths.map((path, at) => [
    path,
    {
      post: {
        operationId: `rerankAs-${id}${at === 0 ? '' : `-${at + 1}`}`,
        tags: ['rerank in other forms'],
        security: SECURITY.key,
        summary: `Rank documents in the form of ${title}`,
        ...(description === '' ? {} : { description }),
        parameters: [...placesOf(path), ...RERANK_PARAMETERS],
        requestBody: requestBody(request, examples[0]),
        responses: {
          '200': jsonContent('The ranking.', reply),
          ...rangesOf(errors),
        },
      },
    },
  ]);
}

/** A form's errors look much alike: those of 4XX together, and those of 5XX. */
function rangesOf(errors: DialectShape['errors']): Record<string, Content> {
  const ranges = new Map<string, { codes: string[]; schemas: Record<string, JsonSchema> }>();
  for (const [status, { codes, type, schema }] of [...errors].sort(([a], [b]) => a - b)) {
    const range = `${Math.floor(status / 100)}XX`;
    const before = ranges.get(range) ?? { codes: [], schemas: {} };
    const known = before.schemas[type];
    ranges.set(range, {
      codes: [...before.codes, `${status} ${codes.join(', ')}`],
      schemas: {
        ...before.schemas,
        [type]: known === undefined ? schema : either(known, schema),
      },
    });
  }
  return Object.fromEntries(
    [...ranges].map(([range, { codes, schemas }]) => [
      range,
      {
        description: codes.join('; '),
        content: Object.fromEntries(
          Object.entries(schemas).map(([type, schema]) => [type, { schema }]),
        ),
      },
    ]),
  );
}

export function guestSentence(path: string): string {
  return `Also at ${path} if the body has this form's list of documents.`;
}

function placesOf(path: string): ApiParameter[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}
