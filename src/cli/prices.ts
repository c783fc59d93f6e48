import type { Command } from 'commander';
import type { PriceWire } from '../shapes/price.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, moment, table } from './text.js';
import { past } from './values.js';

export function addPriceCommand(program: Command, io: CliIo): void {
  program
    .command('prices')
    .option('--changes', 'when that changed, and from what to what')
    .option(
      '--since <when>',
      'changes since when: 30d for the last 30 days, or a date',
      past(io.now),
    )
    .option('--until <when>', 'changes until when (default: now)', past(io.now))
    .action(
      onGateway(io, (session, command) => {
        const { changes = false, ...span } = command.opts<PriceOptions>();
        const isSpan = span.since !== undefined || span.until !== undefined;
        return changes || isSpan ? listChanges(session, span) : listPrices(session);
      }),
    );
}

interface PriceOptions {
  readonly changes?: boolean;
  readonly since?: number;
  readonly until?: number;
}

const PER: Readonly<Record<PriceWire['per'], string>> = {
  request: 'a request',
  search_unit: 'a search unit: one query with up to 100 documents',
  million_tokens: 'a million tokens',
};

async function listPrices({ client, show }: Session): Promise<void> {
  const prices = await client.call('listPrices');
  const rows = Object.entries(prices.models).map(([model, price]) => rowOf(model, price));
  show(prices, table(['MODEL', 'PRICE', 'FOR'], [...rows, rowOf('any other', prices.default)]));
}

async function listChanges(
  { client, show }: Session,
  { since, until }: Omit<PriceOptions, 'changes'>,
): Promise<void> {
  const changes = await client.call('listPriceChanges', {
    query: { start_timestamp: since, end_timestamp: until },
  });
  const rows = changes.flatMap(({ changed_at: at, prices }) =>
    prices.map(({ model, before, after }) => [
      ...[moment(at), model ?? 'any other'],
      ...[amount(before.units), PER[before.per], amount(after.units), PER[after.per]],
    ]),
  );
  show(
    changes,
    rows.length === 0
      ? `No price has changed in that time on ${client.place}, as far as it is known.`
      : table(['TIME', 'MODEL', 'BEFORE', 'FOR', 'AFTER', 'FOR'], rows),
  );
}

function rowOf(model: string, { per, units }: PriceWire): string[] {
  return [model, amount(units), PER[per]];
}
