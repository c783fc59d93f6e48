import Joi from 'joi';
import {
  partDocuments,
  stringDocuments,
  type DocumentPart,
  type Documents,
} from '../core/documents.js';
import { GatewayError } from '../core/errors.js';
import { excessOf, scanBody, type ParseLimits } from '../core/json-scan.js';
import type { RerankOptions, RerankRequest } from '../core/rerank.js';
import { arePlain } from './plain-members.js';

/** The members of a rerank request but `documents`, as they come on the wire. `null` means absent. */
interface RerankMembers {
  readonly model?: string | null;
  readonly query: string;
  readonly top_n?: number | null;
  readonly return_documents?: boolean | 'true' | 'false' | null;
  readonly rank_fields?: string[] | null;
  readonly max_chunks_per_doc?: number | null;
  readonly max_chunk_per_doc?: number | null;
  readonly max_tokens_per_doc?: number | null;
  readonly overlap_tokens?: number | null;
  readonly instruction?: string | null;
  readonly truncation?: boolean | null;
  readonly priority?: number | null;
}

/**
 * What is written again, in a reply or for a provider, is written recursively: deeper ones would exhaust the stack. The
 * values are those of ten thousand documents with fifty members each, which take a tenth of a second.
 */
const LIMITS: ParseLimits = { depth: 256, values: 500_000 };

/** Whole numbers of any size: a count beyond what there is means all of it. */
const count = Joi.number().unsafe().integer().min(1).allow(null);

export const RERANK_MEMBERS = Joi.object<RerankMembers, true>({
  model: Joi.string().max(256).allow('', null),
  query: Joi.string().required(),
  top_n: count,
  return_documents: Joi.alternatives(Joi.boolean(), Joi.valid('true', 'false', null)),
  rank_fields: Joi.array().items(Joi.string().min(1)).max(100).allow(null),
  max_chunks_per_doc: count,
  max_chunk_per_doc: count,
  max_tokens_per_doc: count,
  overlap_tokens: Joi.number().unsafe().integer().min(0).allow(null),
  instruction: Joi.string().allow('', null),
  truncation: Joi.boolean().allow(null),
  priority: Joi.number().integer().min(0).max(999).allow(null),
})
  .unknown(true)
  .prefs({ convert: false, errors: { wrap: { label: false } } });

/** A request as far as the body tells it: the model may still come from the key or the configuration. */
export interface ParsedRerank extends Omit<RerankRequest, 'model'> {
  readonly model: string | undefined;
}

/**
 * Reads a rerank request. The body must be valid UTF-8.
 * @throws GatewayError 400 or 413 that names the field, what is wrong with it and what would be right.
 */
