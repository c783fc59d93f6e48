import { isRecord } from '../../core/records.js';
import { namesIn, textIn } from './plan.js';

export type Row = Readonly<Record<string, unknown>>;

/** The tables of new-api, or of one-api, from which it comes. */
export interface NewApiRows {
  readonly channels: readonly Row[];
  readonly tokens: readonly Row[];
  readonly users: readonly Row[];
  readonly redemptions: readonly Row[];
  readonly options: readonly Row[];
}

export const ENABLED = 1;
export const DISABLED = 2;
export const DEFAULT_GROUP = 'default';

/** Rows that are deleted stay in the tables. */
export function isLive(row: Row): boolean {
  return row.deleted_at === null || row.deleted_at === undefined;
}

export function whatOf(kind: string, row: Row): string {
  return `${kind} ${textIn(row, 'name') ?? textIn(row, 'username') ?? textIn(row, 'id') ?? ''}`;
}

/** The JSON object in a column. */
export function objectIn(row: Row, column: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = jsonIn(row, column);
  return isRecord(parsed) ? parsed : undefined;
}

/** The JSON value in a column; `undefined` if it holds something else. */
export function jsonIn(row: Row, column: string): unknown {
  try {
    return JSON.parse(textIn(row, column) ?? '') as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function optionOf(options: readonly Row[], key: string): Row {
  return options.find((row) => row.key === key) ?? {};
}

export function groupsOf(row: Row): string[] {
  const groups = [...new Set(namesIn(row, 'group'))].sort();
  return groups.length === 0 ? [DEFAULT_GROUP] : groups;
}

/** The groups of each tag: the groups of a channel. */
export type Tags = ReadonlyMap<string, readonly string[]>;
