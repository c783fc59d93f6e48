import {
  areAlike,
  elementDocuments,
  lineDocuments,
  partDocuments,
  sentDocuments,
  sentTexts,
  type DocumentPart,
  type Documents,
} from '../bytes/documents.js';
import { GatewayError } from '../core/errors.js';
import {
  areLocatable,
  listName,
  locatedList,
  ROW,
  type ListName,
  type ScannedBody,
} from '../bytes/scan.js';
import { isRecord } from '../core/records.js';
import type { IngressRequest, Members } from './request.js';

const QUOTE = 0x22;

/** Names of lists, in the form that `scan` takes. */
export function listNames(...names: readonly string[]): readonly ListName[] {
  return names.map((name) => listName(name));
}

/** Documents that must all be strings, in the caller's bytes if the body allows it. */
export function stringList(request: IngressRequest, names: readonly ListName[]): Documents {
  const scanned = request.scan(names);
  if (scanned !== undefined) return scannedDocuments(scanned, request.maxDocuments);
  const given = request.elements(names);
  const members = given?.members ?? request.value();
  const isThere = ({ name }: ListName) => name === given?.name || valueAt(members, name) != null;
  const name = (names.find(isThere) ?? names[0])?.name ?? '';
  return writeDocuments(request, name, 'strings', (item, index) => stringPart(item, name, index));
}

/** Documents that must all be objects with a text, in the caller's bytes if the body allows it. */
export function objectList(request: IngressRequest, names: readonly ListName[]): Documents {
  const scanned = request.scanAny(names);
  if (scanned !== undefined && areObjects(scanned)) {
    return scannedDocuments(scanned, request.maxDocuments);
  }
  const documents = documentsWithImages(request, names, areObjects);
  if (documents !== undefined) return documents;
  const name = names[0]?.name ?? '';
  const read = (item: unknown, index: number): DocumentPart => textPart(item, name, index);
  const split = request.split(names);
  if (split !== undefined && areObjects(split)) refuseTextless(request, names, read);
  return writeDocuments(request, name, 'objects with "text"', read);
}

/** The documents of a parsed body. `read` turns an element into a document. */
export function readDocuments(
  request: IngressRequest,
  name: string,
  kinds: string,
  read: (item: unknown, index: number) => DocumentPart,
  value = valueAt(request.value(), name),
): Documents {
  const items = itemsOf(request, name, kinds, value);
  return documentsOf(request, name, items, items.map(read));
}

/**
 * The same for a `read` without effects: it reads the elements of a large body one by one, if that can be, and writes values as text
 * in steps.
 */
export function writeDocuments(
  request: IngressRequest,
  name: string,
  kinds: string,
  read: (item: unknown, index: number) => DocumentPart,
): Documents {
  const documents = documentsOneByOne(request, name, read);
  if (documents !== undefined) return documents;
  const items = itemsOf(request, name, kinds, valueAt(request.value(), name));
  return documentsOf(request, name, items, request.makeEach(name, items, read, unitsOf));
}

/** Which elements of the list by the one name of `names` are strings, by their indexes. */
export function stringElements(
  request: IngressRequest,
  names: readonly ListName[],
): ReadonlySet<number> {
  const given = request.split(names) ?? request.elements(names);
  const strings = new Set<number>();
  if (given === undefined) {
    const items = valueAt(request.value(), names[0]?.name ?? '') as readonly unknown[];
    for (const [index, item] of items.entries()) if (typeof item === 'string') strings.add(index);
    return strings;
  }
  const { body, list } = given;
  for (let row = 0; row < list.rows.length; row += ROW) {
    if (body[list.rows[row] ?? 0] === QUOTE) strings.add(row / ROW);
  }
  return strings;
}

function documentsOneByOne(
  request: IngressRequest,
  name: string,
  read: (item: unknown, index: number) => DocumentPart,
): Documents | undefined {
  const given = request.elements(locatedList(name));
  if (given === undefined) return undefined;
  const { body, values, list } = given;
  checkCount(list.count, request.maxDocuments, name);
  const located = { body, values, rows: list.rows };
  return request.makeOfElements(given, () => elementDocuments(located, read));
}

