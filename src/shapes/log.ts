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
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { secondsOf } from './seconds.js';
import { arrayOf, nullable, shape, wireOf, type Of } from './shape.js';

type Value = string | number | boolean | readonly unknown[] | Record<string, unknown> | null;

export const SECONDS = Joi.number().integer().min(0).max(8_640_000_000_000);
const TEXT = Joi.string().allow('');

/** Of an entry: what `before` takes. */
export const LOG_ID = COUNT.description(
  'Of this entry in the log. In one’s own, without an order.',
);

const ENTRY = { id: LOG_ID, created_at: SECONDS.description('Unix seconds.') };

/** A request in the log, as the user who made it may see it. */
export const OWN_USAGE = shape({
  ...ENTRY,
  ...(usageSchemas(USAGE_ROWS.filter(({ own }) => own)) as UsageSchemas<OwnMember>),
});
export type OwnUsageWire = Of<typeof OWN_USAGE>;

/** A request in the log, as operators see it. */
export const USAGE = shape({
  ...ENTRY,
  ...(usageSchemas(USAGE_ROWS) as UsageSchemas<keyof UsageMembers>),
});
export type UsageWire = Of<typeof USAGE>;

/** Sums over requests. */
export const STATS = shape({ requests: COUNT, ...summedMembers() });
export type StatsWire = Of<typeof STATS>;

/** Whatever JSON can hold. */
const VALUE = Joi.any<Value>();

/** What became of a member. */
const CHANGE = shape({
  member: Joi.string(),
  before: VALUE.description('Null: it was not set.'),
  after: VALUE.description('Null: it is not set, or the thing is gone.'),
  omitted: Joi.boolean().description('Whether the values were too long to keep.'),
});
export type AuditChangeWire = Of<typeof CHANGE>;

/** A management write in the log. */
export const AUDIT = shape({
  id: LOG_ID,
  created_at: SECONDS,
  actor_id: nullable(ID).description('Null for the command line.'),
  actor: TEXT,
  action: Joi.string(),
  target: TEXT,
  detail: Joi.object<Record<string, unknown>>()
    .unknown(true)
    .description(
      'What was written, under the code’s names and without secrets; with `reason` if one was given. Empty if the action says it all.',
    ),
  address: nullable(Joi.string()),
  name: nullable(Joi.string().allow('')).description(
    'What the target was called; for entries of earlier releases, what it is called now. Null: unknown.',
  ),
  changes: arrayOf(CHANGE).description(
    'The members that the write changed, under the names of the API, never secrets; of what was deleted, all that were set.',
  ),
});
export type AuditWire = Of<typeof AUDIT>;

/** A request in the log as the API returns it, and as the command line prints it with `--json`. */
export function usageWire(entry: Logged<UsageEntry>): UsageWire {
  return wireOf(USAGE, shown(entry));
}

export function ownUsageWire(entry: Logged<UsageEntry>): OwnUsageWire {
  return wireOf(OWN_USAGE, shown(entry));
}

function shown(entry: Logged<UsageEntry>) {
  return { ...entry, createdAt: secondsOf(entry.atMs), durationMs: Math.round(entry.durationMs) };
}

export function statsWire(stats: UsageStats): StatsWire {
  return wireOf(STATS, stats);
}

export function auditWire(entry: Logged<AuditEntry>): AuditWire {
  return wireOf(AUDIT, {
    ...entry,
    createdAt: secondsOf(entry.atMs),
    changes: (entry.changes ?? []).map(({ member, before, after, omitted = false }) => ({
      // As they were read from JSON.
      ...{ member, before: before as Value, after: after as Value, omitted },
    })),
    detail: { ...entry.detail },
  });
}

/** Each row produces the schema of its type. */
type UsageSchemas<K extends keyof UsageMembers> = {
  [N in K as SnakeCase<N>]: Joi.AnySchema<
    undefined extends UsageMembers[N] ? Exclude<UsageMembers[N], undefined> | null : UsageMembers[N]
  >;
};

function usageSchemas(rows: typeof USAGE_ROWS): object {
  const members = rows.map(({ name, type, default: absent, help }) => {
    const schema: Joi.AnySchema = type === 'text' ? Joi.string().allow('') : COUNT;
    return [snakeCase(name), (absent === undefined ? nullable(schema) : schema).description(help)];
  });
  return Object.fromEntries(members) as object;
}

function summedMembers() {
  const members = SUMMED_MEMBERS.map((name) => [snakeCase(name), COUNT]);
  return Object.fromEntries(members) as Record<SnakeCase<SummedMember>, typeof COUNT>;
}
