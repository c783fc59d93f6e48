import { createHash } from 'node:crypto';
import { accountMembersOf } from '../core/labels.js';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { CHANNEL_AUTO_DISABLED, CHANNEL_ENABLED, type Channel } from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import type { Token } from '../core/token.js';
import type { RedemptionCode, User } from '../store/store.js';

/**
 * A name for what people may change about a thing as it is now: two people who read it at the same time have the same one, and
 * whoever writes second is told. What traffic changes, such as a balance, is not part of it.
 */
function revisionOf(members: object): string {
  const bytes = createHash('sha256').update(JSON.stringify(members, sorted)).digest();
  return bytes.subarray(0, REVISION_BYTES).toString('base64url');
}

/** Members in one order, wherever they were read from. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const REVISION_BYTES = 12;

type Shown = Omit<Channel, 'id' | 'origin' | 'credentials' | 'outage'> & {
  readonly credentialNames: readonly string[];
};

/** Values of credentials are not part of it: they are never shown, so changes cannot depend on them. */
export function channelRevision(channel: Shown): string {
  const { name, provider, baseUrl, models, tag, settings, status, credentialNames } = channel;
  const others = Object.keys(CHANNEL_MEMBERS).map(
    (member) => channel[member as keyof typeof CHANNEL_MEMBERS],
  );
  return revisionOf({
    ...{ name, provider, baseUrl, models, tag, settings, credentialNames, others },
    // What the gateway itself disabled was on, and is to be on again.
    status: status === CHANNEL_AUTO_DISABLED ? CHANNEL_ENABLED : status,
  });
}

export function tokenRevision(token: Token): string {
  const { name, enabled, expiredTime, unlimitedQuota, policy } = token;
  return revisionOf({ name, enabled, expiredTime, unlimitedQuota, policy });
}

export function userRevision(user: User): string {
  const { username, email, displayName, role, enabled } = user;
  return revisionOf({ username, email, displayName, role, enabled, ...accountMembersOf(user) });
}

export function codeRevision({ name, quota, expiredTime, status }: RedemptionCode): string {
  return revisionOf({ name, quota, expiredTime, status });
}

/** What must hold for a change that was made from a revision; nothing if it was made from none. */
export function still<T>(
  revision: string | undefined,
  of: (item: T) => string,
): ((item: T) => boolean) | undefined {
  return revision === undefined ? undefined : (item) => of(item) === revision;
}

/** The refusal of a change that was made from a revision that is no longer the present one. */
export function changedSince(what: string): GatewayError {
  return new GatewayError(
    'conflict',
    `${what} was changed in the meantime: read it again, and send the change with its new revision.`,
    { param: 'if_revision' },
  );
}
