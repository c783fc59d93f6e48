import { parseArgs } from 'node:util';
import { requestJson, type BodyName } from './bodies.js';
import { driveClosed, driveOpen, percentile, scheduleOf } from './load.js';
import { startTargets, type Kind } from './targets.js';

/**
 * How long small requests take beside large ones: ten documents at a fixed rate, while bodies of many megabytes go through the
 * same process. Prints percentiles of the small requests, in milliseconds, alone and beside each kind of large body.
 */
const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '5' },
    body: { type: 'string', default: 'prose,chinese-escaped,objects,returned,lone' },
  },
});
const documents = Number(options.documents);
const seconds = Number(options.seconds);
const small = { body: 'prose', documents: 10, delayMs: 0 } as const;
const RATE = 100;
/** The large requests, one per body: with ten thousand documents, each has some 5 to 30 megabytes. */
const large: readonly Kind[] = [
  ...options.body.split(',').map((body) => ({ body: body as BodyName, documents, delayMs: 0 })),
  // Its upstream's reply is as large as the request.
  { body: 'returned', documents, delayMs: 0, echoes: true },
];

const targets = await startTargets([small, ...large]);
const { gateway } = targets;
try {
  const request = gateway.request(small);
  const schedule = scheduleOf(RATE, seconds, 5);
  const measure = async (name: string): Promise<void> => {
    const { latencies } = await driveOpen(
      { port: gateway.port, request, connections: 8 },
      schedule,
    );
    const show = (share: number) => percentile(latencies, share).toFixed(1);
    console.log(`${name}: p50 ${show(0.5)}, p90 ${show(0.9)}, p99 ${show(0.99)}, most ${show(1)}`);
  };
  await driveClosed({ port: gateway.port, request, connections: 8 }, 3);
  await measure('alone');
  for (const kind of large) {
    const megabytes = requestJson(kind.body, documents, '').length / 1e6;
    const reply = kind.echoes === true ? ', and an upstream that returns them' : '';
    const big = { port: gateway.port, request: gateway.request(kind), connections: 1 };
    const [{ requests }] = await Promise.all([
      driveClosed(big, seconds),
      measure(`beside ${kind.body}, ${megabytes.toFixed(1)} MB${reply}`),
    ]);
    console.log(`  ${requests} large requests meanwhile`);
  }
} finally {
  await targets.stop();
}
