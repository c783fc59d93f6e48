import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { ConfigError, mistakeWire } from '../../src/config/mistakes.js';
import { printConfig } from '../../src/config/print.js';
import {
  checkConfig,
  loadConfig,
  loadToStart,
  loadCredentials,
} from '../../src/config/load-config.js';
import { loadGroups, type ConfigSources } from '../../src/config/load-groups.js';
import { ENVIRONMENT_SETTINGS, SETTINGS } from '../../src/config/settings.js';
import type { Config } from '../../src/config/values.js';
import { CHANNEL_DISABLED, CHANNEL_ENABLED } from '../../src/core/channel.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rerank-config-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function load(text: string | Buffer, env: Readonly<Record<string, string>> = {}): Config {
  return loadConfig({ env, configPath: file('gateway.yaml', text), folder });
}

/** The mistakes of a file that is refused, one line each, without the folder. */
function mistakes(text: string | Buffer, env: Readonly<Record<string, string>> = {}): string[] {
  return refusal(() => load(text, env))
    .message.split('\n')
    .slice(1)
    .map((line) => line.trim().replaceAll(folder + '/', ''));
}

function refusal(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const CHANNEL = '{ name: a, provider: cohere, api_key: k, models: [m] }';

describe('settings', () => {
  it('have documented defaults without any file or variable', () => {
    const config = loadConfig({ env: {}, folder });

    expect(config).toMatchObject({
      server: { host: '0.0.0.0', port: 8080, workers: 1, trustedProxies: [], maxDocuments: 10_000 },
      gateway: { deadlineMs: 30_000, attemptTimeoutMs: 10_000, maxAttempts: 3, stalenessMs: 1_000 },
      store: { redisUrl: undefined, redisPrefix: 'rg:', dataDir: './data' },
      log: {
        ...{ level: 'info', usageEntries: 200_000, refusedEntries: 20_000, retentionDays: 90 },
        statsDays: 400,
      },
      metrics: { enabled: true },
      console: { enabled: true },
      root: { username: 'root', quota: 1_000_000_000_000_000 },
      prices: { models: {}, fallback: { per: 'search_unit', units: 1_000 } },
      channels: undefined,
      tags: [],
    });
    expect(config.server.bodyLimitBytes).toBe(32 * 1024 * 1024);
  });

  it('come from the environment first, then from the file, then from the default', () => {
    const config = load('server: { port: 1, host: "127.0.0.1" }', { PORT: '9090', WORKERS: '' });

    expect(config.server).toMatchObject({ port: 9090, host: '127.0.0.1', workers: 1 });
  });

  it('are read from config/gateway.yaml, from CONFIG, and from the path that is given, in rising order', () => {
    file('config/gateway.yaml', 'server: { port: 1 }');
    const env = { CONFIG: file('second.yaml', 'server: { port: 2 }') };
    const configPath = file('third.yaml', 'server: { port: 3 }');

    expect(loadConfig({ env: {}, folder }).server.port).toBe(1);
    expect(loadConfig({ env, folder }).server.port).toBe(2);
    expect(loadConfig({ env, folder, configPath }).server.port).toBe(3);
  });

  it('of a folder are merged in the order of names, and lists of channels and tags grow', () => {
    file(
      'd/10.yaml',
      `server: { port: 1, host: "::1" }\nchannels: [${CHANNEL}]\ntags: [{ tag: x }]`,
    );
    file('d/20.yml', 'server: { port: 2 }\ntags: [{ tag: y, disabled: true }]');
    file('d/30.example.yaml', 'server: { port: 3 }');
    file('d/notes.txt', 'server: { port: 4 }');

    const config = loadConfig({ env: {}, folder, configPath: join(folder, 'd') });

    expect(config.server).toMatchObject({ port: 2, host: '::1' });
    expect(config.channels).toHaveLength(1);
    expect(config.tags.map(({ tag }) => tag)).toEqual(['x', 'y']);
  });

  it('cannot be changed afterwards', () => {
    const config = load(`channels: [${CHANNEL}]`);

    expect(Object.isFrozen(config.server)).toBe(true);
    expect(Object.isFrozen(config.channels?.[0]?.declared.models)).toBe(true);
  });

  it('split trusted proxies of the environment at commas', () => {
    const config = loadConfig({ env: { TRUSTED_PROXIES: '10.0.0.0/8, ::1' }, folder });

    expect(config.server.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
  });

  it('take as many workers as there are cores for "auto"', () => {
    expect(loadConfig({ env: { WORKERS: 'auto' }, folder }).server.workers).toBeGreaterThan(0);
  });

  it('name a price by request, search unit or million tokens', () => {
    const { prices } = load(
      'prices: { default: { per_million_tokens: 7 }, models: { a: { per_request: 0 } } }',
    );

    expect(prices).toEqual({
      fallback: { per: 'million_tokens', units: 7 },
      models: { a: { per: 'request', units: 0 } },
    });
  });
});

describe('settings that go together', () => {
  it('are the targets of alerts, named ones and that of the variable', () => {
    const { alerts } = load(
      'alerts: { targets: [{ name: on-call, slack: "https://hooks.example.com/a" }] }',
      { ALERTS_WEBHOOK_URL: 'https://hooks.example.com/b' },
    );

    expect(alerts.targets.map(({ name, form }) => [name, form])).toEqual([
      ['webhook', 'webhook'],
      ['on-call', 'slack'],
    ]);
  });

  it('are rules of a model over those for all models', () => {
    const { models } = load('models: { default: { cache_ttl_ms: 7 }, m: { coalesce: true } }');

    expect(models.named.m).toEqual({ ...models.fallback, coalesce: true });
    expect(models.fallback).toMatchObject({ cacheTtlMs: 7, coalesce: false });
  });

  it.each([
    ['no other way to log in', 'login: { passwords: false }', /neither oidc.issuer nor/],
    [
      'a header of a proxy',
      'login: { passwords: false, header: Remote-User }\nserver: { trusted_proxies: [10.0.0.1] }',
      undefined,
    ],
  ])('are passwords switched off, with %s', (_, text, mistake) => {
    if (mistake === undefined) expect(load(text).login.passwords).toBe(false);
    else expect(() => load(text)).toThrow(mistake);
  });
});

describe('variables in values', () => {
  it('are replaced, also in the middle of a text and with a default', () => {
    const config = load('store: { data_dir: "${HOME_DIR}/${SUB:-data}" }', { HOME_DIR: '/srv' });

    expect(config.store.dataDir).toBe('/srv/data');
  });

  it('become numbers and switches where those are wanted', () => {
    const config = load('server: { port: "${P:-81}" }\nmetrics: { enabled: "${M}" }', {
      M: 'false',
    });

    expect(config.server.port).toBe(81);
    expect(config.metrics.enabled).toBe(false);
  });

  it('that leave nothing count as not set', () => {
    expect(load('store: { redis_url: "${NO_REDIS:-}" }').store.redisUrl).toBeUndefined();
  });

  it('are left alone behind two dollar signs', () => {
    expect(load('store: { data_dir: "$${HOME}" }').store.dataDir).toBe('${HOME}');
  });

  it('that are missing are a mistake, once', () => {
    expect(mistakes('server:\n  port: ${NOWHERE}\n')).toEqual([
      'gateway.yaml:2: server.port: the environment variable NOWHERE is not set; set it, or write ${NOWHERE:-default}',
    ]);
  });

  it('tells an empty variable from one that is not set', () => {
    expect(mistakes('server: { host: "${HOLLOW}" }', { HOLLOW: '' })).toEqual([
      'gateway.yaml:1: server.host: the environment variable HOLLOW is empty; set it, or write ${HOLLOW:-default}',
    ]);
  });
});

describe('a part of the settings', () => {
  const TEXT = `
store: { redis_prefix: "\${PREFIX}" }
gateway: { staleness_ms: "\${STALENESS}" }
channels:
  - { name: a, provider: cohere, api_key: "\${A_KEY}", models: [m] }
  - { name: b, provider: cohere, api_key: "\${B_KEY}", models: [m] }
`;
  const sources = (env: Readonly<Record<string, string>>): ConfigSources => ({
    env,
    configPath: file('gateway.yaml', TEXT),
    folder,
  });

  it('needs nothing of the others', () => {
    const { store } = loadGroups(sources({ PREFIX: 'p:' }), ['store']);

    expect(store.redisPrefix).toBe('p:');
  });

  it('is refused for what is wrong in it', () => {
    const { mistakes: found } = refusal(() => loadGroups(sources({}), ['store', 'gateway']));

    expect(found.map(({ path }) => path.join('.'))).toEqual([
      'store.redis_prefix',
      'gateway.staleness_ms',
    ]);
  });

  it('may be the credentials of one channel', () => {
    const from = sources({ B_KEY: 'key of b' });

    expect(loadCredentials(from, 'b')?.apiKey?.reveal()).toBe('key of b');
    expect(loadCredentials(from, 'c')).toBeUndefined();
    expect(refusal(() => loadCredentials(from, 'a')).message).toContain('A_KEY is not set');
  });
});

describe('what settings speak of', () => {
  const NAMES = `
gateway: { default_model: lokal }
prices:
  models:
    m: { per_request: 1 }
    ghost: { per_request: 1 }
models:
  n: { fallbacks: [m, phantom] }
  spook: { hedge: true }
callers: { aliases: { other: m, more: spectre } }
tags:
  - tag: t
  - tag: nobody
channels:
  - { name: a, provider: cohere, api_key: k, models: [m, local], tag: t }
  - { name: b, provider: cohere, api_key: k, models: { n: real }, tag: u }
`;
  const check = (text: string): Config =>
    checkConfig({ env: {}, configPath: file('gateway.yaml', text), folder });

  it('is there, or named with its line by the check', () => {
    const found = refusal(() => check(NAMES)).mistakes.map(({ path, message }) => [
      path.join('.'),
      message,
    ]);

    const served = 'available: m, local, n';
    expect(found).toEqual([
      ['gateway.default_model', 'no channel of these settings serves "lokal"; did you mean local?'],
      ['prices.models.ghost', `no channel of these settings serves "ghost"; ${served}`],
      ['models.n.fallbacks.1', `no channel of these settings serves "phantom"; ${served}`],
      ['models.spook', `no channel of these settings serves "spook"; ${served}`],
      ['callers.aliases.more', `no channel of these settings serves "spectre"; ${served}`],
      ['tags.1.tag', 'no channel of these settings has the tag "nobody"; available: t, u'],
    ]);
  });

  it('keeps no gateway from starting, since the store may have it', () => {
    expect(load(NAMES).gateway.defaultModel).toBe('lokal');
  });

  it('is not looked for where all channels are in the store', () => {
    expect(() => check('gateway: { default_model: m }\ntags: [{ tag: t }]')).not.toThrow();
  });

  it.each(['other', 'm@t', 'cohere/m'])('may be %s, as callers may say it', (name) => {
    const text = `gateway: { default_model: "${name}" }\ncallers: { aliases: { other: m } }\nchannels: [${CHANNEL}]`;

    expect(() => check(text)).not.toThrow();
  });
});

describe('channels', () => {
  it('become what the store declares, with credentials apart', () => {
    const config = load(`
channels:
  - name: a
    provider: cohere
    api_key: top-secret
    base_url: https://rerank.example.com/
    models: { nice: real }
    tag: t
    enabled: false
`);

    expect(config.channels).toEqual([
      {
        declared: {
          name: 'a',
          provider: 'cohere',
          baseUrl: 'https://rerank.example.com',
          models: { nice: 'real' },
          tag: 't',
          ...CHANNEL_DEFAULTS,
          status: CHANNEL_DISABLED,
          settings: {},
        },
        credentials: expect.anything(),
      },
    ]);
    expect(config.channels?.[0]?.credentials.apiKey?.reveal()).toBe('top-secret');
  });

  it('serve a list of models under their own names', () => {
    const declared = load(`channels: [${CHANNEL}]`).channels?.[0]?.declared;

    expect(declared).toMatchObject({ models: { m: 'm' }, status: CHANNEL_ENABLED });
  });

  it('are none where the key is there and empty, and unknown where it is not', () => {
    expect(load('channels:').channels).toEqual([]);
    expect(load('server: {}').channels).toBeUndefined();
  });
});

describe('mistakes', () => {
  it('are all reported at once, with file, line, path and what would be right', () => {
    const found = mistakes(
      `server:
  port: 99999
  hots: localhost
  trusted_proxies: [10.0.0.0/8, nonsense, "10.1"]
gatway: {}
store:
  redis_url: http://cache
prices:
  default: { per_request: 1, per_search_unit: 2 }
  models:
    m: {}
    n: { per_request: -1 }
channels:
  - name: a
    provider: cohere
    models: []
    weight: -1
  - name: a
    provider: coher
    api_key: k
    models: [m]
    api_key_: k
  - name: c
    provider: cohere
    api_key: k
    base_url: ftp://x
    models: [m]
    settings: { nope: 1 }
`,
      { LOG_LEVEL: 'loud' },
    );

    expect(found.sort()).toEqual(
      [
        'gateway.yaml:2: server.port: must be less than or equal to 65535',
        'gateway.yaml:3: server.hots: is not a setting; did you mean host?',
        'gateway.yaml:4: server.trusted_proxies[1]: must be an address or a range such as 10.0.0.0/8',
        'gateway.yaml:4: server.trusted_proxies[2]: must be an address or a range such as 10.0.0.0/8',
        'gateway.yaml:5: gatway: is not a setting; did you mean gateway?',
        'gateway.yaml:7: store.redis_url: must begin with redis://, rediss://, redis+sentinel:// or redis+cluster://',
        'gateway.yaml:9: prices.default: has more than one of per_request, per_search_unit, per_million_tokens; keep one',
        'gateway.yaml:11: prices.models.m: needs one of per_request, per_search_unit, per_million_tokens',
        'gateway.yaml:12: prices.models.n.per_request: must be greater than or equal to 0',
        'gateway.yaml:14: channels[0]: credentials.api_key is missing: API key, sent as a bearer token',
        'gateway.yaml:16: channels[0].models: must not be an empty list',
        'gateway.yaml:17: channels[0].weight: must be greater than or equal to 0',
        'gateway.yaml:18: channels[1].name: "a" exists already (gateway.yaml:14); names must be unique',
        'gateway.yaml:19: channels[1].provider: "coher" is not a provider; did you mean cohere?',
        'gateway.yaml:22: channels[1].api_key_: is not a setting; did you mean api_key?',
        'gateway.yaml:28: channels[2].settings.nope: is not known to cohere; it knows max_tokens_per_doc',
        'gateway.yaml:26: channels[2].base_url: must begin with http:// or https://',
        'environment LOG_LEVEL: log.level: must be one of [trace, debug, info, warn, error, fatal, silent]',
      ].sort(),
    );
  });

  it('come in the order of their lines, with the environment at the end', () => {
    const found = mistakes(
      'log: { level: loud }\nchannels:\n  - { name: a, provider: nobody, models: [m] }\nserver:\n  port: "${NOWHERE}"\n  drain_ms: 1.5\n',
      { WORKERS: 'many' },
    );

    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'gateway.yaml:1',
      'gateway.yaml:3',
      'gateway.yaml:5',
      'gateway.yaml:6',
      'environment WORKERS',
    ]);
  });

  it('of two files come file by file', () => {
    file('d/2.yaml', 'server: { port: x }');
    file('d/10.yaml', '\n\nserver: { host: 1 }\nlog: { level: x }');
    file('d/11.yaml', 'metrics: { enabled: x }');

    const { mistakes: found } = refusal(() =>
      loadConfig({ env: {}, folder, configPath: join(folder, 'd') }),
    );

    expect(found.map(({ where }) => where.slice(folder.length + 3))).toEqual([
      '10.yaml:3',
      '10.yaml:4',
      '11.yaml:1',
      '2.yaml:1',
    ]);
  });

  it.each([
    ['server: { port: high }', 'server.port: must be a number such as 8080'],
    ['server: { port: 1.5 }', 'server.port: must be a whole number such as 8080'],
    ['server: { port: "$${PORT}" }', 'server.port: must be a number such as 8080'],
    [
      'channels: [{ name: a, provder: local, models: [m] }]',
      'channels[0].provder: is not a setting; did you mean provider?',
    ],
    ['metrics: { enabled: maybe }', 'metrics.enabled: must be true or false'],
    ['metrics: { token: short }', 'metrics.token: must have at least 8 characters'],
    ['server: { trusted_proxies: "10.0.0.0/8" }', 'must be a list, such as [a, b]'],
    ['store: { redis_prefix: "a b" }', 'must be text such as rg: without spaces'],
    ['prices: { default: 5 }', 'by name: per_request, per_search_unit, per_million_tokens'],
    ['prices: { models: { m: { per_requests: 1 } } }', 'did you mean per_request?'],
    [
      'log: { bogus: 1 }',
      'available: level, format, usage_entries, refused_entries, retention_days, audit_days, stats_days',
    ],
    [
      'oidc: { issuer: "http://id.example.com", client_id: a, client_secret: of-the-client }\nserver: { public_url: "https://a.example" }',
      'oidc.issuer: must begin with https://',
    ],
    ['models: { m: { fallbacks: [a, a] } }', 'models.m.fallbacks[1]: is in the list already'],
    ['alerts: { ending_days: 7d }', 'alerts.ending_days: must be a list, such as [7, 1]'],
    [
      'alerts: { targets: [{ name: a, mail: a@example.com }, { name: a, mail: b@example.com }] }',
      'alerts.targets[1]: has the name of another entry; names must be unique',
    ],
    [
      'server: { host: "0.0.0.0:9000" }',
      'server.host: must be an address or a name without a port',
    ],
    ['server: { host: "[::1]" }', 'server.host: must be an address or a name without a port'],
  ])('%s: one message, with what would be right', (text, message) => {
    expect(mistakes(text)).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['store: { data_dir: PATH }', 'must be a folder; this is a file'],
    ['mail: { outbox_dir: PATH }', 'must be a folder; this is a file'],
    ['alerts: { backup_dir: PATH }', 'must be a folder that exists'],
    ['gateway: { prompts_dir: PATH }', 'must be a folder that exists'],
  ])('%s is refused if it is a file', (text, message) => {
    const path = file('a-file', '');

    expect(mistakes(text.replace('PATH', path))).toEqual([expect.stringContaining(message)]);
    expect(load(text.replace('PATH', folder))).toBeDefined();
  });

  it.each([
    ['alerts: { webhook_url: ftp://a }', 'must be a URL with http:// or https://'],
    ['alerts: { webhook_secret: "whsec_!!!" }', 'must be base64 after whsec_'],
    [
      'alerts: { targets: [{ name: a, webhook: "http://a", secret: whsec_a+b }] }',
      'must be base64 after whsec_',
    ],
    [
      'alerts: { targets: [{ name: a, mail: "a@example.com, b@example.com" }] }',
      'must be an address such as ada@example.com; several are a list',
    ],
    ['mail: { from: Gateway: team }', 'has a colon in a text within braces or brackets'],
    ['channels: [{ name: a, provider: local, models: [m] }', 'close them with a ] before it'],
    ['telemetry: { otlp_headers: "a=1,b c" }', 'must be name=value, separated by commas'],
    ['telemetry: { otlp_headers: "a=%2" }', 'must be name=value, separated by commas'],
    ['mail: { smtp_url: mail.example.com }', 'must begin with smtp:// or smtps:// and name a'],
    ['mail: { smtp_url: "smtp:///" }', 'must begin with smtp:// or smtps:// and name a server'],
    ['mail: { smtp_url: "smtp://host:port" }', 'must begin with smtp:// or smtps:// and name a'],
    ['root: { password: short }', 'must have 8 to 256 characters'],
    ['root: { username: ada-lovelace, password: ada-lovelace }', 'not be made from the name'],
    ['store: { encryption_keys: "a:12345678,a:87654321" }', 'and no id twice'],
    ['store: { encryption_keys: "a:1234567" }', 'each at least 8 characters'],
    ['gateway: { default_model: "" }', 'must not be empty'],
    [`gateway: { default_model: ${'m'.repeat(1_001)} }`, 'must have at most 1000 characters'],
    ['channels: [{ name: a, provider: local, models: {} }]', 'at least one name with that of the'],
    ['channels: [{ name: a, provider: local, models: 5 }]', 'must be a list of models, such as'],
    ['channels: [{ name: a, provider: local, models: [[m]] }]', 'must be a string, not a list'],
    ['channels: [{ {a: 1}: b }]', 'a setting must have a plain name'],
    ['channels: [{ name: a, models: [*m] }]', 'channels[0].models[0]: refers to a value (*name)'],
  ])('say what %s should be', (text, message) => {
    const found = mistakes(text).filter((line) => !line.includes('is missing'));

    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found[0]).toMatch(/^gateway\.yaml:1: /);
  });

  const NO_VALUE =
    'is the name of a variable in place of its value; in a file, ${NAME} stands for the value of NAME';

  it.each([
    ['$KEY', NO_VALUE],
    ['%COHERE_KEY%', NO_VALUE],
    ['env:COHERE_KEY', NO_VALUE],
    ['os.environ/COHERE_KEY', NO_VALUE],
    ['process.env.COHERE_KEY', NO_VALUE],
    ['$(COHERE_KEY)', NO_VALUE],
    ['$${KEY}', NO_VALUE],
    [
      'Bearer sk-hush',
      'begins with "Bearer", which the gateway adds itself; give only what comes after it',
    ],
    ['<your key>', 'is a placeholder; give the secret itself'],
    ['your-api-key', 'is a placeholder; give the secret itself'],
    ['sk-xxxxxxxx', 'is a placeholder; give the secret itself'],
    ['{{ cohere_key }}', NO_VALUE],
  ])('include the key %s', (key, message) => {
    const found = mistakes(
      `channels:\n  - name: a\n    provider: cohere\n    models: [m]\n    api_key: ${JSON.stringify(key)}\n`,
    );

    expect(found).toEqual([`gateway.yaml:5: channels[0].api_key: ${message}`]);
  });

  it.each(['${COHERE-API-KEY}', '${}', 'a ${ b', '${NAME'])(
    'include %s, which begins a variable and is none',
    (text) => {
      expect(mistakes(`store:\n  data_dir: ${JSON.stringify(text)}\n`)).toEqual([
        expect.stringContaining(
          'gateway.yaml:2: store.data_dir: has a ${ that does not start a variable',
        ),
      ]);
    },
  );

  it('are none in a key with its scheme, where the channel sends it as it is', () => {
    const text = `channels: [{ name: a, provider: openai-compatible, base_url: "http://h", models: [m],
      api_key: "Basic abc", settings: { authorization_scheme: "" } }]`;

    expect(() => load(text)).not.toThrow();
  });

  it.each([
    ['https://user:pw@host', 'must not carry a user or password; put secrets under credentials'],
    ['https://host/?a=b', 'must end with the path: no "?" and no "#"'],
    ['host:80', 'must begin with http:// or https://'],
    ['//host', 'must be a URL such as https://rerank.example.com'],
  ])('include the base URL %s', (url, message) => {
    const found = mistakes(
      `channels: [{ name: a, provider: cohere, api_key: k, models: [m], base_url: "${url}" }]`,
    );

    expect(found).toEqual([`gateway.yaml:1: channels[0].base_url: ${message}`]);
  });

  it.each([
    ['redis+sentinel://:hush@127.0.0.1:26379', 'must name the master'],
    ['redis://a:b:c', 'names a server that cannot be read'],
    ['redis://:hush@127.0.0.1:1,127.0.0.1:2/3', 'must not name a database other than 0'],
    ['redis://%zz:hush@h', 'write a percent sign in a user, a password or a master as %25'],
    ['redis://%zz@h', 'write a percent sign in a user, a password or a master as %25'],
    ['redis://:hush@127.0.0.1:19710/abc', 'must end with a database number'],
    ['redis://', 'names a server that cannot be read'],
  ])('include the Redis URL %s, beside all others', (url, message) => {
    const found = mistakes('server: { port: high }', { REDIS_URL: url });

    expect(found).toHaveLength(2);
    expect(found).toContainEqual(expect.stringContaining('server.port: '));
    expect(found).toContainEqual(expect.stringContaining('environment REDIS_URL: store.redis_url'));
    expect(found).toContainEqual(expect.stringContaining(message));
    expect(found.join()).not.toContain('hush');
  });

  it('include trusted ranges of IPv4 in IPv6 form that hold more than IPv4', () => {
    const ranges = ['::ffff:10.0.0.0/8', '::ffff:10.0.0.0/104', '::ffff:0:0/95', '::ffff:0:0/96'];

    expect(mistakes(`server: { trusted_proxies: ${JSON.stringify(ranges)} }`)).toEqual(
      [0, 2].map(
        (index) =>
          `gateway.yaml:1: server.trusted_proxies[${index}]: is IPv4 in IPv6 form, where the prefix is 96 to 128; write an IPv4 range such as 10.0.0.0/8`,
      ),
    );
  });

  it('include private upstreams where they are forbidden', () => {
    const channel = (url: string): string =>
      `{ name: ${JSON.stringify(url)}, provider: cohere, api_key: k, models: [m], base_url: "${url}" }`;
    const urls = ['http://127.0.0.1', 'http://[::1]:80', 'http://10.1.2.3', 'http://localhost'];
    const text = `gateway: { allow_private_upstreams: false }\nchannels: [${[...urls, 'https://api.example.com', 'http://8.8.8.8'].map(channel).join(', ')}]`;

    expect(mistakes(text)).toHaveLength(urls.length);
  });

  it('of syntax come with their line', () => {
    expect(mistakes('server:\n  port: [1\n')[0]).toMatch(/^gateway\.yaml:\d+: /);
    expect(mistakes('a: 1\na: 2')[0]).toBe(
      'gateway.yaml:2: a is set twice in the same group; keep one, or begin another entry of a list with "- "',
    );
    expect(mistakes('- 1')[0]).toContain('the file must hold settings by name');
  });

  it('of a file that is not there name it', () => {
    const error = refusal(() => loadConfig({ env: {}, configPath: join(folder, 'none.yaml') }));

    expect(error.message).toContain('none.yaml: cannot be read (ENOENT)');
  });

  it('have a place for scripts: file and line, or the variable', () => {
    const { mistakes: found } = refusal(() => load('server: { port: x }', { WORKERS: 'many' }));

    expect(found.map(mistakeWire)).toEqual([
      expect.objectContaining({ file: join(folder, 'gateway.yaml'), line: 1, path: 'server.port' }),
      { variable: 'WORKERS', path: 'server.workers', message: expect.any(String) },
    ]);
  });

  it('never quote a secret', () => {
    const secret = 'hush';
    const { message } = refusal(() =>
      load(`root: { password: ${secret} }\nmetrics: { token: ${secret} }`, {
        ENCRYPTION_KEY: secret,
        REDIS_URL: secret,
      }),
    );

    expect(message.match(/\n/g)).toHaveLength(4);
    expect(message).not.toContain(secret);
  });

  it('survive prototype keys and endless aliases', () => {
    expect(mistakes('__proto__: { port: 1 }')).toEqual([
      'gateway.yaml:1: a setting must have a plain name',
    ]);
    expect(mistakes('server: &a { host: *a }').join()).toContain('nested too deeply');
  });
});

