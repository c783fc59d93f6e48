import { parseArgs } from 'node:util';
import { BODIES, type BodyName } from './bodies.js';
import {
  measureCost,
  measureLatency,
  measureMemory,
  warmUp,
  type Effort,
  type Pair,
} from './measure.js';
import { machine, publish, tableOf, writeResults, type Results, type Row } from './table.js';
import { startTargets, type Kind, type Target } from './targets.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    floor: { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
    against: { type: 'string' },
    body: { type: 'string' },
    connections: { type: 'string' },
    delay: { type: 'string' },
    documents: { type: 'string', default: '10,100,1000' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string' },
    open: { type: 'string' },
    json: { type: 'string', default: 'bench/results/table.json' },
  },
});

/** Many short rounds: a disturbance of a second spoils a few of them, and the median ignores those. */
const FULL: Effort = {
  warmUpRequests: 1_500,
  warmUpSeconds: 5,
  rounds: 11,
  seconds: 0.35,
  openSeconds: 8,
};
const QUICK: Effort = { ...FULL, rounds: 15, seconds: 0.5, openSeconds: 4 };
/** Before any measurement: the engine needs thousands of requests to optimize the whole path of a request. */
const FIRST = { warmUpRequests: 15_000, warmUpSeconds: 15 };
const MEMORY_SECONDS = 8;

/** Rates of the open loop, in requests a second: what the pass-through handles with ease on one core. */
const RATES: Readonly<Record<number, number>> = { 10: 400, 100: 200, 1000: 40 };
const OTHERWISE = 100;

interface Scenario {
  readonly body: BodyName;
  readonly connections: number;
  readonly delayMs: number;
}

const MAIN: Scenario = { body: 'prose', connections: 64, delayMs: 0 };

const SCENARIOS: readonly Scenario[] = [
  MAIN,
  ...(['chinese', 'chinese-escaped', 'cyrillic', 'cyrillic-escaped', 'emoji-escaped'] as const).map(
    (body) => ({ ...MAIN, body }),
  ),
  { ...MAIN, body: 'objects' },
  { ...MAIN, body: 'returned' },
  ...[1, 16, 256].map((connections) => ({ ...MAIN, connections })),
  ...[1, 16, 64, 256].map((connections) => ({ ...MAIN, connections, delayMs: 20 })),
];

const given = options.quick ? QUICK : FULL;
const effort: Effort = {
  warmUpRequests: given.warmUpRequests,
  rounds: Number(options.rounds ?? given.rounds),
  seconds: Number(options.seconds ?? given.seconds),
  warmUpSeconds: Number(options['warm-up'] ?? given.warmUpSeconds),
  openSeconds: Number(options.open ?? given.openSeconds),
};
const sizes = options.documents.split(',').map(Number);
const scenarios = asked();
const isWhole = scenarios === SCENARIOS;

const kinds = scenarios.flatMap(({ body, delayMs }) =>
  sizes.map((documents): Kind => ({ body, documents, delayMs })),
);
const targets = await startTargets(kinds, { other: options.against, tls: options.tls });
const rows: Row[] = [];
try {
  console.error(machine());
  // In each size: larger lists run other code, and what is compiled anew for them must not count.
  for (const kind of kinds.slice(0, sizes.length)) {
    await warmUp(targets, kind, MAIN.connections, FIRST);
  }
  const { other } = targets;
  if (other !== undefined) rows.push(await otherRow(other));
  else for (const scenario of scenarios) rows.push(await rowOf(scenario));
  if (other === undefined && (isWhole || options.floor)) rows.push(await floorRow());
} finally {
  await targets.stop();
}
const memory =
  isWhole && options.against === undefined
    ? await measureMemory({ body: 'prose', documents: 1000, delayMs: 0 }, 64, MEMORY_SECONDS)
    : undefined;
const results: Results = { machine: machine(), effort, sizes, rows, memory };
console.log(`\n${tableOf(results)}`);
await writeResults(results, options.json);
if (options.publish) await publish(results);

/** The scenarios that the options name; all of them if they name none. */
function asked(): readonly Scenario[] {
  const { quick, body, connections, delay } = options;
  if (quick && body === undefined) return [MAIN];
  if (body === undefined && connections === undefined && delay === undefined) return SCENARIOS;
  const bodies = (body ?? MAIN.body).split(',').map(bodyNamed);
  const numbers = (text: string | undefined, otherwise: number) =>
    text === undefined ? [otherwise] : text.split(',').map(Number);
  return bodies.flatMap((one) =>
    numbers(connections, MAIN.connections).flatMap((some) =>
      numbers(delay, MAIN.delayMs).map((delayMs) => ({ body: one, connections: some, delayMs })),
    ),
  );
}

function bodyNamed(name: string): BodyName {
  if (Object.hasOwn(BODIES, name)) return name as BodyName;
  throw new Error(`no body is called ${name}: there are ${Object.keys(BODIES).join(', ')}`);
}

/** What the pass-through costs with the gateway's commands to the store, against itself without them. */
async function floorRow(): Promise<Row> {
  const { bare, floor } = targets;
  const pair = { bare, gateway: floor };
  await warmUp(pair, { ...MAIN, documents: 10 }, MAIN.connections, FIRST);
  return pairRow(pair, MAIN, '*the pass-through with the same commands to Redis*');
}

/** What this gateway costs against that of another checkout, in turns. */
async function otherRow(other: Target): Promise<Row> {
  const [scenario = MAIN] = scenarios;
  const pair = { bare: other, gateway: targets.gateway };
  for (const documents of sizes) {
    await warmUp(pair, { ...scenario, documents }, scenario.connections, FIRST);
  }
  return pairRow(pair, scenario, "*this gateway against the other checkout's*");
}

async function pairRow(pair: Pair, scenario: Scenario, title: string): Promise<Row> {
  const cells: Row['cells'][number][] = [];
  for (const documents of sizes) {
    const kind = { ...scenario, documents };
    const cost = await measureCost(pair, kind, scenario.connections, effort);
    const kilobytes = pair.gateway.request(kind).length / 1000;
    cells.push({ documents, kilobytes, cost, latency: undefined });
    console.error(`${title}, ${documents} documents: ${cost.ratio.toFixed(2)}`);
  }
  return { ...scenario, title, cells };
}

/** Costs, and latency too for prose over 64 connections. */
async function rowOf({ body, connections, delayMs }: Scenario): Promise<Row> {
  const cells: Row['cells'][number][] = [];
  const isTimed = body === MAIN.body && connections === MAIN.connections;
  for (const documents of sizes) {
    const kind = { body, documents, delayMs };
    const cost = await measureCost(targets, kind, connections, effort);
    const rate = RATES[documents] ?? OTHERWISE;
    const latency = isTimed
      ? await measureLatency(targets, kind, connections, rate, effort)
      : undefined;
    const kilobytes = targets.gateway.request(kind).length / 1000;
    cells.push({ documents, kilobytes, cost, latency });
    const [low, high] = cost.quartiles.map((ratio) => ratio.toFixed(2));
    console.error(
      `${BODIES[body].title}, ${connections} connections, after ${delayMs} ms, ${documents} documents: ` +
        `${cost.ratio.toFixed(2)} (half of the rounds from ${low} to ${high})`,
    );
  }
  return { body, title: BODIES[body].title, connections, delayMs, cells };
}
