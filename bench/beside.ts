import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { Order } from './large.js';
import { driveClosed, driveOpen, percentile, scheduleOf, type Aim, type Closed } from './load.js';
import { startTargets, type Kind } from './targets.js';

/**
 * How long small requests take beside large ones: ten documents at a fixed rate, while bodies of 30 MB go through the same
 * process, one after the other, from a process of their own. Prints percentiles of the small requests, in milliseconds,
 * alone and beside each kind of large body, and the gateway's longest turn meanwhile: by the clock, which shows
 * whatever else the machine does, and in processor time.
 */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    case: { type: 'string', default: '' },
  },
});
const seconds = Number(options.seconds);
const small = { body: 'prose', documents: 10, delayMs: 0 } as const;
const RATE = 100;
const CASES: Readonly<Record<string, Kind>> = {
  prose: { body: 'prose', documents: 5000, delayMs: 0 },
  'Chinese as escapes': { body: 'chinese-escaped', documents: 10_000, delayMs: 0 },
  objects: { body: 'objects', documents: 5000, delayMs: 0 },
  'objects, returned': { body: 'returned', documents: 5000, delayMs: 0 },
  'half a character': { body: 'lone', documents: 5000, delayMs: 0 },
  'a list in a member': { body: 'prose', documents: 5000, delayMs: 0, form: 'dashscope' },
  'a reply as large': { body: 'returned', documents: 5000, delayMs: 0, echoes: true },
};
const cases = Object.entries(CASES).filter(([name]) => name.includes(options.case));

const targets = await startTargets([small, ...cases.map(([, kind]) => kind)], {
  measuresTurns: true,
});
const driver = fork('bench/large.ts', [], {
  execArgv: ['--import', 'tsx'],
  serialization: 'advanced',
});
const { gateway } = targets;
try {
  const request = gateway.request(small);
  const schedule = scheduleOf(RATE, seconds, 5);
  const measure = async (name: string): Promise<void> => {
    const { latencies, failures } = await driveOpen(
      { port: gateway.port, request, connections: 8 },
      schedule,
    );
    const show = (share: number) => percentile(latencies, share).toFixed(1).padStart(7);
    const { tookMs, workedMs } = await targets.longestTurn();
    const turn = `longest turn ${tookMs.toFixed(1)} ms, worked ${workedMs.toFixed(1)} ms`;
    const failed = failures === 0 ? '' : `, ${failures} failed`;
    console.log(
      `${name.padEnd(36)} p50 ${show(0.5)}  p90 ${show(0.9)}  p99 ${show(0.99)}  most ${show(1)}  ${turn}${failed}`,
    );
  };
  await driveClosed({ port: gateway.port, request, connections: 8 }, 3);
  await targets.longestTurn();
  await measure('alone');
  for (const [name, kind] of cases) {
    const large = gateway.request(kind);
    const aim = { port: gateway.port, request: large, connections: 1 };
    // The first one pays for compilation.
    await drive(aim, 0.1);
    await targets.longestTurn();
    const megabytes = (large.length / 1e6).toFixed(1);
    const [{ requests, failures }] = await Promise.all([
      drive(aim, seconds),
      measure(`${name}, ${megabytes} MB`),
    ]);
    console.log(`  ${requests} large requests meanwhile, ${failures} of them failed`);
  }
} finally {
  driver.disconnect();
  await targets.stop();
}

async function drive(aim: Aim, forSeconds: number): Promise<Closed> {
  const answered = once(driver, 'message') as Promise<[Closed]>;
  driver.send({ aim, seconds: forSeconds } satisfies Order);
  const [closed] = await answered;
  return closed;
}