describe('mistakes that people make', () => {
  const channel = (more: string): string =>
    `channels:\n  - name: a\n    provider: cohere\n    api_key: key\n${more}`;
  const sound = channel('    models: [m]\n');
  const check = (text: string, env: Readonly<Record<string, string>> = {}): string[] =>
    refusal(() => checkConfig({ env, configPath: file('gateway.yaml', text), folder }))
      .message.split('\n')
      .slice(1)
      .map((line) => line.trim().replaceAll(folder + '/', ''));

  it.each([
    [
      'a model without brackets',
      channel('    models: rerank-v3.5\n'),
      ':5: channels[0].models: must be a list of models: [rerank-v3.5]',
    ],
    [
      'pairs in a list',
      channel('    models:\n      - m: x\n'),
      ':6: channels[0].models[0]: must be a name; to give the names of the upstream too, write each as a line "m: …" without "- "',
    ],
    [
      'channels by name',
      'channels:\n  a:\n    provider: local\n',
      ':1: channels: must be a list; begin each channel with "- ", such as "- name: a"',
    ],
    [
      'a line further left',
      'channels:\n  - name: a\n    provider: local\n   models: [m]\n',
      /^:4: is indented unlike the lines around it/,
    ],
    [
      'an entry further left',
      'channels:\n  - name: a\n  provider: local\n',
      /^:3: is indented unlike the lines around it/,
    ],
    [
      'members beside their group',
      'server:\nport: 8080\n',
      ':2: port: belongs below "server:", indented by two spaces',
    ],
    [
      'a list in quotes',
      channel('    models: "[m, n]"\n'),
      ':5: channels[0].models: must be a list of models: [m, n], without quotes',
    ],
    [
      'an entry without a space',
      'channels:\n  -name: a\n    provider: local\n',
      ':2: needs a space after the "-" that begins an entry of a list',
    ],
    [
      'a variable within braces',
      'store: { data_dir: ${DIR} }\n',
      ':1: has a ${ within braces or brackets; put that value in quotes',
    ],
    [
      'a variable in a line of its own that is indented wrongly',
      'store:\n  data_dir: ${DIR}\n   redis_url: ${URL}\n',
      /^:3: is indented unlike the lines around it/,
    ],
    [
      'braces of a template',
      `\nstore:\n  data_dir: {{ dir }}\n`,
      ':3: store.data_dir: a setting must have a plain name; put a text that begins with { or [ in quotes',
    ],
    [
      'a path of Windows',
      'store:\n  data_dir: "C:\\data"\n',
      ':2: has a backslash in double quotes, which begins an escape there; use single quotes',
    ],
    [
      'a URL for an address',
      'server:\n  host: http://0.0.0.0\n',
      ':2: server.host: must be an address or a name without a port, such as 0.0.0.0 or ::',
    ],
    [
      'an address for a URL',
      'server:\n  public_url: example.com\n',
      ':2: server.public_url: must be a URL with http:// or https://',
    ],
    [
      'one of several keys',
      channel('    models: [m]\n').replace('api_key: key', 'api_keys: key'),
      ':4: channels[0].api_keys: must be a list, such as [a, b]',
    ],
    [
      'a key twice',
      channel('    models: [m]\n').replace('api_key: key', 'api_keys: [one, two, " one"]'),
      ':4: channels[0].api_keys[2]: is in the list already',
    ],
    [
      'a member of another group',
      'gateway:\n  breaker_failures: 3\n',
      ':2: gateway.breaker_failures: belongs below "traffic:", indented by two spaces',
    ],
    ['a tab', 'server:\n\tport: 8080\n', ':2: is indented with a tab; use spaces'],
    [
      'a colon without a space',
      'server:\n  port:8080\n',
      ':2: server: needs a space after the colon: "port: "',
    ],
    [
      'the same beside others',
      'server:\n  host: a\n  port:8080\n',
      ':3: needs a space after the colon: "port: "',
    ],
    ['the same on its own', 'port:8080\n', ':1: needs a space after the colon: "port: "'],
    [
      'the same with a secret',
      'store:\n  data_dir: d\n  encryption_key:secret-secret\n',
      ':3: needs a space after the colon: "encryption_key: "',
    ],
    [
      'dollars',
      channel('    models: [m]\n    budget: 50usd\n'),
      ':6: channels[0].budget: must be a number of units (a dollar has 500000): 25000000',
    ],
    [
      'dollars with a sign',
      `${sound}prices:\n  default:\n    per_request: $0.002\n`,
      ':8: prices.default.per_request: must be a number of units (a dollar has 500000): 1000',
    ],
    [
      'merge keys',
      'channels:\n  - <<: {provider: local, models: [m]}\n    name: a\n',
      ':2: channels[0].<<: is a merge key, which is not read; repeat the settings, or give a whole value a name (&name) and refer to it (*name)',
    ],
    [
      'merge keys that would bring a credential',
      'channels:\n  - <<: {api_key: key}\n    name: a\n    provider: cohere\n    models: [m]\n',
      /^:2: channels\[0\]\.<<: is a merge key/,
    ],
    [
      'a line further right',
      'channels:\n  - name: a\n    provider: local\n      models: [m]\n',
      /^:4: is indented unlike the lines around it/,
    ],
    [
      'channels inside another group',
      `server:\n  host: a\n  channels: []\n`,
      ':3: server.channels: belongs at the beginning of a line, outside "server:"',
    ],
    [
      'a colon of a Chinese keyboard',
      'server:\n  port：8080\n',
      ':2: server: needs a space after the colon: "port: "',
    ],
    [
      'the same beside others',
      'channels:\n  - name：a\n    provider: local\n',
      ':2: has a character (U+FF1A) that only looks like a space or a colon; type a plain one',
    ],
    [
      'spaces of a web page',
      'server:\n\u00a0\u00a0port: 8080\n',
      ':2: has a character (U+00A0) that only looks like a space or a colon; type a plain one',
    ],
    [
      'another encoding',
      Buffer.from('server:\n  host: é\n', 'latin1'),
      ':2: is not UTF-8; save the file as UTF-8',
    ],
    ['UTF-16', Buffer.from('\ufeffport: 1\n', 'utf16le'), /^:1: is not UTF-8/],
    [
      'a quote that is left open',
      'store:\n  data_dir: "d\nserver:\n  port: 1\n',
      ':2: begins with " and is never closed',
    ],
    [
      'two documents',
      'server:\n  port: 1\n---\nserver:\n  port: 2\n',
      ':3: begins a second document; move it to a file of its own, or remove the "---"',
    ],
    [
      'a sign of YAML',
      'store:\n  data_dir: @d\n',
      ':2: begins with a sign that means something else in YAML; put the text in quotes',
    ],
    [
      'a tag of YAML',
      'store:\n  data_dir: !secret d\n',
      ':2: has a YAML tag (a word after "!"), which is not supported; write ${NAME} for a variable, or put the text in quotes',
    ],
    [
      'a reference to nothing',
      'store:\n  data_dir: *hush\n',
      ':2: store.data_dir: refers to a value (*name) that nothing before it has named (&name); put a text that begins with * in quotes',
    ],
    [
      'a unit',
      'gateway:\n  deadline_ms: 30s\n',
      ':2: gateway.deadline_ms: must be a number such as 30000, without a unit or a separator',
    ],
    [
      'a number without end',
      'gateway:\n  deadline_ms: .inf\n',
      ':2: gateway.deadline_ms: is too large a number',
    ],
    [
      'dollars without a sign',
      `${sound}prices:\n  default:\n    per_request: 0.002\n`,
      ':8: prices.default.per_request: must be a whole number of units (a dollar has 500000): 1000',
    ],
    [
      'a list for a text',
      channel('    models: [m]\n    tag: [a, b]\n'),
      ':6: channels[0].tag: must be a string, not a list',
    ],
    [
      'a group for a text',
      channel('    models: [m]\n    tag: { a: b }\n'),
      ':6: channels[0].tag: must be a string, not a group',
    ],
    [
      'an empty entry',
      channel('    models:\n      -\n'),
      ':6: channels[0].models[0]: is empty; remove it, or give it a value',
    ],
    [
      'names without those of the upstream',
      channel('    models:\n      m:\n'),
      ':5: channels[0].models: must have at least one name with that of the upstream, such as "m: m"; names alone are a list, such as [m]',
    ],
    [
      'a channel that is a word',
      'channels:\n  - cohere\n',
      ':2: channels[0]: must have a name, a provider and models; begin it with "- name: "',
    ],
    [
      'models of a channel beside it',
      `${sound}models:\n  - m\n`,
      ':6: models: must have rules by the names of models, such as "rerank-v3.5: { hedge: true }"; what a channel serves is in its own "models:"',
    ],
    [
      'tags by name',
      'tags:\n  t: { disabled: true }\n',
      ':1: tags: must be a list; begin each tag with "- ", such as "- tag: t"',
    ],
    ['tags as words', 'tags: [t]\n', ':1: tags[0]: must be a group, such as "- tag: t"'],
    [
      'a part of the names of several',
      sound.replace('cohere', 'azure-'),
      /"azure-" is not a provider; did you mean one of azure-cosmos-rerank, azure-data-ai, /,
    ],
    [
      'a file of LiteLLM',
      'model_list:\n  - model_name: m\n',
      ':1: model_list: is a setting of LiteLLM; here, "channels:" has a provider, an api_key and models for each entry: "rerank-gateway import litellm FILE" carries them over',
    ],
  ])('are explained: %s', (_, text, expected) => {
    const found = mistakes(text);

    expect(found).toHaveLength(1);
    const message = found[0]?.replace('gateway.yaml', '');
    if (typeof expected === 'string') expect(message).toBe(expected);
    else expect(message).toMatch(expected);
  });

  it.each([
    [
      'a credential with a space',
      sound.replace('api_key: key\n', 'credentials: { api_key: " key" }\n'),
      'gateway.yaml:4: channels[0].credentials.api_key: begins or ends with a space, which is not sent; remove it',
    ],
    [
      'quotes of a word processor',
      sound.replace('[m]', '[“m”]'),
      'gateway.yaml:5: channels[0].models[0]: begins with a typographic quote, which is a part of the text; use " or no quotes',
    ],
    [
      'a key with a space',
      sound.replace('key\n', '"key "\n'),
      'gateway.yaml:4: channels[0].api_key: begins or ends with a space, which is not sent; remove it',
    ],
    [
      'a fallback to itself',
      `${sound}models:\n  m:\n    fallbacks: [m]\n`,
      'gateway.yaml:8: models.m.fallbacks[0]: is the model itself; name another one',
    ],
    [
      'an empty file',
      '# nothing\n',
      'gateway.yaml: holds no settings; add some, such as "channels:", or remove it',
    ],
    [
      'an attempt longer than its request',
      `${sound}gateway:\n  attempt_timeout_ms: 40000\n  deadline_ms: 30000\n`,
      'gateway.yaml:7: gateway.attempt_timeout_ms: is longer than the deadline of a request, gateway.deadline_ms: 30000; shorten it, or raise that',
    ],
    [
      'the same of a channel',
      `${sound}    timeout_ms: 9000\ngateway:\n  deadline_ms: 5000\n`,
      'gateway.yaml:6: channels[0].timeout_ms: is longer than the deadline of a request, gateway.deadline_ms: 5000; shorten it, or raise that',
    ],
    [
      'an attempt longer than a request without a deadline of its own',
      `${sound}    timeout_ms: 31000\n`,
      'gateway.yaml:6: channels[0].timeout_ms: is longer than the deadline of a request, gateway.deadline_ms: 30000; shorten it, or raise that',
    ],
    [
      'a secret of no webhook',
      `${sound}alerts:\n  webhook_secret: whsec_c2VjcmV0LXNlY3JldA==\n`,
      'gateway.yaml:7: alerts.webhook_secret: has no effect without alerts.webhook_url; add that, or remove this',
    ],
    [
      'the budget of no tag',
      `${sound}    budget: 10\n    budget_scope: tag\n`,
      'gateway.yaml:7: channels[0].budget_scope: has no effect without a tag; add that, or remove this',
    ],
    [
      'a login that ends before it is idle',
      `${sound}accounts:\n  session_idle_ms: 3000000000\n`,
      'gateway.yaml:7: accounts.session_idle_ms: is longer than accounts.session_max_ms, which ends a login before; shorten it',
    ],
  ])('are found by a check, and a gateway warns and starts: %s', (_, text, expected) => {
    const sources = { env: {}, configPath: file('gateway.yaml', text), folder };

    expect(check(text)).toEqual([expected]);
    expect(() => checkConfig(sources, { storeChannels: true })).toThrow(expected);
    expect(loadToStart(sources).warnings).toEqual([join(folder, expected)]);
    load(text);
  });

  it('are not found in settings that have what they need', () => {
    const alerts = 'alerts:\n  webhook_url: https://example.com\n  webhook_secret: opensesame\n';
    const accounts = 'accounts:\n  session_idle_ms: 5000\n  session_max_ms: 5000\n';
    const tagged = `${sound}    tag: t\n    budget: 10\n    budget_scope: tag\n`;

    const configPath = file('gateway.yaml', tagged + alerts + accounts);

    expect(loadToStart({ env: {}, configPath, folder }).warnings).toEqual([]);
  });

  it('are found by a check: two settings for encryption keys, and unused names in .env', () => {
    const secret = 's'.repeat(32);
    const env = { ENCRYPTION_KEY: secret, ENCRYPTION_KEYS: `a:${secret}` };
    file('.env', 'PORT=1\n\nDEFUALT_MODEL=m\nCOHERE_API_KEY=k\nMY_KEY=k\nREDIS_PASSWORD=p\n');

    expect(check(sound.replace('key\n', '${MY_KEY:-key}\n'), env)).toEqual([
      '.env:3: DEFUALT_MODEL is not a setting; did you mean DEFAULT_MODEL?',
      '.env:4: COHERE_API_KEY is not used: it is not a setting, and no file has ${COHERE_API_KEY}',
      'environment ENCRYPTION_KEY: store.encryption_key: is set together with encryption_keys; list all keys there, and remove this one',
    ]);
  });
});

