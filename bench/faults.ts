import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { makeHome, runCli, startProcess } from '../test/system/fleet.js';
import { driveOpen, percentile, scheduleOf } from './load.js';
import { post } from './targets.js';

/**
 * `npm run bench:faults`: what callers notice when one of two equal channels is dead, hangs or is slow. Exits with 1 if a
 * promise is broken.
 */

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '8' },
    timeout: { type: 'string', default: '500' },
  },
});

const RATE = Number(options.rate);
const SECONDS = Number(options.seconds);
const ATTEMPT_MS = Number(options.timeout);
/** Circuits open within this time: after the timeout of an attempt, and a second of nothing but failures. */
const FINDING_OUT_SECONDS = 3;
const PROBE_MS = 2_000;
const CONNECTIONS = 64;
const ANSWER_MS = 5;
/** On top of the timeout of an attempt. */
const MOST_ADDED_MS = 50;
const MOST_ADDED_OPEN_MS = 5;
/** Allowance for timers on a machine that also runs the callers. */
const SLACK_MS = 250;

const FAULTS = ['dead', 'hanging', 'slow'] as const;
type Mood = (typeof FAULTS)[number] | 'well';

/** A server that can be made to fail. */
class Upstream {
  #server: Server | undefined;
  #mood: Mood = 'well';
  port = 0;
  /** How many requests came, and when the first was answered, since its last change; a dead server cannot count. */
  asked = 0;
  firstAnswerMs: number | undefined;

  async become(mood: Mood): Promise<void> {
    this.#mood = mood;
    this.asked = 0;
    this.firstAnswerMs = undefined;
    if (mood === 'dead') this.close();
    else if (this.#server === undefined) await this.#listen();
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
    this.#server = undefined;
  }

  async #listen(): Promise<void> {
    const server = createServer((req, res) => {
      req.resume().on('end', () => this.#answer(res));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  #answer(res: ServerResponse): void {
    this.asked += 1;
    if (this.#mood === 'hanging') return;
    res.writeHead(200, { 'content-type': 'application/json' });
    if (this.#mood === 'slow') {
      const drip = setInterval(() => res.write(' '), ATTEMPT_MS / 4);
      res.on('close', () => clearInterval(drip));
      return;
    }
    setTimeout(() => {
      this.firstAnswerMs ??= performance.now();
      res.end(REPLY);
    }, ANSWER_MS);
  }
}

const DOCUMENTS = Array.from({ length: 10 }, (_, at) => `document ${at} about a red apple`);
const REPLY = JSON.stringify({
  id: 'up',
  results: DOCUMENTS.map((_, index) => ({ index, relevance_score: 1 / (index + 1) })),
});

interface Row {
  readonly fault: Mood;
  readonly failures: number;
  /** Added to the 99th percentile without a fault: until the circuit opens, and from then on. */
  readonly addedMs: number;
  readonly addedOpenMs: number;
  /** Requests that reached the faulty channel once its circuit was open, out of `requests`. */
  readonly probes: number;
  readonly requests: number;
  readonly backMs: number;
}

async function main(): Promise<number> {
  const [ill, other] = [new Upstream(), new Upstream()];
  await Promise.all([ill.become('well'), other.become('well')]);
  const channelAt = (name: string, { port }: Upstream): object => ({
    ...{ name, provider: 'cohere', api_key: 'upstream-key', models: ['m'] },
    base_url: `http://127.0.0.1:${port}`,
  });
  const home = await makeHome({
    gateway: { attempt_timeout_ms: ATTEMPT_MS, max_cooldown_ms: PROBE_MS },
    traffic: { breaker_open_ms: PROBE_MS },
    log: { usage_entries: 0 },
    prices: { default: { per_request: 0 } },
    channels: [channelAt('ill', ill), channelAt('other', other)],
  });
  const gateway = await startProcess(home);
  try {
    const { key } = (await runCli(home, ['keys', 'create', '--unlimited'])) as {
      readonly key: string;
    };
    const body = Buffer.from(JSON.stringify({ model: 'm', query: 'apple', documents: DOCUMENTS }));
    const request = post('/v1/rerank', body, `authorization: Bearer ${key}\r\n`);
    const aim = { port: gateway.port, request, connections: CONNECTIONS };
    const drive = (seconds: number) => driveOpen(aim, scheduleOf(RATE, seconds, 1));
    await drive(FINDING_OUT_SECONDS);
    const rows: Row[] = [];
    for (const fault of FAULTS) {
      const calm = await drive(SECONDS);
      await ill.become(fault);
      const finding = await drive(FINDING_OUT_SECONDS);
      ill.asked = 0;
      const open = await drive(SECONDS);
      const probes = ill.asked;
      await ill.become('well');
      const wellMs = performance.now();
      const back = await drive((2 * PROBE_MS) / 1_000);
      const p99 = percentile(calm.latencies, 0.99);
      const row: Row = {
        ...{ fault, probes, requests: open.latencies.length },
        failures: calm.failures + finding.failures + open.failures + back.failures,
        addedMs: percentile(finding.latencies, 0.99) - p99,
        addedOpenMs: percentile(open.latencies, 0.99) - p99,
        backMs: (ill.firstAnswerMs ?? Infinity) - wellMs,
      };
      rows.push(row);
      print(row, p99);
    }
    return judge(rows);
  } finally {
    gateway.kill('SIGKILL');
    await gateway.exited;
    ill.close();
    other.close();
    await home.remove();
  }
}

function print(row: Row, p99: number): void {
  const cells = [
    row.fault,
    `${row.failures} failed`,
    `p99 ${p99.toFixed(1)} ms when all is well`,
    `+${row.addedMs.toFixed(0)} ms until it is found out`,
    `+${row.addedOpenMs.toFixed(1)} ms then`,
    `${row.probes} of ${row.requests} requests asked it then`,
    `back after ${row.backMs.toFixed(0)} ms`,
  ];
  console.log(cells.join(' · '));
}

/** Checks what is promised when one of two channels is useless. */
function judge(rows: readonly Row[]): number {
  const most = (of: (row: Row) => number): number => Math.max(...rows.map(of));
  const promises: readonly (readonly [string, boolean])[] = [
    ['no caller sees an error', most(({ failures }) => failures) === 0],
    [
      `p99 grows by less than an attempt and ${MOST_ADDED_MS} ms until the circuit is open`,
      most(({ addedMs }) => addedMs) < ATTEMPT_MS + MOST_ADDED_MS,
    ],
    [
      `and by less than ${MOST_ADDED_OPEN_MS} ms from then on`,
      most(({ addedOpenMs }) => addedOpenMs) < MOST_ADDED_OPEN_MS,
    ],
    [
      'the channel is back within one probe interval',
      most(({ backMs }) => backMs) < PROBE_MS + SLACK_MS,
    ],
  ];
  for (const [promise, isKept] of promises)
    console.log(`${isKept ? 'kept' : 'BROKEN'}: ${promise}`);
  return promises.every(([, isKept]) => isKept) ? 0 : 1;
}

process.exitCode = await main();
