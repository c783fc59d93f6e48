import { UNITS_PER_DOLLAR } from '../../core/figures.js';
import { isRecord, present } from '../../core/records.js';
import { KEY_PREFIX, keyHint, NEVER_EXPIRES } from '../../core/token.js';
import { isAddressOrRange } from '../../management/addresses.js';
import { hashSecret } from '../../management/secrets.js';
import {
  DEFAULT_GROUP,
  DISABLED,
  ENABLED,
  isLive,
  jsonIn,
  objectIn,
  optionOf,
  whatOf,
  type NewApiRows,
  type Row,
  type Tags,
} from './new-api-rows.js';
import { freeName, limitIn, namesIn, numberIn, textIn, type Plan } from './plan.js';

const USED = 3;
const EXPIRED = 3;
/** The status of an account that was deleted in one-api. */
const DELETED = 3;
const ADMIN = 10;
const ROOT = 100;
/** What an account of a group may use more, or less. */
const SPECIAL_GROUPS = 'group_ratio_setting.group_special_usable_group';

/** Adds the accounts, with their keys, and the codes. */
export function addHolders(plan: Plan, rows: NewApiRows, tags: Tags, nowMs: number): void {
  const { options } = rows;
  const units = unitsBy(options);
  const owners = new Map<number, Owner>();
  const taken = new Set<string>();
  for (const row of rows.users) {
    if (!isLive(row) || numberIn(row, 'status') === DELETED) continue;
    const username = usernameOf(row, taken, plan);
    owners.set(numberIn(row, 'id') ?? 0, { row, username });
    addUser(plan, row, username, units);
  }
  for (const row of rows.tokens.filter(isLive)) {
    const owner = owners.get(numberIn(row, 'user_id') ?? 0);
    const why = owner === undefined ? 'its account is gone' : whyOver(row, nowMs);
    if (owner === undefined || why !== undefined) {
      plan.notCarried.push({ what: whatOf('key', row), why: why ?? '' });
    } else addKey(plan, row, owner, { tags, options, units });
  }
  for (const row of rows.redemptions.filter(isLive)) addCode(plan, row, units, nowMs);
}

type ToUnits = (row: Row, column: string) => number;

/** Quota in our units: a dollar has as many, unless an option of theirs says otherwise. */
function unitsBy(options: readonly Row[]): ToUnits {
  const perDollar = numberIn(optionOf(options, 'QuotaPerUnit'), 'value') ?? 0;
  const factor = perDollar > 0 ? UNITS_PER_DOLLAR / perDollar : 1;
  return (row, column) => Math.max(0, Math.floor((numberIn(row, column) ?? 0) * factor));
}

function addUser(plan: Plan, row: Row, username: string, units: ToUnits): void {
  const role = numberIn(row, 'role') ?? 1;
  if (role >= ROOT) {
    const why =
      'this gateway has its own root, which gets its keys; set its balance with "users update"';
    plan.notCarried.push({ what: `root account ${username}`, why });
    return;
  }
  plan.users.push({
    username,
    role: role >= ADMIN ? 10 : 1,
    status: numberIn(row, 'status') === DISABLED ? 2 : 1,
    quota: units(row, 'quota'),
    ...present({ email: textIn(row, 'email'), display_name: textIn(row, 'display_name') }),
  });
}

/** A name that an account can have here: of fewer characters, and not that of another in other capitals. */
function usernameOf(row: Row, taken: Set<string>, plan: Plan): string {
  const theirs = textIn(row, 'username') ?? '';
  const plain = theirs
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{Nd}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{Nd}]+/u, '');
  const wished = /^\p{Nd}*$/u.test(plain) ? `user-${plain}` : plain;
  const free = freeName(wished.toLowerCase(), taken);
  const name = free === wished.toLowerCase() ? wished : free;
  taken.add(name.toLowerCase());
  if (name !== theirs)
    plan.toDo.push(`Tell "${theirs}" that the account is called "${name}" here.`);
  return name;
}

interface Owner {
  readonly row: Row;
  readonly username: string;
}

interface KeyContext {
  readonly tags: Tags;
  readonly options: readonly Row[];
  readonly units: ToUnits;
}

function whyOver(row: Row, nowMs: number): string | undefined {
  const expiredTime = numberIn(row, 'expired_time') ?? NEVER_EXPIRES;
  const isOver = expiredTime !== NEVER_EXPIRES && expiredTime * 1000 <= nowMs;
  const isEmpty = textIn(row, 'key') === undefined;
  return isOver || isEmpty || numberIn(row, 'status') === EXPIRED ? 'it has expired' : undefined;
}

