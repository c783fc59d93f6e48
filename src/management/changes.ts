import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { canonicalJson, snakeCase } from '../core/records.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import type { Token } from '../core/token.js';
import type { AuditChange, RedemptionCode, User } from '../store/store.js';

/** What people set on a thing, by the API's names and in its form; without secrets. */
export type Shown = Readonly<Record<string, unknown>>;

/** Characters of JSON that an audit entry keeps of each of its parts, so that a log of many entries stays bounded. */
const MOST_KEPT = 16_384;

/** The members that differ. Of a thing that is new or gone, all that are set. */
export function changesOf(before: Shown | undefined, after: Shown | undefined): AuditChange[] {
  let left = MOST_KEPT;
  return Object.keys({ ...before, ...after }).flatMap((member) => {
    const change = { member, before: before?.[member] ?? null, after: after?.[member] ?? null };
    if (canonicalJson(change.before) === canonicalJson(change.after)) return [];
    const size = sizeOf(change.before) + sizeOf(change.after);
    if (size > left) return [{ member, before: null, after: null, omitted: true as const }];
    left -= size;
    return [change];
  });
}

/** As much of what was written as is kept, and the names of the rest. */
export function keptDetail(detail: Shown): Shown {
  let left = MOST_KEPT;
  const omitted: string[] = [];
  const short = Object.entries(detail).filter(([member, value]) => {
    const size = value === undefined ? 0 : sizeOf(value);
    if (size > left) omitted.push(member);
    else left -= size;
    return !omitted.includes(member);
  });
  return omitted.length === 0 ? detail : { ...Object.fromEntries(short), omitted };
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

/** The balance is not part of it: traffic changes it, too. */
export function tokenShown(token: Token): Shown {
  const { policy } = token;
  return {
    name: token.name,
    status: statusOf(token.enabled),
    expired_time: token.expiredTime,
    unlimited_quota: token.unlimitedQuota,
    model_limits_enabled: policy.models !== undefined,
    model_limits: policy.models ?? [],
    allow_ips: policy.allowIps,
    tags: policy.tags,
    default_model: policy.defaultModel,
    aliases: policy.aliases,
    fallbacks: policy.fallbacks,
    ...membersShown(Object.keys(TOKEN_MEMBERS), policy),
  };
}

/** The balance is not part of it: traffic changes it, too. */
export function userShown(user: User): Shown {
  return {
    username: user.username,
    email: user.email,
    display_name: user.displayName,
    role: user.role,
    status: statusOf(user.enabled),
    ...membersShown(Object.keys(ACCOUNT_MEMBERS), user),
  };
}

const CODE_STATUSES = { enabled: 1, disabled: 2, used: 3 } as const;

export function codeShown({ name, quota, expiredTime, status }: RedemptionCode): Shown {
  return { name, quota, expired_time: expiredTime, status: CODE_STATUSES[status] };
}

/** The members with these names, by the API's names. */
export function membersShown(names: readonly string[], record: object): Shown {
  const values = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [snakeCase(name), values[name]]));
}

function statusOf(enabled: boolean): 1 | 2 {
  return enabled ? 1 : 2;
}

/** Looks at a thing in the very step that changes it, so that what is recorded as before is what the change replaced. */
export class Witness<T> {
  before: T;
  readonly when: (item: T) => boolean;

  constructor(first: T, holds: ((item: T) => boolean) | undefined) {
    this.before = first;
    this.when = (item) => {
      this.before = item;
      return holds?.(item) !== false;
    };
  }
}
