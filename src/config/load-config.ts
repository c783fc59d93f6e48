import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { alertTargetsOf } from './alert-targets.js';
import { readChannels } from './channels.js';
import {
  readSettings,
  textsOf,
  type ConfigMistake,
  type Environment,
  type RawSettings,
  type SettingTexts,
} from './files.js';
import {
  checkDuplicates,
  ConfigError,
  describeMistake,
  foremost,
  MistakeList,
} from './mistakes.js';
import { loginMistakes } from './logins.js';
import { looseEnds, type LooseEnd } from './references.js';
import { modelRulesOf } from './rules.js';
import { FILE_NAMES, FILE_SCHEMA, type FilePrice, type FileSettings } from './schema.js';
import { groupValues, type SettingGroup } from './setting.js';
import { ENVIRONMENT_SETTINGS, SETTINGS } from './settings.js';
import type { Config } from './values.js';
import { slips } from './slips.js';
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
 * Reads files and environment into one frozen value.
 * @throws ConfigError with every mistake.
 */
export function loadConfig(sources: ConfigSources): Config {
  return judge(readSources(sources));
}

/**
 * Like `loadConfig`, but also reports what is hardly meant, and models and tags that the settings refer to and none of their
 * channels has. A gateway starts with those; the store may have further channels, as `storeChannels` says.
 * @throws ConfigError with every mistake.
 */
export function checkConfig(sources: ConfigSources, { storeChannels = false } = {}): Config {
  const raw = readSources(sources);
  const mistakes = [...raw.mistakes, ...slipsIn(raw, sources)];
  return judge({ ...raw, mistakes }, storeChannels ? [] : looseEnds(raw.values));
}

/**
 * Like `loadConfig`, with what a gateway warns of when it starts: correct, and hardly meant.
 * @throws ConfigError with every mistake.
 */
export function loadToStart(sources: ConfigSources): {
  readonly config: Config;
  readonly warnings: readonly string[];
} {
  const raw = readSources(sources);
  return { config: judge(raw), warnings: slipsIn(raw, sources).map(describeMistake) };
}

function slipsIn(raw: RawSettings, { env, folder = '.' }: ConfigSources): ConfigMistake[] {
  return slips(raw, env, folder, Object.keys(ENVIRONMENT_SETTINGS));
}

/**
 * The settings of some groups, for a command that needs no others: mistakes elsewhere, such as a channel whose key is only
 * in the environment of the gateway, do not concern the command.
 * @throws ConfigError with every mistake in these groups, and every group that does not exist.
 */
export function loadGroups<Group extends keyof Config>(
  sources: ConfigSources,
  groups: readonly Group[],
): Pick<Config, Group> {
  const raw = readSources(sources);
  const others = new Set<unknown>(
    FILE_NAMES.filter((name) => !groups.some((group) => group === name)),
  );
  const isNeeded = (name: unknown): boolean => !others.has(name);
  return judge({
    ...raw,
    values: Object.fromEntries(Object.entries(raw.values).filter(([name]) => isNeeded(name))),
    mistakes: raw.mistakes.filter(({ path }) => isNeeded(path[0])),
  });
}

/**
 * The credentials that the configuration has for one channel, or `undefined` if it does not have the channel.
 * @throws ConfigError with every mistake in this channel.
 */
export function loadCredentials(
  sources: ConfigSources,
  channel: string,
): Readonly<Record<string, Secret>> | undefined {
  const raw = readSources(sources);
  const written = Array.isArray(raw.values.channels) ? (raw.values.channels as unknown[]) : [];
  const index = written.findIndex((item) => isRecord(item) && item.name === channel);
  if (index === -1) return undefined;
  const mistakes = new MistakeList(raw);
  const all = readChannels(raw.values, mistakes) ?? [];
  const ofIt = mistakes.all.filter(({ path }) => path[0] === 'channels' && path[1] === index);
  if (ofIt.length > 0) throw new ConfigError(ofIt);
  return all.find(({ declared }) => declared.name === channel)?.credentials;
}

/** Builds the settings from what was written, or throws everything that is wrong with it. */
function judge(raw: RawSettings, further: readonly LooseEnd[] = []): Config {
  const mistakes = new MistakeList(raw);
  const result = FILE_SCHEMA.validate(raw.values, { abortEarly: false, errors: { label: false } });
  for (const detail of foremost(result.error?.details ?? []))
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

function readSources(sources: ConfigSources): RawSettings {
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