export function parseRerank(body: Buffer, maxDocuments: number): ParsedRerank {
  const scanned = scanBody(body);
  if (scanned !== undefined) {
    const members = checkMembers(scanned.members);
    checkCount(scanned.count, maxDocuments);
    const documents = stringDocuments(scanned.documents, scanned.count, scanned.mayHaveBlanks);
    return toRequest(members, documents);
  }
  const value = parseObject(body);
  const members = checkMembers(value);
  const documents = readDocuments(value.documents, body, rankFieldsOf(members), maxDocuments);
  return toRequest(members, documents);
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) {
    throw new GatewayError('invalid_json', 'The body is empty. Send a JSON object.');
  }
  const excess = excessOf(body, LIMITS);
  if (excess === 'depth') {
    throw new GatewayError('invalid_json', `The body is nested more than ${LIMITS.depth} deep.`);
  }
  if (excess === 'values') {
    throw new GatewayError(
      'payload_too_large',
      `The body has more than ${LIMITS.values} JSON values, the limit beside that of its bytes.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? withoutExcerpt(error.message) : '';
    throw new GatewayError('invalid_json', `The body is not valid JSON${reason}.`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Where the parser stopped, without the piece of the body that newer engines quote. */
function withoutExcerpt(message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? '' : ` (at position ${position})`;
}

function checkMembers(value: Readonly<Record<string, unknown>>): RerankMembers {
  // What `arePlain` has looked at is what the type says.
  const members = arePlain(value) ? (value as unknown as RerankMembers) : validate(value);
  if (members.query.trim() === '') {
    throw new GatewayError('invalid_query', 'query must not be blank.', { param: 'query' });
  }
  return members;
}

function validate(value: Readonly<Record<string, unknown>>): RerankMembers {
  const result = RERANK_MEMBERS.validate(value);
  if (result.error !== undefined) {
    const detail = result.error.details[0];
    const param = String(detail?.path[0] ?? '');
    throw new GatewayError(
      param === 'query' ? 'invalid_query' : 'invalid_request',
      `${detail?.message ?? 'The request is not valid'}.`,
      param === '' ? {} : { param },
    );
  }
  return result.value;
}

function readDocuments(
  value: unknown,
  body: Buffer,
  rankFields: readonly string[] | undefined,
  maxDocuments: number,
): Documents {
  if (value === undefined || value === null) {
    throw documentsError('documents is required: an array of strings, or of objects with "text".');
  }
  if (!Array.isArray(value)) throw documentsError('documents must be an array.');
  checkCount(value.length, maxDocuments);
  const parts = value.map((item, index) => readDocument(item, index, rankFields));
  return partDocuments(parts, body);
}

function readDocument(
  item: unknown,
  index: number,
  rankFields: readonly string[] | undefined,
): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw documentsError(`documents[${index}] must be a string or an object.`);
  }
  const members = item as Readonly<Record<string, unknown>>;
  if (rankFields !== undefined) return { text: fieldsText(members, rankFields), source: item };
  const { text, image } = members;
  const isImage = typeof image === 'string' && image !== '';
  // Beside a text, an image that is none is a member like any other.
  if (typeof text === 'string') {
    return isImage ? { text, image, source: item } : { text, source: item };
  }
  const isAlone = (text === undefined || text === null) && image !== undefined && image !== null;
  if (isAlone && isImage) return { image, source: item };
  throw documentsError(
    isAlone
      ? `documents[${index}].image must be a URL or base64 in a string.`
      : `documents[${index}] must have "text" as a string, or rank_fields must name the fields to rank by.`,
  );
}

/** The text of an object by the fields to rank by, in their order: one alone as it is, several as `name: value` lines. */
function fieldsText(members: Readonly<Record<string, unknown>>, fields: readonly string[]): string {
  const lines: string[] = [];
  for (const field of fields) {
    const value = Object.hasOwn(members, field) ? members[field] : undefined;
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    lines.push(fields.length === 1 ? text : `${field}: ${text}`);
  }
  return lines.join('\n');
}

function checkCount(count: number, maxDocuments: number): void {
  if (count === 0) throw documentsError('documents must not be empty.');
  if (count > maxDocuments) {
    throw new GatewayError(
      'too_many_documents',
      `documents has ${count} entries; at most ${maxDocuments} are taken in one request.`,
      { param: 'documents' },
    );
  }
}

function documentsError(message: string): GatewayError {
  return new GatewayError('invalid_documents', message, { param: 'documents' });
}

function toRequest(members: RerankMembers, documents: Documents): ParsedRerank {
  return {
    model: members.model === null || members.model === '' ? undefined : members.model,
    query: members.query.toWellFormed(),
    documents,
    topN: Math.min(members.top_n ?? documents.count, documents.count),
    returnDocuments: members.return_documents === true || members.return_documents === 'true',
    options: toOptions(members),
  };
}

/** The fields to rank by; none named is the same as nothing said. */
function rankFieldsOf({ rank_fields: fields }: RerankMembers): readonly string[] | undefined {
  return fields == null || fields.length === 0 ? undefined : fields;
}

function toOptions(members: RerankMembers): RerankOptions {
  const options: { -readonly [K in keyof RerankOptions]: RerankOptions[K] } = {};
  const maxChunks = members.max_chunks_per_doc ?? members.max_chunk_per_doc;
  const rankFields = rankFieldsOf(members);
  if (rankFields !== undefined) options.rankFields = rankFields;
  if (maxChunks != null) options.maxChunksPerDoc = maxChunks;
  if (members.max_tokens_per_doc != null) options.maxTokensPerDoc = members.max_tokens_per_doc;
  if (members.overlap_tokens != null) options.overlapTokens = members.overlap_tokens;
  if (members.instruction != null && members.instruction !== '') {
    options.instruction = members.instruction.toWellFormed();
  }
  if (members.truncation != null) options.truncation = members.truncation;
  if (members.priority != null) options.priority = members.priority;
  return options;
}
