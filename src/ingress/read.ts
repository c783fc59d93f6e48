import Joi from 'joi';
import {
  partDocuments,
  sentDocuments,
  sentTexts,
  type DocumentPart,
  type Documents,
} from '../core/documents.js';
import { GatewayError } from '../core/errors.js';
import {
  excessOf,
  listName,
  ROW,
  scanBody,
  splitBody,
  Walk,
  type ListName,
  type ParseLimits,
  type ScannedBody,
} from '../core/json/scan.js';
import { inSteps } from '../core/steps.js';
import { PiecewiseParser } from '../core/json/pieces.js';
import { arePlain } from './plain-members.js';

export { listName, ROW, type ScannedBody };

/** The headers of a request, as Node hands them over: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Members = Readonly<Record<string, unknown>>;

/**
 * Values that are written back, in a reply or to a provider, are written recursively: deeper ones would exhaust the stack.
 * The limit on values allows ten thousand documents with fifty members each, which take a tenth of a second.
 */
const LIMITS: ParseLimits = { depth: 256, values: 500_000 };

/** Bytes scanned in one go: a millisecond or two, whatever they hold. Larger bodies are scanned in steps. */
const STEP_BYTES = 1_048_576;

/** The whole body has to be parsed, and is too large for one go. */
class NotParsedYet extends Error {}

/** A request that has arrived in full, read only as far as its dialect needs. */
export class IngressRequest {
  /** Valid UTF-8. */
  readonly body: Buffer;
  readonly headers: RequestHeaders;
  readonly maxDocuments: number;
  readonly #params: Readonly<Record<string, string>>;
  #scanned: ScannedBody | undefined;
  #isScanned = false;
  #value: Members | undefined;
  #isPlain: boolean | undefined;

  constructor(
    body: Buffer,
    headers: RequestHeaders,
    params: Readonly<Record<string, string>>,
    maxDocuments: number,
  ) {
    this.body = body;
    this.headers = headers;
    this.#params = params;
    this.maxDocuments = maxDocuments;
  }

  /** A parameter of the path, decoded. */
  param(name: string): string {
    try {
      return decodeURIComponent(this.#params[name] ?? '');
    } catch (error) {
      throw new GatewayError('invalid_request', 'The path is not valid.', { cause: error });
    }
  }

  /** The body, split at the first of `names` that is a list of strings in it. */
  scan(names: readonly ListName[]): ScannedBody | undefined {
    const scanned = this.scanAny(names);
    return scanned?.list.hasObjects === true ? undefined : scanned;
  }

  /** The same, but the list may also hold objects that each have a `text`; searched for once. */
  scanAny(names: readonly ListName[]): ScannedBody | undefined {
    if (!this.#isScanned) {
      this.#scanned = scanBody(this.body, names, this.maxDocuments);
      this.#isScanned = true;
    }
    const found = this.#scanned?.list.name;
    const isOne = names.some(({ name, text }) => name === found?.name && text === found.text);
    return isOne ? this.#scanned : undefined;
  }

  /** Whether reading it in one go would delay others. */
  get isLarge(): boolean {
    return this.body.length > STEP_BYTES;
  }

  /**
   * The result of `read` for a large request: the parts of the body that it needs are found ahead of time, in steps with a
   * pause after each. Parsing the whole body is a last resort, so `read` may be called twice.
   */
  async inSteps<T>(
    names: readonly ListName[],
    read: () => T,
    pause: () => Promise<void>,
  ): Promise<T> {
    await this.#scanInSteps(names, pause);
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NotParsedYet)) throw error;
    }
    await this.#parseInSteps(pause);
    return read();
  }

  async #scanInSteps(names: readonly ListName[], pause: () => Promise<void>): Promise<void> {
    const walk = new Walk(this.body, names, this.maxDocuments);
    try {
      while (!walk.go(STEP_BYTES)) await pause();
    } finally {
      walk.end();
    }
    this.#scanned = await inSteps(splitBody(this.body, walk, STEP_BYTES), pause);
    this.#isScanned = true;
  }

  async #parseInSteps(pause: () => Promise<void>): Promise<void> {
    const parser = new PiecewiseParser(this.body, LIMITS);
    for (;;) {
      const result = parser.step();
      if (result?.kind === 'value') {
        this.#value = asObject(result.value);
        return;
      }
      if (result?.kind === 'excess') throw excessError(result.excess);
      if (result !== undefined) {
        throw new GatewayError(
          'invalid_json',
          `The body is not valid JSON (at byte ${result.byte}).`,
        );
      }
      await pause();
    }
  }

  /** The whole body, parsed once. */
  value(): Members {
    if (this.#value === undefined && this.isLarge) throw new NotParsedYet();
    this.#value ??= parseObject(this.body);
    return this.#value;
  }

  /** Whether `members`, those of this body, are the usual few; checked once. */
  isPlain(members: Members): boolean {
    this.#isPlain ??= arePlain(members);
    return this.#isPlain;
  }

  /** The members of the body; without the list if that need not be parsed. */
  members(names: readonly ListName[]): Members {
    return this.scanAny(names)?.members ?? this.value();
  }
}

