import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { alertTargetsOf } from './alert-targets.js';
import type { FileChannel } from './channel-schema.js';
import type { ConfiguredChannel } from './channels.js';
import {
  readSettings,
  textsOf,
  type Environment,
  type RawSettings,
  type SettingTexts,
} from './files.js';
import { checkDuplicates, ConfigError, foremost, MistakeList } from './mistakes.js';
import { loginMistakes } from './logins.js';
import type { LooseEnd } from './references.js';
import { modelRulesOf } from './rules.js';
import {
  FILE_NAMES,
  FILE_SCHEMA,
  readFileSettings,
  type FilePrice,
  type FileSettings,
} from './schema.js';
import { groupValues, type SettingGroup } from './setting.js';
import { ENVIRONMENT_SETTINGS, SETTINGS } from './settings.js';
import type { Config } from './values.js';
import { sayMistake } from './words.js';
import { DEFAULT_PRICE, type Price } from '../core/quota.js';
import { camelCase, isRecord, mapValues, own } from '../core/records.js';
import { Secret } from '../core/secret.js';

export interface ConfigSources {
  readonly env: Environment;
  /** A YAML file or a folder of them; overrides `CONFIG`. Without either, `config/gateway.yaml` if it exists. */
  readonly configPath?: string | undefined;
  /** Where to look for the default file. */
  readonly folder?: string;
  /** What the files held when they were read; they are not read again. */
  readonly texts?: SettingTexts;
}

const DEFAULT_FILE = join('config', 'gateway.yaml');

/**
 * The settings of some groups, for a command that needs no others: mistakes elsewhere, such as a channel whose key is only
 * in the environment of the gateway, do not concern the command. It loads no providers, which takes longest.
 * @throws ConfigError with every mistake in these groups, and every group that does not exist.
 */
export function loadGroups<Group extends Exclude<keyof Config, 'channels'>>(
  sources: ConfigSources,
  groups: readonly Group[],
): Pick<Config, Group> {
  const raw = readSources(sources);
  const others = new Set<unknown>(
    FILE_NAMES.filter((name) => !groups.some((group) => group === name)),
  );
  const isNeeded = (name: unknown): boolean => !others.has(name);
  const needed = {
    ...raw,
    values: Object.fromEntries(Object.entries(raw.values).filter(([name]) => isNeeded(name))),
    mistakes: raw.mistakes.filter(({ path }) => isNeeded(path[0])),
  };
  return judge(needed, () => undefined);
}

/** Makes channels of what a file has, and notes what is wrong with them; `read` is what the schema made of them. */
type ReadChannels = (
  values: Readonly<Record<string, unknown>>,
  mistakes: MistakeList,
  read: readonly FileChannel[] | undefined,
) => ConfiguredChannel[] | undefined;

/** Builds the settings from what was written, or throws everything that is wrong with it. */
export function judge(
  raw: RawSettings,
  readChannels: ReadChannels,
  further: readonly LooseEnd[] = [],
): Config {
  const mistakes = new MistakeList(raw);
  const result = readFileSettings(raw.values);
  for (const detail of foremost(result.error?.details ?? [], raw.mistakes))
    mistakes.add(detail.path, sayMistake(FILE_SCHEMA, detail));
  checkDuplicates(raw.values.channels, 'channels', 'name', mistakes);
  checkDuplicates(raw.values.tags, 'tags', 'tag', mistakes);
  const read = result.error === undefined ? result.value.channels : undefined;
  const channels = readChannels(raw.values, mistakes, read);
  const groups = result.error === undefined ? groupsOf(result.value) : undefined;
  if (groups !== undefined && groups.server.bodyLimitBytes > groups.server.maxInFlightBytes) {
    const path = ['server', 'max_in_flight_bytes'];
    mistakes.add(path, 'is less than body_limit_bytes, so the largest body would never fit');
  }
  if (groups !== undefined) {
    for (const { path, message } of loginMistakes(groups)) mistakes.add(path, message);
  }
  for (const { path, message } of further) mistakes.add(path, message);
  if (groups === undefined || mistakes.all.length > 0) throw new ConfigError(mistakes.all);
  const settings = result.value as FileSettings;
  return freeze({
    ...groups,
    alerts: { ...groups.alerts, targets: alertTargetsOf(settings.alerts.targets, groups.alerts) },
    models: modelRulesOf(settings.models),
    callers: callersOf(settings.callers),
    prices: {
      models: mapValues(settings.prices.models, toPrice),
      fallback:
        settings.prices.default === undefined ? DEFAULT_PRICE : toPrice(settings.prices.default),
    },
    channels,
    tags: settings.tags.map(({ tag, disabled, reason }) => ({ tag, disabled, reason })),
  });
}

function callersOf({
  aliases,
  anonymous,
  aws_keys: keys,
}: FileSettings['callers']): Config['callers'] {
  return {
    aliases,
    anonymous: anonymous && {
      addresses: anonymous.addresses,
      key: new Secret(anonymous.key),
    },
    awsKeys: mapValues(keys, (key) => new Secret(key)),
  };
}

/**
 * Keeps what the files hold now, for a process that is to have these settings whatever becomes of the files.
 * @throws ConfigError if they cannot be read.
 */
export function withTexts(sources: ConfigSources): ConfigSources {
  const { env, configPath, folder = '.' } = sources;
  const named = configPath ?? (env.CONFIG === '' ? undefined : env.CONFIG);
  const standard = join(folder, DEFAULT_FILE);
  const path = named ?? (existsSync(standard) ? standard : undefined);
  try {
    return { ...sources, texts: path === undefined ? [] : textsOf(path) };
  } catch (error) {
    const reason = isRecord(error) ? String(error.code) : 'unknown reason';
    const message = `cannot be read (${reason}); name a YAML file, or a folder of YAML files`;
    throw new ConfigError([{ where: path ?? '', path: [], message }]);
  }
}

/** What files and the environment say, as it was written. */
export function readSources(sources: ConfigSources): RawSettings {
  const { env } = sources;
  const raw = readSettings(sources.texts ?? withTexts(sources).texts ?? [], env);
  for (const [variable, setting] of Object.entries(ENVIRONMENT_SETTINGS)) {
    const value = env[variable];
    // Compose files turn a variable that is not set into an empty one.
    if (value === undefined || value === '') continue;
    const isList = Array.isArray(fallbackOf(setting));
    raw.put(setting, isList ? value.split(',') : value, `environment ${variable}`);
  }
  if (isRecord(raw.values.server) && raw.values.server.workers === 'auto') {
    raw.values.server.workers = availableParallelism();
  }
  return raw;
}

/** The plain settings, as the program has them. */
function groupsOf(settings: FileSettings): Pick<Config, keyof typeof SETTINGS> {
  const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
  return Object.fromEntries(
    names.map((name) => [name, groupValues(SETTINGS[name], settings[name])]),
  ) as unknown as Pick<Config, keyof typeof SETTINGS>;
}

function fallbackOf([group, name]: readonly [string, string]): unknown {
  const rows: SettingGroup | undefined = own<SettingGroup>(SETTINGS, group);
  return rows?.[camelCase(name)]?.fallback;
}

function toPrice(price: FilePrice): Price {
  if ('per_request' in price) return { per: 'request', units: price.per_request };
  if ('per_search_unit' in price) return { per: 'search_unit', units: price.per_search_unit };
  return { per: 'million_tokens', units: price.per_million_tokens };
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof Secret)) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}
