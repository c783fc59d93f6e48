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
      from: {
        orphan: true,
        path: '^src',
        pathNot: '^src/bytes/wasm/|^src/(main|cli)\\.ts$|^src/console/.*\\.(mjs|d\\.ts|css)$',
      },
      to: {},
    },
    {
      name: 'src-never-test',
      severity: 'error',
      from: { path: '^src' },
      to: { path: '^(test|bench)' },
    },
    only(
      'bytes',
      '^src/bytes/[^/]+\\.ts$',
      ['^src/bytes', '^(node:)?buffer$'],
      'how bodies lie in memory: it knows nothing of what they mean',
    ),
    {
      name: 'programs-without-jest',
      comment: 'Benchmarks, chaos and stubs run by themselves, where there is no jest.',
      severity: 'error',
      from: { path: '^(bench|test/chaos|test/stubs)/', pathNot: '[.]test[.]ts$' },
      to: { path: 'node_modules/(@jest/globals|jest)', reachable: true },
    },
    {
      name: 'bytes-by-the-door',
      comment:
        'what is behind index.ts is the inside of one room: who knows it cannot be changed without it',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/bytes' },
      to: { path: '^src/bytes/', pathNot: '^src/bytes/index\\.ts$' },
    },
    only(
      'core',
      '^src/core',
      ['^src/(core|bytes)'],
      'core is pure: it knows nothing but itself, and bodies by the door of bytes',
    ),
    only(
      'ingress',
      '^src/ingress',
      ['^src/(core|bytes|ingress)', 'node_modules/joi/'],
      'a caller’s dialect is pure: bytes to a request, a ranking to bytes',
    ),
    only(
      'providers',
      '^src/providers',
      [
        '^src/(core|bytes|providers|rankers)',
        '^(node:)?(buffer|crypto)$',
        'node_modules/(@types/)?(aws4|jose)/',
      ],
      'a dialect is pure; it may sign: aws4 and jose only turn bytes into signatures, they make no calls',
    ),
    only(
      'rankers',
      '^src/rankers',
      // llama.ts: whether a model's file is there, and how many cores may work on it.
      ['^src/(core|bytes|rankers)', '^(node:)?(fs/promises|os)$'],
      'what ranks in this process: it knows no channel and no provider',
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
        '^src/(core|bytes)',
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
        '^src/(core|bytes|providers|rankers|gateway)',
        '^src/store/store\\.ts$',
        'undici',
        'lru-cache',
        '^(node:)?(crypto|dns|net|stream|timers/promises|util|zlib)$',
      ],
      'the data plane: no HTTP server, no driver',
    ),
    only(
      'policies',
      '^src/gateway/policies',
      [
        '^src/(core|bytes)',
        '^src/gateway/(rank|offer|scope|trace|events|shared-replies|failover|job|job-key|loggable)\\.ts$',
        '^src/gateway/channels/(health|limits|places|concurrency|route)\\.ts$',
        'lru-cache',
      ],
      'a capability is a function around Rank, Attempt or Turn, and knows no other',
    ),
    {
      name: 'undici-in-upstream-only',
      severity: 'error',
      from: {
        path: '^src',
        pathNot: '^src/gateway/transport/(connection-pool|connector|exchange)\\.ts$',
      },
      to: { path: 'node_modules/undici' },
    },
    only(
      'management',
      '^src/management',
      [
        '^src/(core|management|providers)',
        '^src/store/store\\.ts$',
        'ipaddr\\.js',
        '^(node:)?(crypto|worker_threads)$',
      ],
      'the control plane: domain functions over the store; a channel is judged by what its provider declares',
    ),
    only(
      'shapes',
      '^src/shapes',
      ['^src/(core|management|shapes)', '^src/store/store\\.ts$', 'joi'],
      'how things look outside: of management and the store it knows the types',
    ),
    only(
      'telemetry',
      '^src/telemetry',
      [
        '^src/(core|bytes|telemetry)',
        '^src/gateway/events\\.ts$',
        // usage-log.ts: the entries that it appends.
        '^src/store/store\\.ts$',
        'pino',
        'prom-client',
        // Loaded only where the settings ask for it.
        'node_modules/@opentelemetry/',
        '^(node:)?(perf_hooks|cluster|process|crypto|diagnostics_channel|http)$',
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
    only(
      'oidc',
      '^src/oidc',
      ['^src/(core|oidc)', '^src/management/open-id\\.ts$', 'openid-client', 'node_modules/jose/'],
      'openid-client lives here and nowhere else, and is loaded with the first login',
    ),
    {
      name: 'nodemailer-in-mail-only',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/mail' },
      to: { path: 'node_modules/(@types/)?nodemailer' },
    },
    only(
      'operations',
      '^src/operations',
      [
        '^src/(core|bytes|gateway|ingress|management|shapes|operations)',
        '^src/store/store\\.ts$',
        'joi',
        '^(node:)?crypto$',
      ],
      'the table of operations: what each takes, does and gives, without Express',
    ),
    only(
      'config',
      '^src/config',
      [
        '^src/(core|config|management|providers|shapes)',
        '^src/store/(store|redis/url)\\.ts$',
        'joi',
        'js-yaml',
        'yaml',
        '^(node:)?(fs|module|os|path|util)$',
      ],
      'the settings: files and the environment become one frozen value; they start nothing',
    ),
    {
      name: 'processes-are-not-parts',
      comment: 'what builds the parts does not know which process it runs in, but for its name',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts|process/)' },
      to: { path: '^src/process', pathNot: '^src/process/this-node\\.ts$' },
    },
    {
      name: 'assembly-on-top',
      comment: 'parts are built by the assembly and never know it',
      severity: 'error',
      from: {
        path: '^src/(core|shapes|ingress|providers|rankers|gateway|store|management|operations|http|telemetry|mail|config)/',
      },
      to: { path: '^src/(assembly|client|cli|process)/' },
    },
    only(
      'http',
      '^src/http',
      [
        '^src/(core|bytes|gateway|ingress|management|shapes|operations|http)',
        '^src/store/store\\.ts$',
        'express',
        'passport',
        'joi',
        'helmet',
        'ipaddr\\.js',
        'lru-cache',
        '^(node:)?(http|http2|zlib|crypto|stream|url|net|buffer|fs|path|events|timers/promises|util)$',
      ],
      'the only folder that knows Express',
    ),
    only(
      'console',
      '^src/console/.*\\.tsx?$',
      [
        '^src/console',
        // No package and no part of Node is behind these: the console's sums are the gateway's own.
        '^src/core/(agreement|attention|attention-words|csv|depends|documents-in|evaluation|figures|forecast)\\.ts$',
        'node_modules/(preact|@tanstack/query-core|uplot)/',
      ],
      'a client of the API in the browser: it shares rules with the gateway and nothing else',
    ),
    only(
      'console-lib',
      '^src/console/lib',
      [
        '^src/console/(lib|words|api/(operations|members)\\.ts)',
        '^src/core/(agreement|attention|attention-words|csv|depends|documents-in|evaluation|figures|forecast)\\.ts$',
      ],
      'rules of the pages: neither Preact nor the document',
    ),
    {
      name: 'console-alone',
      comment: 'nothing of the gateway is made of the console',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/console' },
      to: { path: '^src/console' },
    },
    {
      name: 'cli-over-client',
      comment:
        'commands call operations through the client, and share with the API how things look',
      severity: 'error',
      from: { path: '^src/(cli|client)/' },
      to: { path: '^src/http' },
    },
    {
      name: 'operations-behind-client',
      comment: 'whether an operation runs here or elsewhere is the client’s to know',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/operations' },
    },
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
