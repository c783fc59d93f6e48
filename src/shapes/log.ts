import Joi from 'joi';
import { snakeCase, type SnakeCase } from '../core/records.js';
import {
  SUMMED_MEMBERS,
  USAGE_ROWS,
  type OwnMember,
  type SummedMember,
  type UsageMembers,
} from '../core/usage-members.js';
import type { AuditEntry, Logged, UsageEntry, UsageStats } from '../store/store.js';
import { COUNT, REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';

type Wire<K extends keyof UsageMembers> = {
  -readonly [N in K as SnakeCase<N>]: undefined extends UsageMembers[N]
    ? Exclude<UsageMembers[N], undefined> | null
    : UsageMembers[N];
};

/** A request in the log, as the user who made it may see it. */
export interface OwnUsageWire extends Wire<OwnMember> {
  id: number;
  /** Unix seconds. */
  created_at: number;
}

/** A request in the log, as operators see it. */
export interface UsageWire extends Wire<keyof UsageMembers> {
  id: number;
  created_at: number;
}

export type StatsWire = Record<'requests' | SnakeCase<SummedMember>, number>;

/** A management write in the log. */
export interface AuditWire {
  id: number;
  created_at: number;
  actor_id: number | null;
  actor: string;
  action: string;
  target: string;
  name: string | null;
  changes: AuditChangeWire[];
  detail: Record<string, unknown>;
  address: string | null;
}

type Value = string | number | boolean | readonly unknown[] | Record<string, unknown> | null;

/** What became of a member. */
export interface AuditChangeWire {
  member: string;
  before: Value;
  after: Value;
  omitted: boolean;
}

export const SECONDS = Joi.number().integer().min(0).max(8_640_000_000_000);
const TEXT = Joi.string().allow('').required();

/** Of an entry: what `before` takes. */
export const LOG_ID = REQUIRED_COUNT.description(
  'Of this entry in the log. In one’s own, without an order.',
);

const OWN_ROWS = USAGE_ROWS.filter(({ own }) => own);

/** The members of a request in the log for the schema of a reply, in the order of a file's columns. */
export const OWN_USAGE_REPLY = usageSchemas(OWN_ROWS) as Joi.StrictSchemaMap<OwnUsageWire>;
export const USAGE_REPLY = usageSchemas(USAGE_ROWS) as Joi.StrictSchemaMap<UsageWire>;
export const STATS = Joi.object<StatsWire, true>(
  Object.fromEntries(
    ['requests', ...SUMMED_MEMBERS].map((name) => [snakeCase(name), REQUIRED_COUNT]),
    // One for each name that `StatsWire` has.
  ) as Joi.StrictSchemaMap<StatsWire>,
);
/** Whatever JSON can hold; a union is declared as alternatives, of which there would be no other. */
const VALUE = Joi.any<Value>() as Joi.AlternativesSchema<Value>;

const CHANGE = Joi.object<AuditChangeWire, true>({
  member: Joi.string().required(),
  before: VALUE.required().description('Null: it was not set.'),
  after: VALUE.required().description('Null: it is not set, or the thing is gone.'),
  omitted: Joi.boolean().required().description('Whether the values were too long to keep.'),
});

export const AUDIT_REPLY = {
  id: LOG_ID,
  created_at: SECONDS.required(),
  actor_id: ID.allow(null).required().description('Null for the command line.'),
  actor: TEXT,
  action: Joi.string().required(),
  target: TEXT,
  detail: Joi.object<Record<string, unknown>>()
    .unknown(true)
    .required()
    .description(
      'What was written, under the code’s names and without secrets; with `reason` if one was given. Empty if the action says it all.',
    ),
  address: Joi.string().allow(null).required(),
  name: Joi.string()
    .allow('', null)
    .required()
    .description(
      'What the target was called; for entries of earlier releases, what it is called now. Null: unknown.',
    ),
  changes: Joi.array()
    .items(CHANGE)
    .required()
    .description(
      'The members that the write changed, under the names of the API, never secrets; of what was deleted, all that were set.',
    ),
};

/** A request in the log as the API returns it, and as the command line prints it with `--json`. */
export function usageWire(entry: Logged<UsageEntry>): UsageWire {
  return usageShape(entry, USAGE_ROWS) as UsageWire;
}

export function ownUsageWire(entry: Logged<UsageEntry>): OwnUsageWire {
  return usageShape(entry, OWN_ROWS) as OwnUsageWire;
}

export function statsWire(stats: UsageStats): StatsWire {
  const sums = SUMMED_MEMBERS.map((name) => [snakeCase(name), stats[name]]);
  return { requests: stats.requests, ...Object.fromEntries(sums) } as StatsWire;
}

export function auditWire(entry: Logged<AuditEntry>): AuditWire {
  return {
    id: entry.id,
    created_at: Math.floor(entry.atMs / 1000),
    actor_id: entry.actorId ?? null,
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    name: entry.name ?? null,
    changes: (entry.changes ?? []).map(({ member, before, after, omitted = false }) => ({
      // As they were read from JSON.
      ...{ member, before: before as Value, after: after as Value, omitted },
    })),
    detail: { ...entry.detail },
    address: entry.address ?? null,
  };
}

type Rows = typeof USAGE_ROWS;

/** The rows produce the shape that the types above declare, here and below. */
function usageShape(entry: Logged<UsageEntry>, rows: Rows): object {
  const members = rows.map(({ name, type }) => {
    const value = entry[name] ?? null;
    return [snakeCase(name), type === 'milliseconds' ? Math.round(Number(value)) : value];
  });
  const first = { id: entry.id, created_at: Math.floor(entry.atMs / 1000) };
  return { ...first, ...Object.fromEntries(members) } as object;
}

function usageSchemas(rows: Rows): Joi.SchemaMap {
  const schemas = rows.map(({ name, type, default: absent, help }) => {
    const schema: Joi.AnySchema = type === 'text' ? Joi.string().allow('') : COUNT;
    const whole = absent === undefined ? schema.allow(null) : schema;
    return [snakeCase(name), whole.required().description(help)];
  });
  const time = ['created_at', SECONDS.required().description('Unix seconds.')];
  return Object.fromEntries([['id', LOG_ID], time, ...schemas]) as Joi.SchemaMap;
}
