import { Agent, request as httpRequest } from 'node:http';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { makeHome, runCli, startProcess, type GatewayProcess } from '../test/system/fleet.js';

/**
 * `npm run bench:overload`: how a gateway copes with up to twice the load that its channel can serve. One key asks for nearly
 * all of it, another for a little. Exits with 1 if a promise is broken.
 */

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    places: { type: 'string', default: '10' },
    work: { type: 'string', default: '100' },
    adaptive: { type: 'boolean', default: false },
  },
});

/** The upstream works on `PLACES` requests at once, each for `WORK_MS`: 100 a second by default. */
const PLACES = Number(options.places);
const WORK_MS = Number(options.work);
const CAPACITY = (PLACES / WORK_MS) * 1_000;
const DEADLINE_MS = 2_000;
const QUEUE_MS = 500;
const SMALL_SHARE = 0.04;
const LEAST_GOODPUT = 0.9;
const LEAST_SMALL = 0.95;
const MOST_LATE = 0.01;
/** Allowance for timers and sockets of a machine that also runs the callers. */
const SLACK_MS = 100;

interface Heard {
  readonly isSmall: boolean;
  readonly status: number;
  readonly tookMs: number;
  readonly retryAfter: string | undefined;
}

/** A server with its own queue, as model servers have: once its places are taken, requests wait. */
async function startServer(): Promise<{ readonly url: string; close(): void }> {
  let busy = 0;
  const waiting: (() => void)[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { documents } = JSON.parse(Buffer.concat(chunks).toString()) as {
        documents: readonly string[];
      };
      const work = (): void => {
        busy += 1;
        setTimeout(() => {
          busy -= 1;
          waiting.shift()?.();
          const results = documents.map((_, index) => ({
            index,
            relevance_score: 1 / (index + 1),
          }));
          res.writeHead(200, { 'content-type': 'application/json' });
          res.end(JSON.stringify({ id: 'up', results }));
        }, WORK_MS);
      };
      if (busy < PLACES) work();
      else waiting.push(work);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const BODY = JSON.stringify({
  model: 'm',
  query: 'red apple',
  documents: Array.from({ length: 10 }, (_, at) => `document ${at} about a red apple`),
});

function ask(port: number, agent: Agent, key: string, isSmall: boolean): Promise<Heard> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, retryAfter?: string): void =>
      resolve({ isSmall, status, tookMs: performance.now() - startedMs, retryAfter });
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port, path: '/v1/rerank', method: 'POST', agent },
        headers: { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(BODY) },
      },
      (response) => {
        response.resume();
        response.on('end', () => end(response.statusCode ?? 0, response.headers['retry-after']));
      },
    );
    request.on('error', () => end(0));
    request.end(BODY);
  });
}

