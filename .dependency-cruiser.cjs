/** The layers of docs/ARCHITECTURE.md as rules. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: allowed },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src', pathNot: '^src/(main|cli)\\.ts$' },
      to: {},
    },
    {
      name: 'src-never-test',
      severity: 'error',
      from: { path: '^src' },
      to: { path: '^(test|bench)' },
    },
    only('core', '^src/core', ['^src/core'], 'core is pure: it knows nothing but itself'),
    only(
      'providers',
      '^src/providers',
      ['^src/(core|providers)', '^(node:)?(buffer|crypto)$', 'node_modules/(@types/)?(aws4|jose)/'],
      'a dialect is pure; it may sign: aws4 and jose only turn bytes into signatures, they make no calls',
    ),
    only(
      'store',
      '^src/store/[^/]+\\.ts$',
      ['^src/core', '^src/store/[^/]+\\.ts$', '^(node:)?crypto$'],
      'the interface and the vault know the domain, no driver',
    ),
    only(
      'store-redis',
      '^src/store/redis',
      [
        '^src/core',
        '^src/store/[^/]+\\.ts$',
        '^src/store/redis',
        'ioredis',
        '^(node:)?(fs|crypto|url|path)$',
      ],
      'ioredis lives here and nowhere else',
    ),
    only(
      'store-sqlite',
      '^src/store/sqlite',
      [
        '^src/core',
        '^src/store/[^/]+\\.ts$',
        '^src/store/sqlite',
        'libsql',
        '^(node:)?(sqlite|fs|crypto|url|path|module|events|timers/promises)$',
      ],
      'the SQLite driver lives here and nowhere else',
    ),
    only(
      'gateway',
      '^src/gateway',
      [
        '^src/(core|providers|gateway)',
        '^src/store/store\\.ts$',
        'undici',
        'lru-cache',
        '^(node:)?(diagnostics_channel|dns|net|timers/promises|util|zlib)$',
        // llama.ts: whether a model's file is there, and how many cores may work on it.
        '^(node:)?(fs/promises|os)$',
      ],
      'the data plane: no HTTP server, no driver',
    ),
    {
      name: 'undici-in-upstream-only',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/gateway/upstream\\.ts$' },
      to: { path: 'node_modules/undici' },
    },
    only(
      'management',
      '^src/management',
      [
        '^src/(core|management|providers)',
        '^src/store/store\\.ts$',
        'ipaddr\\.js',
        '^(node:)?crypto$',
      ],
      'the control plane: domain functions over the store; a channel is judged by what its provider declares',
    ),
    only(
      'telemetry',
      '^src/telemetry',
      [
        '^src/(core|telemetry)',
        '^src/gateway/events\\.ts$',
        // usage-log.ts: the entries that it appends.
        '^src/store/store\\.ts$',
        'pino',
        'prom-client',
        '^(node:)?(perf_hooks|cluster|process)$',
      ],
      'telemetry reads events and nothing else',
    ),
    only(
      'mail',
      '^src/mail',
      [
        '^src/(core|mail)',
        '^src/management/mail\\.ts$',
        'nodemailer',
        '^(node:)?(fs|fs/promises|crypto|path)$',
      ],
      'nodemailer lives here and nowhere else',
    ),
    {
      name: 'nodemailer-in-mail-only',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/mail' },
      to: { path: 'node_modules/(@types/)?nodemailer' },
    },
    only(
      'http',
      '^src/http',
      [
        '^src/(core|gateway|management|http)',
        '^src/store/store\\.ts$',
        'express',
        'passport',
        'joi',
        'helmet',
        'ipaddr\\.js',
        'lru-cache',
        '^(node:)?(http|zlib|crypto|stream|url|net|buffer|fs|path|events|util)$',
      ],
      'the only folder that knows Express',
    ),
    {
      name: 'express-in-http-only',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/http' },
      to: { path: 'node_modules/(express|passport|helmet)' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
