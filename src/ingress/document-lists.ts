import {
  documentsOf,
  type DocumentPart,
  type Documents,
  type ListPlace,
  type OpenBody,
} from '../bytes/index.js';
import { GatewayError } from '../core/errors.js';
import { isRecord } from '../core/records.js';
import type { IngressRequest, Members } from './request.js';

/** A list of documents as a dialect declares it. */
export interface WantedList extends Readonly<Parameters<OpenBody['documents']>[0]> {
  /** Where it may be. */
  readonly lists: readonly ListPlace[];
  /** What its elements are, for who sends something else. */
  readonly kinds: string;
  /**
   * What an element means, as a value.
   * @throws GatewayError 400 that names it, by the name of the list, and says what would be right.
   */
  readonly read: (item: unknown, index: number, name: string) => DocumentPart;
  /** What stands for the list where the body has none. */
  readonly instead?: readonly unknown[] | undefined;
}

/** Lists by their names. */
export function listNames(...names: readonly string[]): readonly ListPlace[] {
  return names.map((name) => ({ name }));
}

/** Documents that must all be strings. */
export function stringsIn(lists: readonly ListPlace[]): WantedList {
  return { lists, elements: 'strings', kinds: 'strings', read: stringPart };
}

/** Documents that must all be objects with a text, an image or both. */
export function objectsIn(lists: readonly ListPlace[]): WantedList {
  const kinds = 'objects with "text"';
  return { lists, elements: 'objects', images: 'alone', kinds, read: textPart };
}

/**
 * The documents of a list, in the caller's bytes if they are as usual.
 * @throws GatewayError 400 or 413 that says what is wrong with the list.
 */
export function findDocuments(
  request: IngressRequest,
  wanted: WantedList,
): Documents | Promise<Documents> {
  const { list } = request.body;
  const { lists, instead } = wanted;
  const isWanted = ({ name, text, fields }: ListPlace): boolean =>
    name === list?.place.name && text === list.place.text && fields === list.place.fields;
  if (list === undefined || instead !== undefined || !lists.some(isWanted)) {
    return parsedDocuments(request, wanted);
  }
  checkCount(list.count, request.maxDocuments, list.place.name);
  const parsed = (): Documents => {
    // A mistake in one is reported before all have been parsed.
    for (const { item, index } of request.body.odd(wanted))
      wanted.read(item, index, list.place.name);
    return parsedDocuments(request, wanted);
  };
  const found = request.body.documents(wanted);
  return found instanceof Promise
    ? found.then((documents) => documents ?? parsed())
    : (found ?? parsed());
}

/** The documents of a body that has to be parsed. */
function parsedDocuments(
  request: IngressRequest,
  { lists, kinds, read, instead }: WantedList,
): Documents {
  const value = request.value();
  const isThere = ({ name }: ListPlace) => valueAt(value, name) != null;
  const { name = '' } = lists.find(isThere) ?? lists[0] ?? {};
  const items = itemsOf(request, name, kinds, instead ?? valueAt(value, name));
  const parts = items.map((item, index) => read(item, index, name));
  // A text taken out of an element is the document, so the element's bytes cannot stand for it.
  const areElements = parts.every(({ source }, index) => source === items[index]);
  const areTexts = parts.every(({ source }) => typeof source === 'string');
  const ranges = areElements && !areTexts ? request.body.ranges(name, parts.length) : undefined;
  return documentsOf(parts, ranges && { bytes: request.body.bytes, ranges });
}

function itemsOf(
  request: IngressRequest,
  name: string,
  kinds: string,
  value: unknown,
): readonly unknown[] {
  const param = paramOf(name);
  if (value === undefined || value === null) {
    throw documentsError(`${name} is required: an array of ${kinds}.`, param);
  }
  if (!Array.isArray(value)) throw documentsError(`${name} must be an array.`, param);
  checkCount(value.length, request.maxDocuments, name);
  return value;
}

export function stringPart(item: unknown, index: number, name: string): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  throw documentsError(`${name}[${index}] must be a string.`, paramOf(name));
}

/** An element that is an object with a text, an image or both. */
export function textPart(item: unknown, index: number, name: string): DocumentPart {
  const { text, image } = isRecord(item) ? item : {};
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
 * A string, or an object with any members. The text of an object is that of `fields`, else its `text`, else all its members:
 * upstreams need one.
 */
export function anyPart(
  item: unknown,
  index: number,
  name: string,
  fields: readonly string[] | undefined,
): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (!isRecord(item)) {
    throw documentsError(`${name}[${index}] must be a string or an object.`, paramOf(name));
  }
  if (fields !== undefined) return { text: fieldsText(item, fields), source: item };
  if (typeof item.text === 'string') return textPart(item, index, name);
  const text = fieldsText(item, Object.keys(item));
  return { text, source: text };
}

/** The text of an object's fields to rank by, in their order: a single one as it is, several as `name: value` lines. */
export function fieldsText(members: Members, fields: readonly string[]): string {
  const lines: string[] = [];
  for (const field of fields) {
    const value = Object.hasOwn(members, field) ? members[field] : undefined;
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    lines.push(fields.length === 1 ? text : `${field}: ${text}`);
  }
  return lines.join('\n');
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

/** The first member in a path into the body. */
function paramOf(name: string): string {
  return name.replace(/[.[].*$/s, '');
}

/** A member of the body, or with a dot a member of a member. */
function valueAt(members: Members, name: string): unknown {
  const [outer = '', inner] = name.split('.');
  const value = members[outer];
  if (inner === undefined) return value;
  return isRecord(value) ? value[inner] : undefined;
}
