import type Joi from 'joi';
import { openBody, writeJson, type JsonFragment, type OpenBody } from '../bytes/index.js';
import { GatewayError, type ErrorCode } from '../core/errors.js';
import type { RankedRow } from '../core/rerank.js';
import {
  readIn,
  type IngressDialect,
  type ParsedRerank,
  type Ranking,
  type ReplyClock,
} from '../ingress/dialect.js';
import { ingressRoute } from '../ingress/index.js';
import { IngressRequest } from '../ingress/read.js';
import { completedBy, either, schemaOf, type JsonSchema } from './json-schema.js';
import { KEPT_STATUSES } from './openapi-errors.js';
import { JSON_TYPE } from './openapi-parts.js';

/** What the requests, replies and errors of a form look like. */
export interface DialectShape {
  /** Its paths, the documented one first; only that one if it shares all others. */
  readonly paths: readonly [string, ...string[]];
  readonly request: JsonSchema;
  readonly reply: JsonSchema;
  readonly errors: ReadonlyMap<number, DialectErrors>;
}

/** The errors of one status. */
export interface DialectErrors {
  readonly codes: readonly ErrorCode[];
  readonly type: string;
  readonly schema: JsonSchema;
}

const USAGE = { inputTokens: 24, searchUnits: 1, estimated: false };
const CLOCK: ReplyClock = { nowMs: 1_750_000_000_000, elapsedMs: 12.5 };

/**
 * The shape of a form, found by using it: its examples are parsed, and replies and errors are written by the very functions
 * that serve requests, so that nothing here can differ from them.
 */
export function shapeOf(
  dialect: IngressDialect,
  convert: (schema: Joi.Schema) => JsonSchema,
  codes: readonly ErrorCode[],
): DialectShape {
  const paths = pathsOf(dialect);
  const replies = dialect.examples.flatMap((example) => repliesTo(dialect, paths[0], example));
  return {
    paths,
    request: requestOf(dialect, convert),
    reply: replies.map(schemaOf).reduce(either),
    errors: errorsOf(dialect, codes),
  };
}

function pathsOf({ id, paths }: IngressDialect): readonly [string, ...string[]] {
  const [first = `/${id}/v1/rerank`, ...others] = paths.map((path) => path.replaceAll('+}', '}'));
  return [first, ...others];
}

function requestOf(
  { members, examples }: IngressDialect,
  convert: (schema: Joi.Schema) => JsonSchema,
): JsonSchema {
  const example = examples.map(schemaOf).reduce(either);
  return members === undefined ? example : completedBy(convert(members), example);
}

/** With documents and without. */
function repliesTo(dialect: IngressDialect, path: string, example: object): unknown[] {
  const { params = {} } = ingressRoute(path.replaceAll(/[{}]/g, '')) ?? {};
  const body = Buffer.from(JSON.stringify(example));
  const opened = openBody(body, dialect.lists, asMany) as OpenBody;
  const read = readIn(dialect, new IngressRequest(opened, {}, params, asMany)) as ParsedRerank;
  const { model = 'my-model', kept, ...asked } = read;
  const rows: RankedRow[] = Array.from({ length: asked.documents.count }, (_, index) => ({
    index,
    score: 0.875 / (index + 1),
  }));
  const ranking: Ranking = { rows, usage: USAGE, warnings: [], written: undefined };
  return [false, true].map((returnDocuments): unknown => {
    const request = { ...asked, model, returnDocuments };
    const written = writeJson(dialect.reply('rr_1', request, ranking, kept, CLOCK)) as JsonFragment;
    return JSON.parse(written.toString());
  });
}

const asMany = 100;

function errorsOf(
  { error: write }: IngressDialect,
  codes: readonly ErrorCode[],
): ReadonlyMap<number, DialectErrors> {
  const errors = new Map<number, DialectErrors>();
  for (const code of codes) {
    for (const status of [undefined, ...(KEPT_STATUSES[code] ?? [])]) {
      const details = status === undefined ? {} : { status };
      for (const param of [{}, { param: 'documents' }]) {
        const error = new GatewayError(code, 'What was wrong.', { ...details, ...param });
        const written = write(error, 'rr_1', {});
        const told: DialectErrors = {
          codes: [code],
          type: written.headers?.['Content-Type'] ?? JSON_TYPE,
          schema: schemaOf(JSON.parse(written.body)),
        };
        const at = written.status ?? error.status;
        errors.set(at, together(errors.get(at), told));
      }
    }
  }
  return errors;
}

function together(before: DialectErrors | undefined, told: DialectErrors): DialectErrors {
  if (before === undefined) return told;
  return {
    ...told,
    codes: [...new Set([...before.codes, ...told.codes])],
    schema: either(before.schema, told.schema),
  };
}