/** Sends `perSecond` requests a second, whatever becomes of them, as many independent callers do. */
async function offer(
  { port }: GatewayProcess,
  keys: { readonly large: string; readonly small: string },
  perSecond: number,
  seconds: number,
): Promise<readonly Heard[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const asked: Promise<Heard>[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < seconds * 1_000) {
    const due = ((performance.now() - startedMs) / 1_000) * perSecond;
    while (asked.length < due) {
      const isSmall =
        Math.floor(asked.length * SMALL_SHARE) > Math.floor((asked.length - 1) * SMALL_SHARE);
      asked.push(ask(port, agent, isSmall ? keys.small : keys.large, isSmall));
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const heard = await Promise.all(asked);
  agent.destroy();
  return heard;
}

async function memoryOf({ pid }: GatewayProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

interface Row {
  readonly offered: number;
  readonly goodput: number;
  readonly servedP99: number;
  readonly refusedP50: number;
  readonly refusedP99: number;
  /** Of those refused, the share that had waited in vain. */
  readonly lateShare: number;
  readonly smallShare: number;
  readonly withoutRetryAfter: number;
  readonly failed: number;
  readonly memoryMb: number;
}

function rowOf(offered: number, seconds: number, heard: readonly Heard[], memoryMb: number): Row {
  const served = heard.filter(({ status }) => status === 200);
  const good = served.filter(({ tookMs }) => tookMs <= DEADLINE_MS + SLACK_MS);
  const refused = heard.filter(({ status }) => status === 503);
  const small = heard.filter(({ isSmall }) => isSmall);
  return {
    offered,
    goodput: good.length / seconds,
    servedP99: percentile(
      served.map(({ tookMs }) => tookMs),
      0.99,
    ),
    refusedP50: percentile(
      refused.map(({ tookMs }) => tookMs),
      0.5,
    ),
    refusedP99: percentile(
      refused.map(({ tookMs }) => tookMs),
      0.99,
    ),
    lateShare:
      refused.filter(({ tookMs }) => tookMs > QUEUE_MS / 2).length / Math.max(1, refused.length),
    smallShare: small.filter(({ status }) => status === 200).length / Math.max(1, small.length),
    withoutRetryAfter: refused.filter(({ retryAfter }) => retryAfter === undefined).length,
    failed: heard.length - served.length - refused.length,
    memoryMb,
  };
}

function print(row: Row): void {
  const { offered, goodput, servedP99, refusedP50, refusedP99, lateShare, smallShare, memoryMb } =
    row;
  const cells = [
    `${Math.round(offered)}/s offered`,
    `${Math.round(goodput)}/s served in time`,
    `p99 ${Math.round(servedP99)} ms`,
    `refused p50 ${refusedP50.toFixed(1)} ms, p99 ${refusedP99.toFixed(1)} ms`,
    `${(lateShare * 100).toFixed(1)} % after a wait`,
    `small key ${Math.round(smallShare * 100)} %`,
    `${Math.round(memoryMb)} MB`,
  ];
  console.log(cells.join(' · '));
}

async function main(): Promise<number> {
  const seconds = Number(options.seconds);
  const server = await startServer();
  const home = await makeHome({
    gateway: { deadline_ms: DEADLINE_MS },
    log: { level: 'warn', usage_entries: 0 },
    models: { m: { queue_ms: QUEUE_MS } },
    prices: { default: { per_request: 0 } },
    channels: [
      {
        ...{ name: 'only', provider: 'cohere', base_url: server.url, api_key: 'upstream-key' },
        models: ['m'],
        ...(options.adaptive ? { adaptive_concurrency: true } : { max_concurrency: PLACES }),
      },
    ],
  });
  const gateway = await startProcess({ ...home, env: { ...home.env, LOG_LEVEL: 'info' } });
  try {
    const [large, small] = await Promise.all(
      ['large', 'small'].map(async () => {
        const made = (await runCli(home, ['keys', 'create', '--unlimited'])) as {
          readonly key: string;
        };
        return made.key;
      }),
    );
    const keys = { large: large ?? '', small: small ?? '' };
    await offer(gateway, keys, CAPACITY / 2, 2);
    const rows: Row[] = [];
    for (const load of [0.5, 0.8, 1, 1.5, 2]) {
      const heard = await offer(gateway, keys, CAPACITY * load, seconds);
      const row = rowOf(CAPACITY * load, seconds, heard, await memoryOf(gateway));
      rows.push(row);
      print(row);
    }
    return judge(rows);
  } finally {
    gateway.kill('SIGKILL');
    await gateway.exited;
    server.close();
    await home.remove();
  }
}

/** Checks what is promised at twice the load that the channel can serve. */
function judge(rows: readonly Row[]): number {
  const twice = rows.at(-1);
  const [first] = rows;
  if (twice === undefined || first === undefined) throw new Error('nothing was measured');
  const peak = Math.max(...rows.map(({ goodput }) => goodput));
  const promises: readonly (readonly [string, boolean])[] = [
    [`goodput above ${LEAST_GOODPUT * 100} % of its peak`, twice.goodput >= LEAST_GOODPUT * peak],
    ['what is admitted meets its deadline', twice.servedP99 <= DEADLINE_MS + SLACK_MS],
    ['a small key is served beside a large one', twice.smallShare >= LEAST_SMALL],
    ['99 of 100 refusals come on arrival', twice.lateShare <= MOST_LATE],
    ['nothing fails', twice.failed === 0],
    ['a refusal says when to come back', twice.withoutRetryAfter === 0],
    ['memory is bounded', twice.memoryMb < first.memoryMb + 100],
  ];
  for (const [promise, isKept] of promises)
    console.log(`${isKept ? 'kept' : 'BROKEN'}: ${promise}`);
  return promises.every(([, isKept]) => isKept) ? 0 : 1;
}

process.exitCode = await main();
