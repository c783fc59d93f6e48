import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { INVOICE_COUNTS, InvoiceError, readInvoice, type InvoiceCount } from '../core/invoice.js';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { systemCode } from '../core/errors.js';
import { timeOf } from '../core/time-zone.js';
import type { BreakdownRowWire } from '../shapes/stats.js';
import { resolveChannel } from './named.js';
import { RefusedError, UsageError } from './errors.js';
import { onGateway, type CliIo, type Session } from './session.js';

interface Span {
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

/** Options of this command, and of `spend` before it. */
interface ReconcileOptions {
  readonly channel: string;
  readonly tolerance: number;
  readonly by: string;
  readonly month?: Parameters<SpanOf>[0];
  readonly timeZone: string;
}

type SpanOf = (month: { readonly year: number; readonly month: number }, timeZone: string) => Span;
type Counts = Partial<Record<InvoiceCount, number>>;
type Sums = ReadonlyMap<string, Counts>;

/** `spend reconcile`: a provider's invoice beside what this gateway counted of a channel. */
export function addReconcileCommand(spend: Command, io: CliIo, spanOf: SpanOf): void {
  spend
    .command('reconcile')
    .description("compare a provider's invoice with what a channel was used for")
    .argument('<file>', 'the invoice, as CSV with a heading: date or model, and amount or counts')
    .requiredOption('--channel <channel>', 'the channel: id or name')
    .option('--tolerance <percent>', 'by how much totals may differ', percent, 1)
    .addHelpText(
      'after',
      '\nAlso: --month 2026-10 (required), --time-zone <zone> of the invoice, and --by model.\nExit code 1 if a total differs by more than the tolerance.',
    )
    .action(
      onGateway(io, (session, command) =>
        reconcile(session, command.args[0] ?? '', command.optsWithGlobals(), spanOf),
      ),
    );
}

async function reconcile(
  session: Session,
  file: string,
  { channel: given, tolerance, by, month, timeZone }: ReconcileOptions,
  spanOf: SpanOf,
): Promise<void> {
  if (month === undefined) throw new UsageError('Name the month of the invoice: --month 2026-10.');
  const lines = await invoiceIn(file);
  const channel = await resolveChannel(session, given);
  const isByModel = by === 'model' || lines.every(({ day }) => day === undefined);
  const span = spanOf(month, timeZone);
  const { rows } = await session.client.call('usageBreakdown', {
    query: {
      ...{ ...span, time_zone: timeZone, channel_id: channel.id },
      by: isByModel ? 'model' : 'day',
    },
  });
  const prefix = timeOf(span.start_timestamp * 1_000, timeZone).slice(0, 'yyyy-mm'.length);
  const ours = summed(
    rows.map((row) => [
      isByModel
        ? (channel.models[row.model ?? ''] ?? row.model ?? '')
        : timeOf((row.day ?? 0) * 1_000, timeZone).slice(0, 'yyyy-mm-dd'.length),
      countsOf(row, channel.cost !== null),
    ]),
  );
  const inMonth = lines.filter(({ day }) => day === undefined || day.startsWith(prefix));
  const theirs = summed(
    inMonth.map(({ day, model, counts }) => [(isByModel ? model : day) ?? '', counts]),
  );
  const names = INVOICE_COUNTS.filter((name) => lines.some(({ counts }) => name in counts));
  const keys = [...new Set([...theirs.keys(), ...ours.keys()])].sort();
  const compared = keys.map((key) => compare(key, ours.get(key), theirs.get(key), names));
  const total = compare('total', totalOf(ours), totalOf(theirs), names);
  const heading = names.flatMap((name) => [name, `invoice`, 'difference']);
  session.show(
    { channel: channel.name, month: prefix, tolerance, rows: compared, total },
    await session.table(
      [isByModel ? 'MODEL' : 'DAY', ...heading.map((title) => title.toUpperCase())],
      [...compared, total].map(({ of, counts }) => [
        of,
        ...counts.flatMap(({ ours: own, theirs: other, difference }) =>
          [own, other, difference].map(String),
        ),
      ]),
    ),
  );
  const wrong = total.counts.filter(
    ({ theirs: other, difference }) => Math.abs(difference) > (Math.abs(other) * tolerance) / 100,
  );
  if (wrong.length > 0) {
    const what = wrong.map(({ count, difference }) => `${count} by ${difference}`).join(', ');
    throw new RefusedError(`The invoice differs by more than ${tolerance} %: ${what}.`);
  }
}

async function invoiceIn(file: string) {
  try {
    return readInvoice(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof InvoiceError) throw new RefusedError(error.message);
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new RefusedError(`The invoice cannot be read (${code}): ${file}`);
  }
}

/** What a row says that an invoice says too: what the calls cost, if that is known of the channel, else what was charged. */
function countsOf(row: BreakdownRowWire, hasCost: boolean): Counts {
  const { requests, failed, tokens, search_units: units, quota, cost = 0 } = row;
  return {
    ...{ requests: requests - failed, tokens, search_units: units },
    dollars: (hasCost ? cost : quota) / UNITS_PER_DOLLAR,
  };
}

function summed(parts: readonly (readonly [string, Counts])[]): Sums {
  const sums = new Map<string, Counts>();
  for (const [key, counts] of parts) sums.set(key, added(sums.get(key) ?? {}, counts));
  return sums;
}

function added(one: Counts, other: Counts): Counts {
  return Object.fromEntries(
    INVOICE_COUNTS.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]),
  );
}

function totalOf(sums: Sums): Counts {
  return [...sums.values()].reduce(added, {});
}

function compare(
  of: string,
  ours: Counts = {},
  theirs: Counts = {},
  names: readonly InvoiceCount[],
) {
  const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
  const counts = names.map((count) => {
    const [own, other] = [rounded(ours[count] ?? 0), rounded(theirs[count] ?? 0)];
    return { count, ours: own, theirs: other, difference: rounded(own - other) };
  });
  return { of, counts };
}

function percent(text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text.trim() !== '' && value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError('Give a percentage such as 1 or 0.5.');
}
