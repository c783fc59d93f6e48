import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Order } from './large.js';
import { driveClosed, driveOpen, percentile, scheduleOf, type Aim, type Closed } from './load.js';
import { startTargets, type Kind, type Target } from './targets.js';

/**
 * How long small requests take beside large ones: ten documents at a fixed rate, while bodies of 30 MB go through the same
 * process without a pause, from a process of their own. Prints percentiles of the small requests, in milliseconds,
 * alone and beside each kind of large body, and the gateway's longest turn meanwhile: by the clock, which shows
 * whatever else the machine does, and in processor time. The pass-through in the same place shows what the machine makes of it.
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
interface Case {
  readonly kind: Kind;
  /** How many are on their way at once: 1 if nothing is said. */
  readonly atOnce?: number;
  /** What becomes of the request before it is sent. */
  readonly sentAs?: (request: Buffer) => Buffer;
  /** Whether both go through the pass-through. */
  readonly isBare?: boolean;
}

const kindOf = (body: Kind['body'], more: Partial<Kind> = {}): Kind => ({
  ...{ body, documents: 5000, delayMs: 0 },
  ...more,
});
const PROSE = kindOf('prose');
const RETURNED = kindOf('returned');
const ECHOED = kindOf('returned', { echoes: true });
const CASES: Readonly<Record<string, Case>> = {
  'pass-through: prose': { kind: PROSE, isBare: true },
  'pass-through: prose, 4 at once': { kind: PROSE, isBare: true, atOnce: 4 },
  'pass-through: a reply as large': { kind: ECHOED, isBare: true },
  prose: { kind: PROSE },
  'prose, 2 at once': { kind: PROSE, atOnce: 2 },
  'prose, 4 at once': { kind: PROSE, atOnce: 4 },
  'prose, 8 at once': { kind: PROSE, atOnce: 8 },
  'prose, in pieces of 2 kB': { kind: PROSE, sentAs: inPieces },
  'prose, compressed': { kind: PROSE, sentAs: compressed },
  'Chinese as UTF-8': { kind: kindOf('chinese', { documents: 10_000 }) },
  'Chinese as escapes': { kind: kindOf('chinese-escaped', { documents: 10_000 }) },
  objects: { kind: kindOf('objects') },
  'objects, returned': { kind: RETURNED },
  'objects, returned, 4 at once': { kind: RETURNED, atOnce: 4 },
  'half a character': { kind: kindOf('lone') },
  'a list in a member': { kind: kindOf('prose', { form: 'dashscope' }) },
  'a reply as large': { kind: ECHOED },
  'a reply as large, 4 at once': { kind: ECHOED, atOnce: 4 },
};
const cases = Object.entries(CASES).filter(([name]) => name.includes(options.case));

const targets = await startTargets([small, ...cases.map(([, { kind }]) => kind)], {
  measuresTurns: true,
});
const driver = fork('bench/large.ts', [], {
  execArgv: ['--import', 'tsx'],
  serialization: 'advanced',
});
const { gateway, bare } = targets;
try {
  const schedule = scheduleOf(RATE, seconds, 5);
  const smallTo = (target: Target): Aim => ({
    ...{ port: target.port, request: target.request(small), connections: 8 },
  });
  const measure = async (name: string, target: Target): Promise<void> => {
    const { latencies, failures } = await driveOpen(smallTo(target), schedule);
    const show = (share: number) => percentile(latencies, share).toFixed(1).padStart(7);
    const { tookMs, workedMs } = await targets.longestTurn();
    const turn =
      target === gateway
        ? `longest turn ${tookMs.toFixed(1)} ms, worked ${workedMs.toFixed(1)} ms`
        : '';
    const failed = failures === 0 ? '' : `, ${failures} failed`;
    console.log(
      `${name.padEnd(41)} p50 ${show(0.5)}  p90 ${show(0.9)}  p99 ${show(0.99)}  most ${show(1)}  ${turn}${failed}`,
    );
  };
  for (const target of [bare, gateway]) await driveClosed(smallTo(target), 3);
  await targets.longestTurn();
  await measure('alone', gateway);
  for (const [name, { kind, atOnce = 1, sentAs = asItIs, isBare = false }] of cases) {
    const target = isBare ? bare : gateway;
    const large = sentAs(target.request(kind));
    const aim = { port: target.port, request: large, connections: atOnce };
    // The first one pays for compilation.
    await drive(aim, 0.1);
    await targets.longestTurn();
    const megabytes = (large.length / 1e6).toFixed(1);
    const [{ requests, failures }] = await Promise.all([
      drive(aim, seconds),
      measure(`${name}, ${megabytes} MB`, target),
    ]);
    console.log(`  ${requests} large requests meanwhile, ${failures} of them failed`);
  }
} finally {
  driver.disconnect();
  await targets.stop();
}

function asItIs(request: Buffer): Buffer {
  return request;
}

/** A request with other bytes for its body, and a header that says so. */
function withBody(
  request: Buffer,
  header: (bytes: number) => string,
  bodyOf: (body: Buffer) => Buffer,
): Buffer {
  const end = request.indexOf('\r\n\r\n') + 4;
  const body = bodyOf(request.subarray(end));
  const head = request
    .toString('latin1', 0, end)
    .replace(/content-length: \d+/i, header(body.length));
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

function compressed(request: Buffer): Buffer {
  return withBody(
    request,
    (bytes) => `content-encoding: gzip\r\ncontent-length: ${bytes}`,
    (body) => gzipSync(body),
  );
}

function inPieces(request: Buffer): Buffer {
  return withBody(
    request,
    () => 'transfer-encoding: chunked',
    (body) => {
      const parts: (string | Buffer)[] = [];
      for (let at = 0; at < body.length; at += 2_048) {
        const piece = body.subarray(at, at + 2_048);
        parts.push(`${piece.length.toString(16)}\r\n`, piece, '\r\n');
      }
      return Buffer.concat([...parts, '0\r\n\r\n'].map((part) => Buffer.from(part)));
    },
  );
}

async function drive(aim: Aim, forSeconds: number): Promise<Closed> {
  const answered = once(driver, 'message') as Promise<[Closed]>;
  driver.send({ aim, seconds: forSeconds } satisfies Order);
  const [closed] = await answered;
  return closed;
}
