import { InvalidArgumentError, type Command } from 'commander';
import type { TagWire } from '../shapes/tag.js';
import type { OverviewWire } from '../shapes/overview.js';
import { MAX_SERIES_DAYS } from '../shapes/stats.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, facts, names, table } from './text.js';
import { duration } from './values.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

export function addOverviewCommand(program: Command, io: CliIo): void {
  program
    .command('overview')
    .description('whether everything is all right, across all gateways')
    .option(
      '--last <time>',
      `of that time, such as 15m, 24h or 7d; ${MAX_SERIES_DAYS}d at most`,
      span,
      HOUR_MS,
    )
    .action(
      onGateway(io, (session, command) =>
        showOverview(session, command.opts<{ readonly last: number }>().last, io.now()),
      ),
    );
}

/** As much as the API takes. */
function span(text: string): number {
  const ms = duration(text);
  if (ms >= MINUTE_MS && ms <= MAX_SERIES_DAYS * DAY_MS) return ms;
  throw new InvalidArgumentError(`Give a time from 1m to ${MAX_SERIES_DAYS}d.`);
}

async function showOverview(
  { client, show }: Session,
  lastMs: number,
  nowMs: number,
): Promise<void> {
  const toMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  const dayFromMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const [overview, tags] = await Promise.all([
    client.call('getOverview', {
      query: {
        start_timestamp: Math.floor((toMs - lastMs) / 1_000),
        end_timestamp: toMs / 1_000,
        day_timestamp: dayFromMs / 1_000,
      },
    }),
    client.call('listTags'),
  ]);
  const seconds = lastMs / 1_000;
  show(overview, [facts(factsOf(overview, tags, seconds)), channelsOf(overview)].join('\n\n'));
}

function factsOf(
  { traffic, nodes, dark_models: dark, ending, running_out: out, today }: OverviewWire,
  tags: readonly TagWire[],
  seconds: number,
): [string, string][] {
  const { requests, quota } = traffic.total;
  const of = (outcome: string) => traffic.series.find(({ key }) => key === outcome)?.total;
  const off = tags.filter(({ disabled }) => disabled).map(({ tag }) => tag);
  const late = nodes.nodes.filter(({ standing }) => standing !== 'current');
  return [
    ['requests', `${requests}, ${(requests / seconds).toPrecision(2)} a second`],
    ['failed', share(of('failed')?.requests ?? 0, requests)],
    ['refused', share(of('refused')?.requests ?? 0, requests)],
    ['latency', latency(of('ok'))],
    ['spent', `${amount(quota)}; today ${amount(today.total.quota)}`],
    ['tags off', names(off, 'none')],
    ['models without a live channel', names(dark, 'none')],
    [
      'gateways',
      `${nodes.nodes.length}${late.map(({ name, standing }) => `, ${name} is ${standing}`).join('')}`,
    ],
    ['keys that expire within 3 days', keysOf(ending)],
    [
      'running out within 3 days',
      names(
        out.map(({ of: what, name, hours }) => `${what} ${name} in ${Math.ceil(hours)} h`),
        'none',
      ),
    ],
  ];
}

function keysOf({ names: first, total }: OverviewWire['ending']): string {
  const more = total - first.length;
  return `${names(first, 'none')}${more > 0 ? ` and ${more} more` : ''}`;
}

function share(part: number, of: number): string {
  return of === 0 ? '0' : `${part} (${((100 * part) / of).toFixed(1)} %)`;
}

type Latency = Pick<OverviewWire['last_hour'], 'p95'> & {
  readonly p50: number | null;
  readonly p99: number | null;
};

function latency(summary: Latency | undefined): string {
  const shown = (['p50', 'p95', 'p99'] as const).flatMap((name) => {
    const ms = summary?.[name] ?? null;
    return ms === null ? [] : [`${name} ${ms} ms`];
  });
  return names(shown, 'unknown');
}

function channelsOf({ channels, nodes }: OverviewWire): string {
  if (channels.length === 0) return 'No channel was asked for anything in that time.';
  return table(
    ['CHANNEL', 'ATTEMPTS', 'FAILED', 'P50', 'P95', 'P99', 'IN FLIGHT', 'QUOTA'],
    channels.map(({ key, name, total }) => {
      const inFlight = nodes.nodes
        .flatMap(({ busy }) => busy)
        .filter(({ id }) => String(id) === key)
        .reduce((sum, { in_flight }) => sum + in_flight, 0);
      const ms = (value: number | null): string => (value === null ? '' : String(value));
      return [
        ...[name === '' ? key : name, String(total.requests), share(total.failed, total.requests)],
        ...[ms(total.p50), ms(total.p95), ms(total.p99), String(inFlight), amount(total.quota)],
      ];
    }),
  );
}
