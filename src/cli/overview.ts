import { InvalidArgumentError, type Command } from 'commander';
import { attentionWords } from '../core/attention-words.js';
import { attentionIn, type Attention } from '../core/attention.js';
import type { TagWire } from '../shapes/tag.js';
import type { OverviewWire } from '../shapes/overview.js';
import { MAX_SERIES_DAYS } from '../shapes/stats.js';
import { effective } from './channel-text.js';
import { RefusedError } from './errors.js';
import { listChannels } from './named.js';
import { onGateway, withoutStore, type CliIo, type Session } from './session.js';
import { amount, counted, facts, moment, names } from './text.js';
import { duration } from './values.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('overview')
    .option(
      '--last <time>',
      `of that time, such as 15m, 24h or 7d; ${MAX_SERIES_DAYS}d at most`,
      span,
      HOUR_MS,
    )
    .action(
      onGateway(io, (session, command) =>
        showOverview(session, command.opts<{ readonly last: number }>().last),
      ),
    );
  program.command('doctor').action(onGateway(io, examine));
}

/** As much as the API takes. */
function span(text: string): number {
  const ms = duration(text);
  if (ms >= MINUTE_MS && ms <= MAX_SERIES_DAYS * DAY_MS) return ms;
  throw new InvalidArgumentError(`Give a time from 1m to ${MAX_SERIES_DAYS}d.`);
}

async function showOverview(session: Session, lastMs: number): Promise<void> {
  const { overview, tags, things } = await lookAt(session, lastMs);
  session.show(
    { ...overview, attention: things },
    [
      facts(factsOf(overview, tags, lastMs / 1_000)),
      await channelsOf(session, overview),
      listOf(things),
    ].join('\n\n'),
  );
  refuseIfAny(things);
}

/** Mistakes in the settings and a store that does not answer end it with codes of their own. */
async function examine(session: Session, command: Command): Promise<void> {
  const { client, io, show } = session;
  // Elsewhere the settings are the gateway's own.
  if (client.isOperator) {
    await withoutStore(io, ({ settings }) => {
      settings();
    }).call(command);
  }
  const [seen, channels] = await Promise.all([lookAt(session, HOUR_MS), listChannels(client, {})]);
  const known = new Set(
    seen.things.filter(({ kind }) => kind.startsWith('channel_')).map(({ name }) => name),
  );
  const off = channels
    .filter(({ name, effective: { because } }) => BROKEN.has(because) && !known.has(name))
    .map(({ name, effective: state }) => ({
      ...{ kind: 'channel_off', name, text: `${name} is ${effective(state)}` },
    }));
  const things = [...seen.things, ...off];
  const { nodes } = seen.overview;
  const live = channels.filter(({ effective: state }) => state.live).length;
  const checked: [string, string][] = [
    ...(client.isOperator ? [['settings', 'valid'] as [string, string]] : []),
    ['store', `${client.place}, answers in ${nodes.store_ms.toFixed(1)} ms`],
    // Who examines a store that nothing serves may have stopped it, or have the wrong one.
    ['gateways', nodes.nodes.length === 0 ? '0: none serves this store' : `${nodes.nodes.length}`],
    ['channels', `${live} of ${channels.length} live`],
  ];
  show(
    { ...Object.fromEntries(checked), attention: things },
    [facts(checked), listOf(things)].join('\n\n'),
  );
  refuseIfAny(things);
}

/** These were not switched off by hand. */
const BROKEN: ReadonlySet<string | null> = new Set([
  'auto_disabled',
  'credentials_locked',
  'unusable',
]);

/** Something that needs a look. */
interface Thing {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

async function lookAt({ client, io }: Session, lastMs: number) {
  const nowMs = io.now();
  const toMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  const dayFromMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const [overview, tags, about] = await Promise.all([
    client.call('getOverview', {
      query: {
        start_timestamp: Math.floor((toMs - lastMs) / 1_000),
        end_timestamp: toMs / 1_000,
        day_timestamp: dayFromMs / 1_000,
      },
    }),
    client.call('listTags'),
    client.isOperator ? undefined : client.call('about'),
  ]);
  const things = attentionIn(overview, {
    ...{ tags, nowMs },
    timeOf: (seconds) => `${moment(seconds).slice(11, 16)} UTC`,
    nameOf: ({ name, key }) => (name === '' ? key : name),
    whyOf: (why) => why,
    unheardRegistration: about?.registration === true && about.mail === 'outbox',
  }).map((thing): Attention & Thing => ({ ...thing, text: attentionWords(thing) }));
  return { overview, tags, things };
}

function listOf(things: readonly Thing[]): string {
  return things.length === 0 ? 'All right.' : things.map(({ text }) => `- ${text}`).join('\n');
}

/** Scripts see it by the exit code; people have read it. */
function refuseIfAny({ length }: readonly Thing[]): void {
  if (length > 0)
    throw new RefusedError(
      `${counted(length, 'thing')} ${length === 1 ? 'needs' : 'need'} a look.`,
    );
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

async function channelsOf({ table }: Session, { channels, nodes }: OverviewWire): Promise<string> {
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
