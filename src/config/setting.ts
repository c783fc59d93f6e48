import Joi from 'joi';
import { checkRange, MAX_TIMER_MS, text } from './checks.js';
import { MAX_QUOTA } from '../core/quota.js';
import { snakeCase } from '../core/records.js';
import { Secret } from '../core/secret.js';

/** A setting of a group: one row, from which the schema, the types, `--print-config`, the example and the documentation follow. */
export interface Setting<T> {
  /** Checks what was written, and has the default. */
  readonly schema: Joi.Schema;
  /** The default; `undefined` if there is none. */
  readonly fallback: T;
  /** What it is, for the documentation; Markdown. */
  readonly help: string;
  /** The environment variable that overrides files. */
  readonly variable?: string;
  /** How the documentation shows the default, where that is not the value. */
  readonly shown?: string;
  /** Whether SIGHUP changes it in a gateway that runs: its parts read it when they need it. */
  readonly reloads?: boolean;
  /** Whether it is kept from logs; such a setting has no default. */
  readonly isSecret?: boolean;
}

/** The rows of a group: all reload, or those with these names. */
export function reloading<G extends SettingGroup>(group: G, names?: readonly (keyof G)[]): G {
  const rows = Object.entries(group).map(([name, row]) => [
    name,
    names?.includes(name) === false ? row : { ...row, reloads: true },
  ]);
  return Object.fromEntries(rows) as G;
}

export type SettingGroup = Readonly<Record<string, Setting<unknown>>>;

/** The values of a group, as the program has them. */
export type ValuesOf<G extends SettingGroup> = {
  readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never;
};

type More = Pick<Setting<unknown>, 'variable' | 'shown'>;

interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

/** A setting with a default. */
export function of<T extends string | number | boolean | readonly (string | number)[]>(
  schema: Joi.Schema,
  fallback: T,
  help: string,
  more?: More,
): Setting<T> {
  return { schema: schema.default(fallback), fallback, help, ...more };
}

/** Text that may be absent. */
export function optional(
  schema: Joi.Schema,
  help: string,
  more?: More,
): Setting<string | undefined> {
  return { schema, fallback: undefined, help, ...more };
}

/** Text that may be absent, and that logs never show. */
export function secret(schema: Joi.Schema, help: string, more?: More): Setting<Secret | undefined> {
  return { schema, fallback: undefined, help, isSecret: true, ...more };
}

export function flag(fallback: boolean, help: string, more?: More): Setting<boolean> {
  return of(Joi.boolean(), fallback, help, more);
}

export function number(
  fallback: number,
  least: number,
  most: number,
  help: string,
): Setting<number> {
  return of(Joi.number().min(least).max(most), fallback, help);
}

export function whole(
  fallback: number,
  least: number,
  most: number,
  help: string,
  more?: More,
): Setting<number> {
  return of(Joi.number().integer().min(least).max(most), fallback, help, more);
}

/** A whole number from 1. */
export function count(fallback: number, help: string, more: More & Bounds = {}): Setting<number> {
  const { least = 1, most = Number.MAX_SAFE_INTEGER, ...rest } = more;
  return whole(fallback, least, most, help, rest);
}

/** A time that a timer can be set for. */
export function milliseconds(fallback: number, help: string, more: Bounds = {}): Setting<number> {
  return count(fallback, help, { most: MAX_TIMER_MS, ...more });
}

/** Units of quota. */
export function amount(fallback: number, help: string): Setting<number> {
  return whole(fallback, 0, MAX_QUOTA, help);
}

/** Names and what each stands for. */
export function names<T extends string>(
  values: Joi.Schema,
  help: string,
  more?: More,
): Setting<Readonly<Record<string, T>>> {
  const schema = Joi.object().pattern(Joi.string().max(256), values).default({});
  return { schema, fallback: {}, help, shown: 'none', ...more };
}

/** Addresses and ranges of addresses. */
export function ranges(
  fallback: readonly string[],
  help: string,
  more?: More,
): Setting<readonly string[]> {
  return of(Joi.array().items(text().custom(checkRange)), fallback, help, more);
}

/** The schema of a group in a file. */
export function groupSchema(group: SettingGroup): Joi.ObjectSchema {
  const members = Object.entries(group).map(([name, { schema }]) => [snakeCase(name), schema]);
  return Joi.object(Object.fromEntries(members) as Joi.SchemaMap).default();
}

/** The values of a group from a file that its schema has checked. */
export function groupValues<G extends SettingGroup>(
  group: G,
  file: Readonly<Record<string, unknown>>,
): ValuesOf<G> {
  const values = Object.entries(group).map(([name, { isSecret = false }]) => {
    const value = file[snakeCase(name)];
    return [name, isSecret && typeof value === 'string' ? new Secret(value) : value];
  });
  // The schema has the same rows.
  return Object.fromEntries(values) as ValuesOf<G>;
}
