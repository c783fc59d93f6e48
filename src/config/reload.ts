import type { SettingGroup } from './setting.js';
import { SETTINGS } from './settings.js';
import type { Config } from './values.js';
import { own, snakeCase } from '../core/records.js';
import { Secret } from '../core/secret.js';

/** What differs between two configurations, as files name it. */
export interface ConfigChanges {
  readonly applied: readonly string[];
  /** What takes effect with the next start. */
  readonly needRestart: readonly string[];
}

/** What reloads besides the rows of `SETTINGS` that say so. */
const RELOADED: ReadonlySet<string> = new Set([
  ...['channels', 'tags', 'models.fallback', 'models.named', 'prices.models', 'prices.fallback'],
  ...['callers.aliases', 'alerts.targets'],
]);

/** Members that files name in another way. */
const NAMED: Readonly<Record<string, string>> = {
  'models.fallback': 'models.default',
  'models.named': 'models',
  'prices.fallback': 'prices.default',
};

type Members = Record<string, unknown>;

/** A copy whose groups `adopt` can change: parts that read their settings from it when they need them see the change. */
export function liveConfig(config: Config): Config {
  const groups = Object.entries(config).map(([name, group]: [string, unknown]) => [
    name,
    isGroup(group) ? { ...group } : group,
  ]);
  const copy: unknown = Object.fromEntries(groups);
  return copy as Config;
}

/** Whether another configuration differs, and in what. */
export function changesBetween(before: Config, after: Config): ConfigChanges {
  const paths = [...differing(before, after)];
  const name = ([group = '', member]: readonly string[]): string =>
    member === undefined
      ? snakeCase(group)
      : (own(NAMED, `${group}.${member}`) ?? `${group}.${snakeCase(member)}`);
  return {
    applied: paths.filter(reloads).map(name),
    needRestart: paths.filter((path) => !reloads(path)).map(name),
  };
}

/** Takes over what reloads. */
export function adopt(live: Config, after: Config): void {
  for (const path of differing(live, after)) {
    const [group = '', member] = path;
    if (!reloads(path)) continue;
    const [into, from] = [live, after] as unknown as [Members, Members];
    if (member === undefined) into[group] = from[group];
    else (into[group] as Members)[member] = (from[group] as Members)[member];
  }
}

function reloads([group = '', member]: readonly string[]): boolean {
  if (RELOADED.has(member === undefined ? group : `${group}.${member}`)) return true;
  const rows: SettingGroup | undefined = own<SettingGroup>(SETTINGS, group);
  return member !== undefined && rows?.[member]?.reloads === true;
}

function* differing(before: Config, after: Config): Generator<readonly string[]> {
  for (const [group, was] of Object.entries(before) as [string, unknown][]) {
    const is = (after as unknown as Members)[group];
    if (!isGroup(was) || !isGroup(is)) {
      if (textOf(was) !== textOf(is)) yield [group];
      continue;
    }
    for (const member of new Set([...Object.keys(was), ...Object.keys(is)])) {
      if (textOf(was[member]) !== textOf(is[member])) yield [group, member];
    }
  }
}

function isGroup(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For comparison alone: it has the secrets. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(revealed(value));
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (!isGroup(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revealed(each)]));
}
