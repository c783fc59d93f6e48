import { UNITS_PER_DOLLAR } from '../../core/figures.js';
import { MEMBERS } from '../api/members.js';
import type { Operations } from '../api/operations.js';
import { unitsOf } from './format.js';
import { changedMembers, memberFlags, textsOf, type MemberTexts } from './members.js';
import { commandOf } from './shell.js';

/** What somebody types to make or change a key, by the API's names; this file makes its request bodies from it. Pure. */
export interface KeyDraft {
  readonly name: string;
  /** In dollars, of a new key; empty: what the account has. */
  readonly remain_quota: string;
  readonly model_limits: string;
  readonly tags: string;
  readonly allow_ips: string;
  readonly default_model: string;
  /** One per line: `alias = model`. */
  readonly aliases: string;
  readonly fallbacks: string;
  /** As `YYYY-MM-DD`; empty: never. */
  readonly expired_time: string;
  readonly members: MemberTexts;
}

type CreateBody = Operations['createToken']['body'];
type UpdateBody = Operations['updateToken']['body'];
export type KnownKey = Operations['getToken']['reply'];

export const EMPTY_KEY: KeyDraft = {
  ...{ name: '', remain_quota: '', model_limits: '', tags: '', allow_ips: '', default_model: '' },
  ...{ aliases: '', fallbacks: '', expired_time: '', members: {} },
};

export function keyDraftOf(key: KnownKey): KeyDraft {
  return {
    name: key.name,
    remain_quota: key.unlimited_quota ? '' : String(key.remain_quota / UNITS_PER_DOLLAR),
    model_limits: key.model_limits_enabled ? key.model_limits.join(', ') : '',
    tags: key.tags.join(', '),
    allow_ips: key.allow_ips.join(', '),
    default_model: key.default_model ?? '',
    aliases: Object.entries(key.aliases)
      .map(([alias, model]) => `${alias} = ${model}`)
      .join('\n'),
    fallbacks: key.fallbacks.join(', '),
    expired_time:
      key.expired_time < 0 ? '' : new Date(key.expired_time * 1000).toISOString().slice(0, 10),
    members: textsOf(MEMBERS.key, key),
  };
}

/** Names between commas or line breaks; a name may contain spaces. */
export function namesIn(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** What a field of names may say next: what is there already, and one more name. */
export function withOneMore(text: string, names: readonly string[]): string[] {
  const before = text.includes(',') ? text.slice(0, text.lastIndexOf(',')) : '';
  const taken = namesIn(before);
  return names.filter((name) => !taken.includes(name)).map((name) => [...taken, name].join(', '));
}

function aliasesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    namesIn(text).map((line) => {
      const [alias = '', ...model] = line.split('=');
      return [alias.trim(), model.join('=').trim()];
    }),
  );
}

/** The end of that day in UTC, in unix seconds; -1: never. */
function endOf(day: string): number {
  return day === '' ? -1 : Math.floor(Date.parse(endText(day)) / 1000);
}

function endText(day: string): string {
  return `${day}T23:59:59Z`;
}

/** What the draft says of members besides those of the table. */
function plainOf(draft: KeyDraft) {
  const models = namesIn(draft.model_limits);
  return {
    name: draft.name.trim(),
    model_limits_enabled: models.length > 0,
    model_limits: models,
    tags: namesIn(draft.tags),
    allow_ips: namesIn(draft.allow_ips),
    default_model: draft.default_model.trim() === '' ? null : draft.default_model.trim(),
    aliases: aliasesIn(draft.aliases),
    fallbacks: namesIn(draft.fallbacks),
  };
}

const EMPTY = plainOf(EMPTY_KEY);

function differing(plain: typeof EMPTY, before: typeof EMPTY): Partial<typeof EMPTY> {
  const entries = Object.entries(plain).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof EMPTY]),
  );
  return Object.fromEntries(entries);
}

export function createKeyBody(draft: KeyDraft): CreateBody {
  const quota = draft.remain_quota.trim();
  return {
    ...differing(plainOf(draft), EMPTY),
    name: draft.name.trim(),
    ...(quota === ''
      ? { unlimited_quota: true }
      : { remain_quota: unitsOf(quota), unlimited_quota: false }),
    ...(draft.expired_time === '' ? {} : { expired_time: endOf(draft.expired_time) }),
    ...changedMembers(MEMBERS.key, draft.members),
  };
}

/** It omits what is unchanged. What is left of the quota moves with traffic and is added to elsewhere; only whether it has one is set here. */
export function updateKeyBody(
  key: KnownKey,
  draft: KeyDraft,
): Omit<UpdateBody, 'if_revision' | 'reason'> {
  const before = keyDraftOf(key);
  const quota = draft.remain_quota.trim();
  return {
    id: key.id,
    ...differing(plainOf(draft), plainOf(before)),
    ...(quota === before.remain_quota
      ? {}
      : quota === ''
        ? { unlimited_quota: true }
        : { remain_quota: unitsOf(quota), unlimited_quota: false }),
    ...(draft.expired_time === before.expired_time
      ? {}
      : { expired_time: endOf(draft.expired_time) }),
    ...changedMembers(MEMBERS.key, draft.members, key),
  };
}

/** The command that makes the same key. */
export function createKeyCommand(draft: KeyDraft, owner: string): string {
  const quota = draft.remain_quota.trim();
  return commandOf(quota === '' ? 'keys create --unlimited' : 'keys create', [
    ['name', draft.name.trim() === '' ? 'my-app' : draft.name.trim()],
    ['user', owner.trim()],
    ['quota', quota === '' ? '' : `${Number(quota)}usd`],
    ['models', namesIn(draft.model_limits).join(',')],
    ['tags', namesIn(draft.tags).join(',')],
    ['ips', namesIn(draft.allow_ips).join(',')],
    ['default-model', draft.default_model.trim()],
    [
      'aliases',
      namesIn(draft.aliases)
        .join(',')
        .replaceAll(/\s*=\s*/g, '='),
    ],
    ['fallbacks', namesIn(draft.fallbacks).join(',')],
    ['expires', draft.expired_time === '' ? '' : endText(draft.expired_time)],
    ...memberFlags(MEMBERS.key, draft.members),
  ]);
}

/** Whether a key cannot be enabled as it is: its end is over, or its budget used up. */
export function isSpent({
  expired_time: ends,
  unlimited_quota: unlimited,
  remain_quota: left,
}: KnownKey): boolean {
  return (ends > 0 && ends <= Date.now() / 1000) || (!unlimited && left <= 0);
}

/** What changes a key so that it lasts longer; a key that spends what its account has gets no budget. */
export function extension(
  { id, unlimited_quota: unlimited }: KnownKey,
  {
    ends,
    units,
    enables,
  }: { readonly ends: string | undefined; readonly units: number; readonly enables: boolean },
): UpdateBody {
  return {
    id,
    ...(ends === undefined ? {} : { expired_time: endOf(ends) }),
    ...(unlimited || units <= 0 ? {} : { add_quota: units }),
    ...(enables ? { status: 1 as const } : {}),
  };
}
