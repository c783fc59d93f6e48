import { type DocumentPart, type JsonBody, JsonFragment, type OpenBody } from '../bytes/index.js';
import type { GatewayError } from '../core/errors.js';
import { documentsError, isRecord } from './read.js';

/** A record as Google's callers send it, and see it again. */
export interface GoogleRecord {
  readonly id?: JsonBody;
  readonly title?: JsonBody;
  readonly content?: JsonBody;
}

/** The members of records. Those that are ranked, as one text, come first. */
export const RECORD_MEMBERS = ['title', 'content', 'id'] as const;
export const RANKED_MEMBERS = ['title', 'content'] as const;
/** The order in which they are judged. */
const JUDGED = ['id', 'title', 'content'] as const;

const QUOTE = 0x22;

/**
 * The records of a body that were not parsed.
 * @throws GatewayError 400 that names a record that cannot be ranked, as `readRecord` does.
 */
export function sentRecords(body: OpenBody, count: number): (index: number) => GoogleRecord {
  for (let index = 0; index < count; index += 1) {
    for (const name of JUDGED) {
      const value = body.field(index, name);
      if (value !== undefined && value[0] !== QUOTE) throw noString(index, name);
    }
    if (RANKED_MEMBERS.every((name) => body.field(index, name) === undefined)) throw noText(index);
  }
  const json = (index: number, name: string): JsonBody => {
    const value = body.field(index, name);
    return value && new JsonFragment(value);
  };
  return (index) => ({
    id: json(index, 'id'),
    title: json(index, 'title'),
    content: json(index, 'content'),
  });
}

/**
 * A record that was parsed, and the document that it is.
 * @throws GatewayError 400 that names the record.
 */
export function readRecord(
  item: unknown,
  index: number,
): { readonly record: GoogleRecord; readonly part: DocumentPart } {
  if (!isRecord(item)) throw documentsError(`records[${index}] must be an object.`, 'records');
  const [id, title, content] = JUDGED.map((name) => {
    const value = item[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw noString(index, name);
  });
  if (title === undefined && content === undefined) throw noText(index);
  const text = [title, content].filter((line) => line !== undefined).join('\n');
  return { record: { id, title, content }, part: { text, source: text } };
}

/** The caller finds its records by these alone: none may be replaced quietly. */
function noString(index: number, name: string): GatewayError {
  return documentsError(`records[${index}].${name} must be a string.`, 'records');
}

function noText(index: number): GatewayError {
  return documentsError(`records[${index}] must have a title or content.`, 'records');
}
