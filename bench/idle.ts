import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { makeHome, runCli, startProcess } from '../test/system/fleet.js';
import { startRedis } from '../test/support/redis-server.js';
import { requestJson } from './bodies.js';
import { measureCost, type Effort } from './measure.js';
import { machine } from './table.js';
import { post, type Kind, type Target } from './targets.js';

/**
 * `npm run bench:idle`: the cost of policies that are switched off, or on with nothing to do: CPU time of a request against
 * that of a model without any policies, in turns on one gateway. Exits with 1 if a promise is broken.
 */

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '0.35' },
    'warm-up': { type: 'string', default: '6000' },
  },
});

const KIND: Kind = { body: 'prose', documents: 10, delayMs: 0 };
const CONNECTIONS = 64;
const EFFORT: Effort = {
  warmUpRequests: Number(options['warm-up']),
  warmUpSeconds: 20,
  rounds: Number(options.rounds),
  seconds: Number(options.seconds),
  openSeconds: 0,
};

interface Case {
  readonly model: string;
  readonly what: string;
  readonly rules?: Readonly<Record<string, unknown>>;
  /** Bounds of its channel. */
  readonly bounds?: Readonly<Record<string, unknown>>;
  /** The most that a request may cost, as a multiple of one without policies. */
  readonly most?: number;
}

const OFF = { split: false, hedge: false, coalesce: false, cache_ttl_ms: 0, queue_ms: 0 };
const IDLE = 1.03;

/** Policies that act only on a fault or an overload. Coalescing, caches and adaptive limits work on every request. */
const CASES: readonly Case[] = [
  { model: 'twin', what: 'the same once more (noise of the machine)' },
  { model: 'off', what: 'every policy switched off', rules: OFF, most: 1.02 },
  { model: 'queue', what: 'a queue', rules: { queue_ms: 500 }, most: IDLE },
  { model: 'fallbacks', what: 'fallbacks', rules: { fallbacks: ['nothing'] }, most: IDLE },
  { model: 'selection', what: 'the least busy', rules: { select: 'least_busy' }, most: IDLE },
  { model: 'bound', what: 'a bound', bounds: { max_concurrency: 10_000 }, most: IDLE },
  { model: 'hedge', what: 'hedging', rules: { hedge: true }, most: IDLE },
];

async function main(): Promise<number> {
  const redis = await startRedis();
  const upstream = fork('bench/upstream.ts', [], { execArgv: ['--import', 'tsx'] });
  const [message] = (await once(upstream, 'message')) as [{ readonly port: number }];
  const channelOf = (model: string, more: object = {}): object => ({
    ...{ name: model, provider: 'cohere', api_key: 'bench', models: [model], ...more },
    base_url: `http://127.0.0.1:${message.port}/${KIND.documents}/${KIND.delayMs}/none`,
  });
  const home = await makeHome(
    {
      server: { in_flight_share: 1 },
      models: Object.fromEntries(CASES.map(({ model, rules = {} }) => [model, rules])),
      channels: [
        channelOf('nothing'),
        ...CASES.map(({ model, bounds }) => channelOf(model, bounds)),
      ],
    },
    { REDIS_URL: redis.url, ENCRYPTION_KEY: 'a key for the benchmark' },
  );
  const gateway = await startProcess(home);
  try {
    const { key } = (await runCli(home, ['keys', 'create', '--unlimited'])) as {
      readonly key: string;
    };
    const targetOf = (model: string): Target => ({
      ...{ name: model, port: gateway.port, pid: gateway.pid },
      request: ({ body, documents }) =>
        post('/v1/rerank', requestJson(body, documents, model), `authorization: Bearer ${key}\r\n`),
    });
    console.log(machine());
    let isKept = true;
    for (const { model, what, most = Infinity } of CASES) {
      const pair = { bare: targetOf('nothing'), gateway: targetOf(model) };
      const { ratio, quartiles, bareUs, gatewayUs, failures } = await measureCost(
        ...([pair, KIND, CONNECTIONS, EFFORT] as const),
      );
      // On a noisy machine the median of so few rounds is off by a few percent: a breach needs three rounds of four.
      const isWithin = quartiles[0] <= most && failures === 0;
      isKept &&= isWithin;
      const [low, high] = quartiles.map((each) => each.toFixed(3));
      console.log(
        `${what}: ${ratio.toFixed(3)} × (half of the rounds from ${low} to ${high}), ` +
          `${gatewayUs.toFixed(0)} µs beside ${bareUs.toFixed(0)} µs, ${failures} failed` +
          (isWithin ? '' : ` · BROKEN: at most ${most}`),
      );
    }
    return isKept ? 0 : 1;
  } finally {
    gateway.kill('SIGKILL');
    await gateway.exited;
    upstream.kill('SIGKILL');
    await redis.stop();
    await home.remove();
  }
}

process.exitCode = await main();
