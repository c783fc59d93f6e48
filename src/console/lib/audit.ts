/** What the page of the audit log makes of an entry. Pure. */
interface Change {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly omitted: boolean;
}

interface Entry {
  readonly action: string;
  readonly target: string;
  readonly changes: readonly Change[];
}

export type UndoKind = 'channel' | 'token' | 'user' | 'redemption' | 'tag';

/** What would set back what an entry tells of. */
export interface Undo {
  readonly kind: UndoKind;
  /** An id or, of a tag, its name. */
  readonly of: string;
  readonly changes: readonly Change[];
  /** Members that it does not set back. */
  readonly left: readonly string[];
}

const PAGES: Readonly<Record<string, string>> = {
  channel: 'channels',
  token: 'keys',
  user: 'people',
  redemption: 'codes',
  tag: 'tags',
};

/** The address of the record that an entry is about; none once that is deleted, or where there is none. */
export function recordOf({ action, target }: Omit<Entry, 'changes'>): string | undefined {
  const [kind, of] = partsOf(target);
  const page = Object.hasOwn(PAGES, kind) ? PAGES[kind] : undefined;
  const isThere = kind === 'tag' ? of !== '' : /^[1-9]\d*$/.test(of);
  if (page === undefined || !isThere || action.endsWith('.delete')) return undefined;
  return `${page}/${encodeURIComponent(of)}`;
}

/** Actions with an inverse. */
const UNDONE: readonly string[] = [
  ...['channel.update', 'channel.disable', 'token.update', 'user.update', 'redemption.update'],
  ...['tag.disable', 'tag.enable'],
];

/** Balances go on, and a change of where requests go needs the credentials again. */
const NOT_BACK = ['remain_quota', 'quota', 'provider', 'base_url', 'settings', 'credential_names'];

export function undoOf({ action, target, changes }: Entry): Undo | undefined {
  const [kind, of] = partsOf(target);
  if (!UNDONE.includes(action) || !isUndoKind(kind)) return undefined;
  const back = changes.filter((change) => goesBack(kind, change));
  if (back.length === 0) return undefined;
  const left = changes.filter((change) => !back.includes(change)).map(({ member }) => member);
  return { kind, of, changes: back, left };
}

function goesBack(kind: UndoKind, { member, before, omitted }: Change): boolean {
  // The worth of a code is what somebody set.
  const stays = NOT_BACK.includes(member) && !(kind === 'redemption' && member === 'quota');
  // Only the gateway itself sets the others.
  const isTheirs = member === 'status' && before !== 1 && before !== 2;
  return !omitted && !stays && !isTheirs;
}

/** What an update must be sent to set these members back. */
export function bodyOf(changes: readonly Change[]): Record<string, unknown> {
  return Object.fromEntries(
    changes.map(({ member, before }) => [member, member === 'email' ? (before ?? '') : before]),
  );
}

/** Whether a member has this value; one that is not set counts as empty. */
export function isSame(one: unknown, other: unknown): boolean {
  return plain(one) === plain(other);
}

function plain(value: unknown): string {
  if (value === '' || value === undefined || value === null) return 'null';
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function partsOf(target: string): [string, string] {
  const at = target.indexOf(':');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function isUndoKind(kind: string): kind is UndoKind {
  return Object.hasOwn(PAGES, kind);
}
