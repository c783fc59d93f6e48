import type { SettingPath } from './files.js';
import { closest } from '../core/closest.js';
import { resolveModel } from '../core/model-names.js';
import { isRecord } from '../core/records.js';

/** A name in the settings that refers to nothing. */
export interface LooseEnd {
  readonly path: SettingPath;
  readonly message: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Models and tags that settings refer to and no channel of the same settings has. Empty if the settings have no channels:
 * then all of them are in the store. Reads what was written, so that these are reported together with everything else.
 */
export function looseEnds(values: Values): LooseEnd[] {
  if (!Array.isArray(values.channels)) return [];
  const channels = (values.channels as unknown[]).filter(isRecord);
  const models = new Set(channels.flatMap(({ models }) => modelNames(models)));
  const tags = new Set(channels.flatMap(({ tag }) => texts([tag])));
  return [
    ...spokenModels(values, models).map(({ path, name }) => loose(path, name, models, 'serves')),
    ...spokenTags(values, tags).map(({ path, name }) => loose(path, name, tags, 'has the tag')),
  ];
}

interface Spoken {
  readonly path: SettingPath;
  readonly name: string;
}

function spokenModels(values: Values, served: ReadonlySet<string>): Spoken[] {
  const rules = group(values, 'models');
  const aliases = group(group(values, 'callers'), 'aliases');
  const spoken: Spoken[] = [
    ...Object.keys(group(group(values, 'prices'), 'models')).map((name) => ({
      path: ['prices', 'models', name],
      name,
    })),
    ...Object.keys(rules)
      .filter((name) => name !== 'default')
      .map((name) => ({ path: ['models', name], name })),
    ...Object.entries(rules).flatMap(([model, rule]) =>
      list(isRecord(rule) ? rule.fallbacks : undefined).map((name, index) => ({
        path: ['models', model, 'fallbacks', index],
        name,
      })),
    ),
    ...Object.entries(aliases).map(([alias, name]) => ({
      path: ['callers', 'aliases', alias],
      name: typeof name === 'string' ? name : '',
    })),
  ];
  const unknown = spoken.filter(({ name }) => name !== '' && !served.has(name));
  const byDefault = group(values, 'gateway').default_model;
  if (typeof byDefault !== 'string' || byDefault === '') return unknown;
  const known = Object.entries(aliases).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const resolve = (name: string): string | undefined =>
    resolveModel(name, (model) => served.has(model), Object.fromEntries(known));
  const isServed = resolve(byDefault) ?? resolve(byDefault.replace(/@[^@]+$/, ''));
  return isServed === undefined
    ? [{ path: ['gateway', 'default_model'], name: byDefault }, ...unknown]
    : unknown;
}

function spokenTags(values: Values, borne: ReadonlySet<string>): Spoken[] {
  return list(values.tags, (entry) => (isRecord(entry) ? entry.tag : undefined))
    .map((name, index) => ({ path: ['tags', index, 'tag'], name }))
    .filter(({ name }) => name !== '' && !borne.has(name));
}

function loose(
  path: SettingPath,
  name: string,
  known: ReadonlySet<string>,
  does: string,
): LooseEnd {
  const names = [...known];
  const near = closest(name, names);
  const instead =
    near === undefined
      ? `available: ${names.slice(0, MAX_SHOWN).join(', ')}`
      : `did you mean ${near}?`;
  const message = `no channel of these settings ${does} "${name}"${names.length === 0 ? '' : `; ${instead}`}`;
  return { path, message };
}

const MAX_SHOWN = 20;

function group(values: Values, name: string): Values {
  const found = values[name];
  return isRecord(found) ? found : {};
}

/** The texts of a list, each at its index; entries that are not text are empty. */
function list(value: unknown, textOf: (entry: unknown) => unknown = (entry) => entry): string[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).map((entry) => {
    const text = textOf(entry);
    return typeof text === 'string' ? text.trim() : '';
  });
}

function texts(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string').map((text) => text.trim());
}

/** The names in a list of models, or in a group of callers' names with the upstream's. */
function modelNames(models: unknown): string[] {
  return Array.isArray(models) ? texts(models) : isRecord(models) ? Object.keys(models) : [];
}
