import { dotEnvNames } from './dot-env.js';
import type { ConfigMistake, Environment, RawSettings, SettingPath } from './files.js';
import { SETTINGS } from './settings.js';
import { closest } from '../core/closest.js';
import { isRecord } from '../core/records.js';

/** What is written correctly and hardly meant: `config check` reports it, and a gateway warns of it when it starts. */
export function slips(
  raw: RawSettings,
  env: Environment,
  folder: string,
  settings: readonly string[],
): ConfigMistake[] {
  const at = (path: SettingPath, message: string): ConfigMistake => ({
    where: raw.whereIs(path),
    path,
    message,
  });
  return [
    ...raw.emptyFiles.map((file) => ({
      where: file,
      path: [],
      message: 'holds no settings; add some, such as "channels:", or remove it',
    })),
    ...doubleKeys(raw).map((message) => at(['store', 'encryption_key'], message)),
    ...ownFallbacks(raw).map((path) => at(path, 'is the model itself; name another one')),
    ...spacedKeys(raw).map((path) =>
      at(path, 'begins or ends with a space, which is not sent; remove it'),
    ),
    ...quotedTexts(raw.values).map((path) =>
      at(path, 'begins with a typographic quote, which is a part of the text; use " or no quotes'),
    ),
    ...longAttempts(raw).map(({ path, deadlineMs }) =>
      at(
        path,
        `is longer than the deadline of a request, gateway.deadline_ms: ${deadlineMs}; shorten it, or raise that`,
      ),
    ),
    ...withoutEffect(raw).map(({ path, without }) =>
      at(path, `has no effect without ${without}; add that, or remove this`),
    ),
    ...longIdle(raw).map((path) =>
      at(path, 'is longer than accounts.session_max_ms, which ends a login before; shorten it'),
    ),
    ...unusedNames(raw, env, folder, settings),
    ...dotEnvNames(env, folder).flatMap(({ name, where, later }) =>
      later === undefined
        ? []
        : [
            {
              where,
              path: [],
              message: `${name} is set again in ${later}, which counts; remove one`,
            },
          ],
    ),
  ];
}

function doubleKeys({ values }: RawSettings): string[] {
  const { encryption_key: one, encryption_keys: many } = isRecord(values.store) ? values.store : {};
  return one === undefined || many === undefined
    ? []
    : ['is set together with encryption_keys; list all keys there, and remove this one'];
}

function ownFallbacks({ values }: RawSettings): SettingPath[] {
  return Object.entries(isRecord(values.models) ? values.models : {}).flatMap(([model, rule]) => {
    const fallbacks: unknown = isRecord(rule) ? rule.fallbacks : undefined;
    const index = Array.isArray(fallbacks) ? fallbacks.indexOf(model) : -1;
    return index === -1 ? [] : [['models', model, 'fallbacks', index]];
  });
}

function spacedKeys({ values }: RawSettings): SettingPath[] {
  return channelsIn(values).flatMap(({ api_key: key, api_keys: keys, credentials }, index) => {
    const isSpaced = (text: unknown): boolean => typeof text === 'string' && text !== text.trim();
    const several = Array.isArray(keys) ? (keys as unknown[]) : [];
    return [
      ...(isSpaced(key) ? [['channels', index, 'api_key']] : []),
      ...Object.entries(isRecord(credentials) ? credentials : {}).flatMap(([name, each]) =>
        isSpaced(each) ? [['channels', index, 'credentials', name]] : [],
      ),
      ...several.flatMap((each, at) =>
        isSpaced(each) ? [['channels', index, 'api_keys', at]] : [],
      ),
    ];
  });
}

/** Texts in quotes as word processors write them. */
function quotedTexts(value: unknown, path: SettingPath = []): SettingPath[] {
  if (typeof value === 'string') return /^[\u2018-\u201f\u00ab]/.test(value) ? [path] : [];
  if (Array.isArray(value)) {
    return (value as unknown[]).flatMap((each, index) => quotedTexts(each, [...path, index]));
  }
  const members = isRecord(value) ? Object.entries(value) : [];
  return members.flatMap(([name, each]) => quotedTexts(each, [...path, name]));
}

/** Attempts that their request would end, where somebody has written how long they may take. */
function longAttempts({ values }: RawSettings): { path: SettingPath; deadlineMs: number }[] {
  const gateway = isRecord(values.gateway) ? values.gateway : {};
  const deadlineMs = Number(gateway.deadline_ms ?? SETTINGS.gateway.deadlineMs.fallback);
  const attempts: [SettingPath, unknown][] = [
    [['gateway', 'attempt_timeout_ms'], gateway.attempt_timeout_ms],
    ...channelsIn(values).map(({ timeout_ms: ms }, index): [SettingPath, unknown] => [
      ['channels', index, 'timeout_ms'],
      ms,
    ]),
  ];
  return attempts.flatMap(([path, ms]) =>
    Number(ms ?? 0) > deadlineMs ? [{ path, deadlineMs }] : [],
  );
}

function withoutEffect({ values }: RawSettings): { path: SettingPath; without: string }[] {
  const alerts = isRecord(values.alerts) ? values.alerts : {};
  const isUnused = alerts.webhook_secret !== undefined && alerts.webhook_url === undefined;
  return [
    ...(isUnused
      ? [{ path: ['alerts', 'webhook_secret'], without: 'alerts.webhook_url' } as const]
      : []),
    ...channelsIn(values).flatMap(({ tag, budget_scope: scope }, index) =>
      scope === 'tag' && tag === undefined
        ? [{ path: ['channels', index, 'budget_scope'], without: 'a tag' } as const]
        : [],
    ),
  ];
}

function longIdle({ values }: RawSettings): SettingPath[] {
  const accounts = isRecord(values.accounts) ? values.accounts : {};
  const mostMs = Number(accounts.session_max_ms ?? SETTINGS.accounts.sessionMaxMs.fallback);
  return Number(accounts.session_idle_ms ?? 0) > mostMs ? [['accounts', 'session_idle_ms']] : [];
}

/** Read by docker-compose.yml, by the commands, and by Node and the programs that it starts. */
const OTHERS =
  /^(?:CONFIG|ENV_FILE|NAME|TZ|PATH|PUBLIC_PORT|NO_PROXY|(?:COMPOSE|DOCKER|GATEWAY|HTTPS?|NODE|NPM|PROXY|REDIS|RERANK_GATEWAY|SSL|UV)_\w+)$/i;

/** Variables that only `.env` has and nothing reads. */
function unusedNames(
  raw: RawSettings,
  env: Environment,
  folder: string,
  settings: readonly string[],
): ConfigMistake[] {
  return dotEnvNames(env, folder)
    .filter(
      ({ name }) => !settings.includes(name) && !raw.variables.has(name) && !OTHERS.test(name),
    )
    .map(({ name, where }) => {
      const near = closest(name, settings);
      const message =
        near === undefined
          ? `${name} is not used: it is not a setting, and no file has \${${name}}`
          : `${name} is not a setting; did you mean ${near}?`;
      return { where, path: [], message };
    });
}

function channelsIn({ channels }: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  return Array.isArray(channels)
    ? (channels as unknown[]).map((channel) => (isRecord(channel) ? channel : {}))
    : [];
}
