import { readChannels } from './channels.js';
import type { ConfigMistake, RawSettings } from './files.js';
import { judge, readSources, type ConfigSources } from './load-groups.js';
import { ConfigError, describeMistake, MistakeList } from './mistakes.js';
import { looseEnds } from './references.js';
import { ENVIRONMENT_SETTINGS } from './settings.js';
import { slips } from './slips.js';
import type { Config } from './values.js';
import { isRecord } from '../core/records.js';
import type { Secret } from '../core/secret.js';

/**
 * Reads files and environment into one frozen value.
 * @throws ConfigError with every mistake.
 */
export function loadConfig(sources: ConfigSources): Config {
  return judge(readSources(sources), readChannels);
}

/**
 * Like `loadConfig`, but also reports what is hardly meant, and models and tags that the settings refer to and none of their
 * channels has. A gateway starts with those; the store may have further channels, as `storeChannels` says.
 * @throws ConfigError with every mistake.
 */
export function checkConfig(sources: ConfigSources, { storeChannels = false } = {}): Config {
  const raw = readSources(sources);
  const mistakes = [...raw.mistakes, ...slipsIn(raw, sources)];
  const further = storeChannels ? [] : looseEnds(raw.values);
  return judge({ ...raw, mistakes }, readChannels, further);
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
  return { config: judge(raw, readChannels), warnings: slipsIn(raw, sources).map(describeMistake) };
}

function slipsIn(raw: RawSettings, { env, folder = '.' }: ConfigSources): ConfigMistake[] {
  return slips(raw, env, folder, Object.keys(ENVIRONMENT_SETTINGS));
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