function unitsOf({ text = '' }: DocumentPart): number {
  return text.length + 1;
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

function documentsOf(
  request: IngressRequest,
  name: string,
  items: readonly unknown[],
  parts: readonly DocumentPart[],
): Documents {
  // A text taken out of an element is the document, so the element's bytes cannot stand for it.
  const areElements = parts.every(({ source }, index) => source === items[index]);
  return partDocuments(parts, areElements ? request.body : undefined, name);
}

/** The documents of a body that was split. */
export function scannedDocuments(scanned: ScannedBody, maxDocuments: number): Documents {
  checkCount(scanned.list.count, maxDocuments, scanned.name);
  return sentDocuments(scanned);
}

/**
 * The documents of the list `name`, strings or objects, ranked by `fields`, in the caller's bytes; `undefined` if the body has to
 * be parsed.
 */
export function documentsByFields(
  request: IngressRequest,
  names: readonly ListName[],
  fields: readonly string[],
  areAllNeeded = false,
): Documents | undefined {
  const scanned = request.split(names);
  if (scanned === undefined) return undefined;
  checkCount(scanned.list.count, request.maxDocuments, scanned.name);
  return request.byFields(scanned, fields, areAllNeeded);
}

/** Objects that may all have the same members. */
interface AlikeObjects {
  /** What leads from an element to these members; empty if they are its own. */
  readonly path: string;
  /** The members of the first; none if they are no objects of this kind. */
  readonly membersOf: (first: Members) => Members;
  /** Those to rank by; all if not given. */
  readonly fields?: readonly string[] | undefined;
}

/** More than this, the first element is not parsed to learn what all have. */
const MOST_FIRST_BYTES = 65_536;

/**
 * Objects that all have the same members, in the same order, ranked by them as `fieldsText` puts them together, in the caller's bytes;
 * `undefined` if the body has to be parsed. Their texts stand for them.
 */
export function alikeDocuments(
  request: IngressRequest,
  names: readonly ListName[],
  { path, membersOf, fields }: AlikeObjects,
): Documents | undefined {
  const scanned = request.split(names);
  if (scanned === undefined) return undefined;
  checkCount(scanned.list.count, request.maxDocuments, scanned.name);
  const members = Object.keys(membersOf(firstOf(scanned)));
  const ranked = (fields ?? members).filter((name) => members.includes(name));
  const all = [...ranked, ...members.filter((name) => !ranked.includes(name))];
  if (ranked.length === 0 || !areLocatable(all)) return undefined;
  const isOne = (fields ?? members).length === 1;
  const heads = ranked.map((name) => (isOne ? '' : `${name}: `));
  const list = listName(scanned.name, { text: path, fields: all });
  const { body } = request;
  return request.located(scanned, list, function* (located) {
    if (!(yield* areAlike(body, { names: all, rows: located.list.rows }))) return undefined;
    return yield* lineDocuments({ ...located, body, heads });
  });
}

function firstOf({ body, list: { rows } }: ScannedBody): Members {
  const [start = 0, end = 0] = rows;
  if (end - start > MOST_FIRST_BYTES) return {};
  const first: unknown = JSON.parse(body.toString('utf8', start, end));
  return isRecord(first) ? first : {};
}

/** The documents of a list that has images, in the caller's bytes, if those are `suitable`; `undefined` if the body has to be parsed. */
export function documentsWithImages(
  request: IngressRequest,
  names: readonly ListName[],
  suitable: (scanned: ScannedBody) => boolean = () => true,
): Documents | undefined {
  const scanned = request.split(names);
  if (scanned?.list.hasImages !== true || !suitable(scanned)) return undefined;
  checkCount(scanned.list.count, request.maxDocuments, scanned.name);
  return request.withImages(scanned);
}

/** Of the elements that are parsed alone to see which is refused, and why. */
const MOST_ELEMENT_BYTES = 65_536;

/**
 * Refuses a list for its first element without a text, as `read` would after the whole body had been parsed. Returns where that
 * has to be done.
 */
export function refuseTextless(
  request: IngressRequest,
  names: readonly ListName[],
  read: (item: unknown, index: number) => DocumentPart,
): void {
  const scanned = request.split(names);
  if (scanned?.list.lacksTexts !== true || !request.isModest(scanned)) return;
  const { rows, count } = scanned.list;
  checkCount(count, request.maxDocuments, scanned.name);
  let left = MOST_ELEMENT_BYTES;
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0, , textEnd = 0] = rows.subarray(row, row + ROW);
    if (textEnd > 0) continue;
    left -= end - start;
    if (left < 0) return;
    read(JSON.parse(scanned.body.toString('utf8', start, end)), row / ROW);
  }
}

/** The texts of a body's documents, which are objects with more than that. */
export function scannedTexts(scanned: ScannedBody, maxDocuments: number): Documents {
  checkCount(scanned.list.count, maxDocuments, scanned.name);
  return sentTexts(scanned);
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
  name: string,
  index: number,
  fields: readonly string[] | undefined,
): DocumentPart {
  if (typeof item === 'string') return { text: item, source: item };
  if (!isRecord(item)) {
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

/** Refuses a list that is empty, or longer than one request may have. */
export function checkCount(count: number, maxDocuments: number, name: string): void {
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