/** Whole numbers of any size: a count beyond the number of documents means all of them. `null` means absent. */
export const COUNT = Joi.number().unsafe().integer().min(1).allow(null);
export const FLAG = Joi.boolean().allow(null);
export const TEXT = Joi.string().allow('', null);
export const MODEL = Joi.string().max(256).allow('', null);
export const QUERY = Joi.string().required();
export const FIELDS = Joi.array().items(Joi.string().min(1)).max(100).allow(null);

/** A schema of the members that a form knows; others are ignored. */
export function membersOf<T>(members: Joi.StrictSchemaMap<T>): Joi.ObjectSchema<T> {
  return Joi.object<T, true>(members)
    .unknown(true)
    .prefs({ convert: false, errors: { wrap: { label: false } } });
}

/** The model that a form names; `null` and the empty string name none. */
export function modelOf(name: string | null | undefined): string | undefined {
  return name == null || name === '' ? undefined : name;
}

/** How many rows to return: as many as were asked for, at most one per document. */
export function topOf(count: number | null | undefined, documents: Documents): number {
  return Math.min(count ?? documents.count, documents.count);
}

/** Names of lists, in the form that `scan` takes. */
export function listNames(...names: readonly string[]): readonly ListName[] {
  return names.map((name) => listName(name));
}

function parseObject(body: Buffer): Members {
  if (body.length === 0) {
    throw new GatewayError('invalid_json', 'The body is empty. Send a JSON object.');
  }
  const excess = excessOf(body, LIMITS);
  if (excess !== undefined) throw excessError(excess);
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? withoutExcerpt(error.message) : '';
    throw new GatewayError('invalid_json', `The body is not valid JSON${reason}.`, {
      cause: error,
    });
  }
  return asObject(value);
}

function asObject(value: unknown): Members {
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  }
  return value;
}

function excessError(excess: keyof ParseLimits): GatewayError {
  return excess === 'depth'
    ? new GatewayError('invalid_json', `The body is nested more than ${LIMITS.depth} deep.`)
    : new GatewayError(
        'payload_too_large',
        `The body has more than ${LIMITS.values} JSON values, the limit regardless of its size.`,
      );
}

/** The place where the parser stopped, without the piece of the body that newer engines quote. */
function withoutExcerpt(message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? '' : ` (at position ${position})`;
}

/** The members, checked against their schema. `query` names the member that holds the query. */
export function validate<T>(schema: Joi.ObjectSchema<T>, value: Members, query = 'query'): T {
  const result = schema.validate(value);
  if (result.error !== undefined) {
    const detail = result.error.details[0];
    const param = String(detail?.path[0] ?? '');
    throw new GatewayError(
      param === query ? 'invalid_query' : 'invalid_request',
      `${detail?.message ?? 'The request is not valid'}.`,
      param === '' ? {} : { param },
    );
  }
  return result.value;
}

/** Maximum length of a query: more than any model reads. It is sent upstream in one step. */
const MAX_QUERY_CHARS = 1_000_000;

/** Refuses a query that is blank or absurdly long. */
export function checkQuery(query: string, param = 'query'): void {
  if (query.length > MAX_QUERY_CHARS) {
    throw new GatewayError(
      'payload_too_large',
      `${param} has ${query.length} characters; at most ${MAX_QUERY_CHARS} are accepted.`,
      { param },
    );
  }
  if (query.trim() === '') {
    throw new GatewayError('invalid_query', `${param} must not be blank.`, { param });
  }
}

/** Refuses a list that is empty, or longer than one request may have. */
function checkCount(count: number, maxDocuments: number, name: string): void {
  const param = paramOf(name);
  if (count === 0) throw documentsError(`${name} must not be empty.`, param);
  if (count > maxDocuments) {
    throw new GatewayError(
      'too_many_documents',
      `${name} has ${count} entries; at most ${maxDocuments} are accepted in one request.`,
      { param },
    );
  }
}

export function documentsError(message: string, param = 'documents'): GatewayError {
  return new GatewayError('invalid_documents', message, { param });
}

/** Documents that must all be strings, in the caller's bytes if the body allows it. */
export function stringList(request: IngressRequest, names: readonly ListName[]): Documents {
  const scanned = request.scan(names);
  if (scanned !== undefined) return scannedDocuments(scanned, request.maxDocuments);
  const value = request.value();
  const name =
    names.find((list) => valueAt(value, list.name) != null)?.name ?? names[0]?.name ?? '';
  return readDocuments(request, name, 'strings', (item, index) => stringPart(item, name, index));
}

