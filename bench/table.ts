import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import type { Cost, Effort, Latency, Memory } from './measure.js';

export interface Row {
  readonly body: string;
  readonly title: string;
  readonly connections: number;
  readonly delayMs: number;
  /** One per number of documents. */
  readonly cells: readonly Cell[];
}

export interface Cell {
  readonly documents: number;
  readonly kilobytes: number;
  readonly cost: Cost;
  readonly latency: Latency | undefined;
}

export interface Results {
  readonly machine: string;
  readonly effort: Effort;
  /** Numbers of documents. */
  readonly sizes: readonly number[];
  readonly rows: readonly Row[];
  readonly memory: Memory | undefined;
}

/** The machine on which everything was measured. */
export function machine(): string {
  const cores = cpus();
  return `Node ${process.version}, ${cores.length} cores (${cores[0]?.model.trim() ?? 'unknown'})`;
}

/** The table in Markdown, with the machine above it, and latencies and memory below. */
export function tableOf({ machine: where, effort, sizes, rows, memory }: Results): string {
  const header = [
    'Body',
    'connections',
    'upstream answers',
    ...sizes.map((size) => `${size} documents`),
  ];
  const lines = rows.map(({ title, connections, delayMs, cells }) => [
    title,
    String(connections),
    answered(delayMs),
    ...cells.map(({ cost }) => shownCost(cost)),
  ]);
  const table = [header, header.map((_, at) => (at === 0 ? '---' : '--:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const how =
    `${where}; CPU time of a request against the pass-through's, ` +
    `the median of ${effort.rounds} rounds of ${effort.seconds} s.`;
  const below = [...rows.flatMap(waits), ...(memory === undefined ? [] : [peak(memory)])];
  const list = below.map((line) => `- ${line}`).join('\n');
  return [how, table, ...(list === '' ? [] : [list])].join('\n\n');
}

function answered(delayMs: number): string {
  return delayMs === 0 ? 'at once' : `after ${delayMs} ms`;
}

function shownCost({ ratio, failures }: Cost): string {
  return `${ratio.toFixed(2)} ×${failures === 0 ? '' : ` (${failures} failed)`}`;
}

/** How much longer callers wait than with the pass-through, if that was measured. */
function waits({ title, connections, delayMs, cells }: Row): readonly string[] {
  const figures = cells.flatMap(({ documents, latency }) => {
    if (latency === undefined) return [];
    const { bare, gateway, perSecond } = latency;
    const p50 = added(gateway.p50 - bare.p50);
    const p99 = added(gateway.p99 - bare.p99);
    return `${p50} / ${p99} ms with ${documents} documents (${perSecond} a second)`;
  });
  if (figures.length === 0) return [];
  return [
    `Latency added at p50 / p99, ${title}, ${connections} connections, upstream ${answered(delayMs)}: ${figures.join(', ')}.`,
  ];
}

/** A difference below zero is noise of the machine. */
function added(ms: number): string {
  return Math.max(0, ms).toFixed(1);
}

function peak({ bareMiB, gatewayMiB }: Memory): string {
  return (
    `Peak memory with 64 connections and 1000 documents: pass-through ${bareMiB.toFixed(0)} MiB, ` +
    `gateway ${gatewayMiB.toFixed(0)} MiB, ${(gatewayMiB / bareMiB).toFixed(2)} ×.`
  );
}

const PAGE = 'bench/README.md';
const START = '<!-- benchmark: written by `npm run bench -- --publish` -->';
const END = '<!-- end of benchmark -->';

/** What each cell of the published table was made of: quartiles, microseconds, requests a second. */
const PUBLISHED = 'bench/table.json';

export async function writeResults(results: Results, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
}

/** Puts the table between the markers of the page that shows it, and its figures into the file beside it. */
export async function publish(results: Results): Promise<void> {
  await writeResults(results, PUBLISHED);
  const text = await readFile(PAGE, 'utf8');
  const start = text.indexOf(START);
  const end = text.indexOf(END);
  if (start < 0 || end < start) throw new Error(`${PAGE} has no place for the table`);
  const before = text.slice(0, start + START.length);
  await writeFile(PAGE, `${before}\n\n${tableOf(results)}\n\n${text.slice(end)}`);
}