it('names in .env that are set twice are found by a check', () => {
  file('.env', 'PORT=1\nHOST=a\nexport PORT=2\n');
  const sources = { env: {}, configPath: file('gateway.yaml', `channels: [${CHANNEL}]`), folder };

  expect(refusal(() => checkConfig(sources)).mistakes).toEqual([
    {
      where: join(folder, '.env:1'),
      path: [],
      message: `PORT is set again in ${join(folder, '.env:3')}, which counts; remove one`,
    },
  ]);
});

describe('defaults', () => {
  it('let in nobody who was not invited', () => {
    const { accounts, metrics, server } = load('');

    expect(accounts).toMatchObject({ registration: false, keysPerAccount: 200 });
    expect(metrics).toMatchObject({ token: undefined, allowIps: ['127.0.0.0/8', '::1'] });
    expect(server).toMatchObject({ trustedProxies: [], hstsMaxAgeS: 0 });
  });

  it.each([
    ['short', /8 to 256/],
    ['password123', /first that anybody would try/],
    ['root', /8 to 256/],
    ['root1234', /first that anybody would try/],
    ['overseer-99', /must not be made from the name/],
    ['aaaaaaaaaaaa', /first that anybody would try/],
  ])('hold the root password to the rules for passwords: %s', (password, why) => {
    expect(() => load('', { ROOT_USERNAME: 'overseer', ROOT_PASSWORD: password })).toThrow(why);
  });
});

