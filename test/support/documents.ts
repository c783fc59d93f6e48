import {
  openBody,
  writeJson,
  type Documents,
  type JsonBody,
  type ListPlace,
  type OpenBody,
} from '../../src/bytes/index.js';
import { listsAt, type IngressRoute } from '../../src/ingress/index.js';
import { IngressRequest, type RequestHeaders } from '../../src/ingress/read.js';
import { readIn, type IngressDialect, type ParsedRerank } from '../../src/ingress/dialect.js';

/** A small body, opened at once. */
export function openedBody(
  body: string | Buffer,
  lists: readonly ListPlace[] = [{ name: 'documents' }],
  most = 10_000,
): OpenBody {
  return openBody(Buffer.isBuffer(body) ? body : Buffer.from(body), lists, most) as OpenBody;
}

/** Documents as they come in a body, from the JSON of their list. */
export function documentsIn(list: string | Buffer): Documents {
  const body = openedBody(`{"documents":${list.toString()}}`);
  const documents = body.documents({ elements: 'any', images: 'alone' });
  if (documents === undefined) throw new Error('the list is not one that is kept as bytes');
  return documents as Documents;
}

/** The documents with other texts, by index. */
export function withTexts(
  documents: Documents,
  ...texts: readonly (readonly [index: number, text: string])[]
): Documents {
  return documents.pick(undefined, { texts: new Map(texts) });
}

/** The documents with this in place of those that are blank. */
export function filled(documents: Documents, text: string): Documents {
  return withTexts(documents, ...documents.blanks.map((index) => [index, text] as const));
}

/** JSON as it is written. */
export function encodeJson(body: JsonBody): Buffer {
  const written = writeJson(body);
  if (written instanceof Promise) throw new Error('it is too large for one go');
  return written.bytes;
}

/** One document as a reply shows it. */
export function echoOf(documents: Documents, index: number): JsonBody {
  const { source } = documents.json(index);
  return source.toString().startsWith('"') ? { text: source } : source;
}

/** A request in a dialect, whose body is small or large. */
export async function requestOf(
  { lists }: Pick<IngressDialect, 'lists'>,
  body: Buffer,
  headers: RequestHeaders = {},
  params: Readonly<Record<string, string>> = {},
  most = 10_000,
): Promise<IngressRequest> {
  return new IngressRequest(await openBody(body, lists, most), headers, params, most);
}

/** What a dialect reads from a small body. */
export function readBy<Kept>(
  dialect: Pick<IngressDialect<Kept>, 'parse' | 'lists'>,
  body: string | Buffer,
  headers: RequestHeaders = {},
  params: Readonly<Record<string, string>> = {},
  most = 10_000,
): ParsedRerank<Kept> {
  const opened = openedBody(body, dialect.lists, most);
  return readOf(dialect, new IngressRequest(opened, headers, params, most));
}

/** A body that means the same, but is left to the plain parser: what comes first under the list's name is no list. */
export function leftToParser(body: string, list: string): string {
  return body.replace('{', `{"${list.replace(/\..*$/, '')}":0,`);
}

/** A request on a route, whose body is small. */
export function requestAt(
  route: IngressRoute,
  body: Buffer,
  headers: RequestHeaders,
  most: number,
  setting?: string,
): IngressRequest {
  const opened = openedBody(body, listsAt(route, setting), most);
  return new IngressRequest(opened, headers, route.params, most);
}

/** What a small request asks for. */
export function readOf<Kept>(
  dialect: Pick<IngressDialect<Kept>, 'parse'>,
  request: IngressRequest,
): ParsedRerank<Kept> {
  const read = readIn(dialect, request);
  if (read instanceof Promise) throw new Error('the body is large');
  return read;
}

/** Tells whether the body of a request has been parsed as a whole. */
export function parsesOf(request: IngressRequest): () => boolean {
  let isParsed = request.list === undefined;
  const value = request.value.bind(request);
  request.value = () => {
    isParsed = true;
    return value();
  };
  return () => isParsed;
}

/** What each document is, as values. */
export function partsOf(
  documents: Documents,
): { text?: string; image?: string; source: unknown }[] {
  const read = (json: { toString(): string }): unknown => JSON.parse(json.toString());
  return Array.from({ length: documents.count }, (_, index) => {
    const { text, image, source } = documents.json(index);
    return {
      ...(text === undefined ? {} : { text: read(text) as string }),
      ...(image === undefined ? {} : { image: read(image) as string }),
      source: read(source),
    };
  });
}
