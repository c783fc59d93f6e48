import { openBody, type Documents, type ListPlace, type OpenBody } from '../../src/bytes/index.js';
import { Walk, type FoundList } from '../../src/bytes/scanner.js';

/** A small body whose list of texts was found, and what that is. */
export interface Scanned {
  readonly open: OpenBody;
  readonly list: FoundList;
  readonly name: string;
  readonly members: Readonly<Record<string, unknown>>;
}

const LIMITS = { depth: 256, values: 500_000, members: 50_000 };

/** `undefined` if the body has to be parsed. */
export function scanBody(
  body: Buffer,
  lists: readonly ListPlace[] = [{ name: 'documents' }],
  most = Infinity,
): Scanned | undefined {
  const walk = new Walk(body, lists, most);
  walk.go();
  const { list } = walk;
  if (list === undefined || list.lacksTexts || list.hasImages) return undefined;
  const open = openBody(body, lists, most) as OpenBody;
  const members = open.members(LIMITS);
  if (members.kind !== 'value') return undefined;
  return { open, list, name: list.place.name, members: members.value as Scanned['members'] };
}

export function sentDocuments({ open }: Scanned): Documents {
  const documents = open.documents({ elements: 'any' });
  if (documents === undefined || documents instanceof Promise) throw new Error('it is not usual');
  return documents;
}