/** Documents that must all be objects with a text, in the caller's bytes if the body allows it. */
export function objectList(request: IngressRequest, names: readonly ListName[]): Documents {
  const scanned = request.scanAny(names);
  if (scanned !== undefined && areObjects(scanned)) {
    return scannedDocuments(scanned, request.maxDocuments);
  }
  const name = names[0]?.name ?? '';
  return readDocuments(request, name, 'objects with "text"', (item, index) =>
    textPart(item, name, index),
  );
}

/** Whether all elements are objects: a string is its own text, and that of an object begins after its brace. */
export function areObjects({ list: { rows } }: ScannedBody): boolean {
  for (let at = 0; at < rows.length; at += ROW) if (rows[at] === rows[at + 2]) return false;
  return true;
}

export function stringPart(item: unknown, name: string, index: number): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  throw documentsError(`${name}[${index}] must be a string.`, paramOf(name));
}

/** An element that is an object with a text, an image or both. */
export function textPart(item: unknown, name: string, index: number): DocumentPart {
  const { text, image } = isObject(item) ? item : {};
  if (typeof text === 'string') {
    return typeof image === 'string' && image !== ''
      ? { text, image, source: item }
      : { text, source: item };
  }
  if ((text === undefined || text === null) && typeof image === 'string' && image !== '') {
    return { image, source: item };
  }
  throw documentsError(
    `${name}[${index}] must be an object with "text" as a string.`,
    paramOf(name),
  );
}

/**
 * A string, or an object with any members, of which no upstream could make use if it has neither a text nor a named field.
 * Its text is that of `fields`, else its `text`, else all its members. */
export function anyPart(
  item: unknown,
  name: string,
  index: number,
  fields: readonly string[] | undefined,
): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (!isObject(item)) {
    throw documentsError(`${name}[${index}] must be a string or an object.`, paramOf(name));
  }
  if (fields !== undefined) return { text: fieldsText(item, fields), source: item };
  if (typeof item.text === 'string') return textPart(item, name, index);
  const text = fieldsText(item, Object.keys(item));
  return { text, source: text };
}

/** The text of an object's fields to rank by, in their order: a single one as it is, several as `name: value` lines. */
export function fieldsText(members: Members, fields: readonly string[]): string {
  // Joined with plus, which copies nothing: a large text is written in steps later.
  let lines: string | undefined;
  for (const field of fields) {
    const value = Object.hasOwn(members, field) ? members[field] : undefined;
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const line = fields.length === 1 ? text : `${field}: ${text}`;
    lines = lines === undefined ? line : `${lines}\n${line}`;
  }
  return lines ?? '';
}

/** The fields to rank by; an empty list counts as absent. */
export function fieldsOf(
  fields: readonly string[] | null | undefined,
): readonly string[] | undefined {
  return fields == null || fields.length === 0 ? undefined : fields;
}

/** The first member in a path into the body. */
function paramOf(name: string): string {
  return name.replace(/[.[].*$/s, '');
}

/**
 * The one query of a form that pairs queries with documents.
 * @throws GatewayError 400 if there are several: each would be a separate request.
 */
export function oneQuery(queries: readonly string[], documents: number, param: string): string {
  const [query = ''] = queries;
  if (queries.length !== 1 && queries.length !== documents) {
    throw new GatewayError(
      'invalid_request',
      `${param} must be one query, or as many as there are documents.`,
      { param },
    );
  }
  if (queries.some((other) => other !== query)) {
    throw new GatewayError(
      'invalid_request',
      `${param} must all be the same query: send a request for each of them.`,
      { param },
    );
  }
  checkQuery(query, param);
  return query.toWellFormed();
}

/** The documents of a body that was split. */
export function scannedDocuments(
  { body, list, name }: ScannedBody,
  maxDocuments: number,
): Documents {
  checkCount(list.count, maxDocuments, name);
  return sentDocuments(body, list);
}

/** The texts of a body's documents, which are objects with more than that. */
export function scannedTexts({ body, list, name }: ScannedBody, maxDocuments: number): Documents {
  checkCount(list.count, maxDocuments, name);
  return sentTexts(body, list);
}

/** A member of the body, or with a dot a member of a member. */
function valueAt(members: Members, name: string): unknown {
  const [outer = '', inner] = name.split('.');
  const value = members[outer];
  if (inner === undefined) return value;
  return isObject(value) ? value[inner] : undefined;
}

/** The documents of a parsed body. `read` turns an element into a document. */
export function readDocuments(
  request: IngressRequest,
  name: string,
  kinds: string,
  read: (item: unknown, index: number) => DocumentPart,
  value = valueAt(request.value(), name),
): Documents {
  const param = paramOf(name);
  if (value === undefined || value === null) {
    throw documentsError(`${name} is required: an array of ${kinds}.`, param);
  }
  if (!Array.isArray(value)) throw documentsError(`${name} must be an array.`, param);
  checkCount(value.length, request.maxDocuments, name);
  const parts = value.map(read);
  // A text taken out of an element is the document, so the element's bytes cannot stand for it.
  const areElements = parts.every(({ source }, index) => source === value[index]);
  return partDocuments(parts, areElements ? request.body : undefined, name);
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