describe('printed settings', () => {
  it('mask every secret and read like a file', () => {
    const secrets = {
      REDIS_URL: 'redis://:hunter22@cache',
      ENCRYPTION_KEY: 'hunter22-encryption',
      ROOT_PASSWORD: 'hunter22-root',
      METRICS_TOKEN: 'hunter22-metrics',
    };
    const config = load(
      'channels: [{ name: a, provider: cohere, api_key: hunter22, models: [m] }]\ntags: [{ tag: t }]',
      secrets,
    );

    const printed = printConfig(config);

    expect(printed).not.toContain('hunter22');
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('hunter22');
    expect(parse(printed)).toMatchObject({
      server: { port: 8080 },
      store: { redis_url: '[secret]' },
      prices: { default: { per_search_unit: 1_000 } },
      channels: [{ name: 'a', enabled: true, credentials: { api_key: '[secret]' } }],
      tags: [{ tag: 't', disabled: false }],
    });
  });
});

describe('the files of the repository', () => {
  const COHERE = { COHERE_API_KEY: 'k', VOYAGE_API_KEY: 'k' };

  it('start with a local channel that costs nothing', () => {
    const config = loadConfig({ env: {} });

    expect(config.channels?.map(({ declared }) => declared)).toMatchObject([
      { name: 'local', provider: 'local', tag: 'local', models: { local: 'local/lexical' } },
    ]);
    expect(config.prices.models.local).toEqual({ per: 'request', units: 0 });
    expect(config.gateway.defaultModel).toBe('local');
  });

  it('show every setting with its default, and every variable', () => {
    const example = loadConfig({ env: COHERE, configPath: 'config/gateway.example.yaml' });
    const defaults = loadConfig({ env: {}, folder });
    for (const group of Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]) {
      expect(example[group]).toEqual(defaults[group]);
    }
    expect(example.models.fallback).toEqual(defaults.models.fallback);
    expect(example.prices.fallback).toEqual(defaults.prices.fallback);
  });
});

