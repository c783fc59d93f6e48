import { UNITS_PER_DOLLAR } from '../../core/quota.js';
import { isRecord, present } from '../../core/records.js';
import { KEY_PREFIX, keyHint, NEVER_EXPIRES } from '../../core/token.js';
import { hashSecret } from '../../management/secrets.js';
import { counted } from '../text.js';
import {
  emptyPlan,
  freeName,
  isRerankerName,
  limitIn,
  namesIn,
  numberIn,
  textIn,
  type CarriedChannel,
  type Plan,
} from './plan.js';

type Row = Readonly<Record<string, unknown>>;

/** The tables of new-api, or of one-api, from which it comes. */
export interface NewApiRows {
  readonly channels: readonly Row[];
  readonly tokens: readonly Row[];
  readonly users: readonly Row[];
  readonly redemptions: readonly Row[];
  readonly options: readonly Row[];
}

/** Its types of channels that rerank, by number. */
const PROVIDERS: Readonly<Record<number, string>> = {
  1: 'openai-compatible',
  17: 'dashscope',
  34: 'cohere',
  38: 'jina',
  40: 'siliconflow',
  46: 'baidu',
  47: 'xinference',
};
/** These have no address of their own that reranks. */
const NEEDS_ADDRESS = [1, 47];
const ENABLED = 1;
const DISABLED = 2;
const AUTO_DISABLED = 3;
const USED = 3;
const EXPIRED = 3;
const DEFAULT_GROUP = 'default';
const ADMIN = 10;
const ROOT = 100;

/** What new-api's tables hold, as channels, accounts, keys and codes here. */
export function planOfNewApi(rows: NewApiRows, nowMs: number): Plan {
  const plan = emptyPlan();
  const units = unitsBy(rows.options);
  const channels = rows.channels.filter((row) => isLive(row) && canRerank(row, plan));
  const tags = tagsOf(channels);
  const names = new Set<string>();
  for (const row of channels) {
    const name = freeName(textIn(row, 'name') ?? `channel ${textIn(row, 'id') ?? ''}`, names);
    names.add(name);
    plan.channels.push(channelOf(row, name, tags, plan));
  }
  const owners = new Map<number, Row>();
  for (const row of rows.users.filter(isLive)) {
    owners.set(numberIn(row, 'id') ?? 0, row);
    addUser(plan, row, units);
  }
  for (const row of rows.tokens.filter(isLive)) {
    addKey(plan, row, { owner: owners.get(numberIn(row, 'user_id') ?? 0), tags, units, nowMs });
  }
  for (const row of rows.redemptions.filter(isLive)) addCode(plan, row, units, nowMs);
  const prices = rows.options.map((row) => textIn(row, 'key') ?? '');
  if (prices.some((key) => /^(ModelRatio|ModelPrice|GroupRatio)$/.test(key))) {
    plan.toDo.push(
      'Set the prices of the models: ratios of models and groups are not carried over.',
    );
  }
  if (plan.users.length > 0) {
    plan.toDo.push(
      'Passwords cannot be carried over: accounts ask for a reset at the login page, or "users update" sets one.',
    );
  }
  return plan;
}

/** Rows that are deleted stay in the tables. */
function isLive(row: Row): boolean {
  return row.deleted_at === null || row.deleted_at === undefined;
}

type ToUnits = (row: Row, column: string) => number;

/** Quota in our units, of which a dollar has as many, unless an option of theirs says otherwise. */
function unitsBy(options: readonly Row[]): ToUnits {
  const option = options.find((row) => row.key === 'QuotaPerUnit') ?? {};
  const perDollar = numberIn(option, 'value') ?? 0;
  const factor = perDollar > 0 ? UNITS_PER_DOLLAR / perDollar : 1;
  return (row, column) => Math.max(0, Math.floor((numberIn(row, column) ?? 0) * factor));
}

function canRerank(row: Row, plan: Plan): boolean {
  const type = numberIn(row, 'type') ?? 0;
  const models = namesIn(row, 'models').filter(isRerankerName);
  const why =
    models.length === 0
      ? 'none of its models looks like a reranker'
      : PROVIDERS[type] === undefined
        ? `new-api's channels of type ${type} have no counterpart here that is known`
        : NEEDS_ADDRESS.includes(type) && textIn(row, 'base_url') === undefined
          ? 'it has no address that reranks'
          : undefined;
  if (why !== undefined) plan.notCarried.push({ what: whatOf('channel', row), why });
  return why === undefined;
}

function whatOf(kind: string, row: Row): string {
  return `${kind} ${textIn(row, 'name') ?? textIn(row, 'username') ?? textIn(row, 'id') ?? ''}`;
}

/** The groups of a channel as one tag; `undefined` where groups make no difference. */
type Tags = ReadonlyMap<string, readonly string[]>;

function groupsOf(row: Row): string[] {
  const groups = [...new Set(namesIn(row, 'group'))].sort();
  return groups.length === 0 ? [DEFAULT_GROUP] : groups;
}

/** The groups behind each tag; empty if all channels have the same: then no key needs to be bound. */
function tagsOf(channels: readonly Row[]): Tags {
  const tags = new Map(channels.map((row) => [groupsOf(row).join('+'), groupsOf(row)]));
  return tags.size === 1 && tags.has(DEFAULT_GROUP) ? new Map() : tags;
}