function addKey(plan: Plan, row: Row, owner: Owner, { tags, options, units }: KeyContext): void {
  const groups = groupsOfKey(row, owner.row, options);
  if (groups.length === 0) {
    const why = 'its account may not use its group';
    return void plan.notCarried.push({ what: whatOf('key', row), why });
  }
  const name = textIn(row, 'name') ?? 'from new-api';
  const models = modelsOf(row);
  if (models?.length === 0)
    plan.toDo.push(`Set the models of key ${name}, and enable it: it had none.`);
  const isRoot = (numberIn(owner.row, 'role') ?? 0) >= ROOT;
  const secret = textIn(row, 'key') ?? '';
  const key = secret.startsWith(KEY_PREFIX) ? secret : `${KEY_PREFIX}${secret}`;
  plan.keys.push({
    secret: { keyHash: hashSecret(key), keyHint: keyHint(key) },
    ...(isRoot ? {} : { owner: owner.username }),
    draft: {
      name,
      enabled: numberIn(row, 'status') !== DISABLED && models?.length !== 0,
      expiredTime: numberIn(row, 'expired_time') ?? NEVER_EXPIRES,
      unlimitedQuota: Boolean(numberIn(row, 'unlimited_quota')),
      remainQuota: units(row, 'remain_quota'),
      policy: {
        ...present({ tags: boundTo(groups, tags) }),
        allowIps: addressesOf(row),
        ...present({ models: models?.length === 0 ? undefined : models }),
      },
    },
  });
}

/** The tags of these groups. A group without channels reaches none here either. */
function boundTo(groups: string[], tags: Tags): string[] | undefined {
  const bound = [...tags].filter(([, of]) => of.some((group) => groups.includes(group)));
  if (tags.size < 2 && bound.length === tags.size) return undefined;
  return bound.length > 0 ? bound.map(([tag]) => tag) : groups;
}

/** Like new-api, passes over what is no address, unless nothing else is there. */
function addressesOf(row: Row): string[] {
  const listed = namesIn(row, 'allow_ips' in row ? 'allow_ips' : 'subnet');
  const addresses = listed.filter(isAddressOrRange);
  return addresses.length > 0 ? addresses : listed;
}

/** The models that a key is limited to; one-api has a list without a switch. */
function modelsOf(row: Row): string[] | undefined {
  if (!('model_limits_enabled' in row)) {
    return textIn(row, 'models') === undefined ? undefined : namesIn(row, 'models');
  }
  return numberIn(row, 'model_limits_enabled') ? namesIn(row, 'model_limits') : undefined;
}

/** The groups whose channels a key reaches: its own or those of "auto", as far as its account may use them. */
function groupsOfKey(row: Row, owner: Row, options: readonly Row[]): string[] {
  const mine = textIn(owner, 'group') ?? DEFAULT_GROUP;
  const own = textIn(row, 'group') ?? mine;
  const listed = objectIn(optionOf(options, 'UserUsableGroups'), 'value');
  const usable = new Set(Object.keys(listed ?? { [DEFAULT_GROUP]: '', vip: '' }));
  const special = objectIn(optionOf(options, SPECIAL_GROUPS), 'value')?.[mine];
  for (const name of Object.keys(isRecord(special) ? special : {})) {
    if (name.startsWith('-:')) usable.delete(name.slice(2));
    else usable.add(name.replace(/^\+:/, ''));
  }
  usable.add(mine);
  const listedAuto = jsonIn(optionOf(options, 'AutoGroups'), 'value');
  const automatic = Array.isArray(listedAuto) ? listedAuto.map(String) : [DEFAULT_GROUP];
  const wanted = own === 'auto' && usable.has(own) ? automatic : [own];
  return wanted.filter((group) => usable.has(group));
}

function addCode(plan: Plan, row: Row, units: ToUnits, nowMs: number): void {
  const status = numberIn(row, 'status') ?? ENABLED;
  const expiredTime = limitIn(row, 'expired_time') ?? 0;
  const why =
    status === USED
      ? 'it has been redeemed'
      : status !== ENABLED
        ? 'it is disabled'
        : expiredTime !== 0 && expiredTime * 1000 <= nowMs
          ? 'it has expired'
          : undefined;
  const what = whatOf('code', row);
  if (why !== undefined) plan.notCarried.push({ what, why });
  else {
    const name = textIn(row, 'name') ?? 'from new-api';
    plan.codes.push({
      code: textIn(row, 'key') ?? '',
      name,
      quota: units(row, 'quota'),
      expiredTime,
    });
  }
}