it('knows the settings that its variables stand for', () => {
  const values: Readonly<Record<string, string>> = {
    PORT: '1',
    WORKERS: '1',
    HTTP2: 'false',
    ROOT_SHOW_SECRETS: 'false',
    TRUSTED_PROXIES: '::1',
    HSTS_MAX_AGE_S: '1',
    ENCRYPTION_KEYS: 'b:second-key,a:first-key',
    METRICS_ALLOW_IPS: '10.0.0.0/8,::1',
    REDIS_URL: 'redis://cache',
    ROOT_PASSWORD: 'some other value',
    LOG_LEVEL: 'warn',
    PUBLIC_URL: 'https://rerank.example.com',
    REGISTRATION: 'false',
    LOGIN_PASSWORDS: 'true',
    LOGIN_HEADER: 'Remote-User',
    OIDC_ISSUER: 'https://id.internal',
    SMTP_URL: 'smtp://mail.internal:587',
    ALERTS_WEBHOOK_URL: 'https://hooks.internal/x?y',
    LOG_FORMAT: 'json',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, tenant=c',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
    OTLP_LOGS: 'true',
  };
  const env = Object.fromEntries(
    Object.keys(ENVIRONMENT_SETTINGS).map((name) => [name, values[name] ?? 'some-value']),
  );

  expect(() => loadConfig({ env, folder })).not.toThrow();
});