function channelOf(row: Row, name: string, tags: Tags, plan: Plan): CarriedChannel {
  const what = `channel ${name}`;
  const status = numberIn(row, 'status') ?? ENABLED;
  if (status === AUTO_DISABLED) plan.toDo.push(`Test and enable ${what}: new-api had disabled it.`);
  const mapping = mappingOf(row, what, plan);
  const models = namesIn(row, 'models');
  const others = models.filter((model) => !isRerankerName(model));
  if (others.length > 0) {
    const why = 'they do not look like rerankers; "channels update --models" adds those that are';
    plan.notCarried.push({ what: `${others.join(', ')} of ${what}`, why });
  }
  for (const column of ['param_override', 'header_override', 'status_code_mapping']) {
    if (isSet(row, column)) {
      plan.notCarried.push({ what: `${column} of ${what}`, why: 'there is no such setting here' });
    }
  }
  const proxy = objectIn(row, 'setting')?.proxy;
  if (typeof proxy === 'string' && proxy !== '') {
    plan.notCarried.push({ what: `proxy of ${what}`, why: 'there is no such setting here' });
  }
  const keys = keysOf(row, what, plan);
  return {
    name,
    provider: PROVIDERS[numberIn(row, 'type') ?? 0] ?? '',
    models: Object.fromEntries(
      models.filter(isRerankerName).map((model) => [model, mapping[model] ?? model]),
    ),
    status: status === ENABLED ? 1 : 2,
    // A weight of 0 takes part there; here it is the last resort.
    weight: Math.max(1, numberIn(row, 'weight') ?? 0),
    priority: numberIn(row, 'priority') ?? 0,
    ...(keys.length > 1 ? { api_keys: keys } : present({ api_key: keys[0] })),
    ...present({
      base_url: textIn(row, 'base_url')?.replace(/\/+$/, ''),
      tag: tags.size > 0 ? groupsOf(row).join('+') : textIn(row, 'tag'),
    }),
  };
}

/** Whether a column of JSON or text says anything. */
function isSet(row: Row, column: string): boolean {
  return !['', '{}', 'null'].includes(textIn(row, column) ?? '');
}

function mappingOf(row: Row, what: string, plan: Plan): Record<string, string> {
  if (!isSet(row, 'model_mapping')) return {};
  const mapping = objectIn(row, 'model_mapping');
  if (mapping !== undefined) {
    return Object.fromEntries(Object.entries(mapping).map(([name, to]) => [name, String(to)]));
  }
  plan.notCarried.push({ what: `model_mapping of ${what}`, why: 'it is not a JSON object' });
  return {};
}

/** Its keys, one a line, without those that new-api has stopped using, unless it has stopped using all of them. */
function keysOf(row: Row, what: string, plan: Plan): string[] {
  const keys = (textIn(row, 'key') ?? '').split('\n').map((line) => line.trim());
  const statuses = objectIn(row, 'channel_info')?.multi_key_status_list;
  const isOn = (at: number): boolean =>
    !isRecord(statuses) || (statuses[String(at)] ?? ENABLED) === ENABLED;
  const on = keys.filter((key, at) => key !== '' && isOn(at));
  const all = keys.filter((key) => key !== '');
  if (on.length === 0 || on.length === all.length) return all;
  const off = all.length - on.length;
  plan.notCarried.push({
    what: `${counted(off, 'key')} of ${what}`,
    why: `new-api had disabled ${off === 1 ? 'it' : 'them'}`,
  });
  return on;
}

/** The JSON object in a column. */
function objectIn(row: Row, column: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(textIn(row, column) ?? '');
    return isRecord(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function addUser(plan: Plan, row: Row, units: ToUnits): void {
  const username = textIn(row, 'username') ?? '';
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

interface KeyContext {
  readonly owner: Row | undefined;
  readonly tags: Tags;
  readonly units: ToUnits;
  readonly nowMs: number;
}

function addKey(plan: Plan, row: Row, { owner = {}, tags, units, nowMs }: KeyContext): void {
  const secret = textIn(row, 'key') ?? '';
  const expiredTime = numberIn(row, 'expired_time') ?? NEVER_EXPIRES;
  const status = numberIn(row, 'status') ?? ENABLED;
  const isOver = expiredTime !== NEVER_EXPIRES && expiredTime * 1000 <= nowMs;
  if (secret === '' || owner.id === undefined || isOver || status === EXPIRED) {
    const why = owner.id === undefined ? 'its account is gone' : 'it has expired';
    plan.notCarried.push({ what: whatOf('key', row), why });
    return;
  }
  const name = textIn(row, 'name') ?? 'from new-api';
  const models = numberIn(row, 'model_limits_enabled') ? namesIn(row, 'model_limits') : undefined;
  if (models?.length === 0)
    plan.toDo.push(`Set the models of key ${name}, and enable it: it had none.`);
  const own = textIn(row, 'group');
  const group = (own === 'auto' ? undefined : own) ?? textIn(owner, 'group') ?? DEFAULT_GROUP;
  const bound = [...tags].filter(([, groups]) => groups.includes(group)).map(([tag]) => tag);
  const isRoot = (numberIn(owner, 'role') ?? 0) >= ROOT;
  const key = secret.startsWith(KEY_PREFIX) ? secret : `${KEY_PREFIX}${secret}`;
  plan.keys.push({
    secret: { keyHash: hashSecret(key), keyHint: keyHint(key) },
    ...(isRoot ? {} : { owner: textIn(owner, 'username') ?? '' }),
    draft: {
      name,
      enabled: status !== DISABLED && models?.length !== 0,
      expiredTime,
      unlimitedQuota: Boolean(numberIn(row, 'unlimited_quota')),
      remainQuota: units(row, 'remain_quota'),
      policy: {
        // A group without channels reaches none here either.
        ...(tags.size > 0 ? { tags: bound.length > 0 ? bound : [group] } : {}),
        allowIps: namesIn(row, 'allow_ips'),
        ...present({ models: models?.length === 0 ? undefined : models }),
      },
    },
  });
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
