import type { Command } from 'commander';
import type { PriceWire } from '../shapes/price.js';
import type { ItemOf } from '../client/client.js';
import { asList, type Columns } from './listing.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { past } from './values.js';

const PER: Readonly<Record<PriceWire['per'], string>> = {
  request: 'a request',
  search_unit: 'a search unit: one query with up to 100 documents',
  million_tokens: 'a million tokens',
};

const PRICES = {
  model: ({ model }) => model,
  price: ({ units }) => ({ units }),
  for: ({ per }) => PER[per],
} satisfies Columns<PriceWire & { readonly model: string }>;

type Change = ItemOf<'listPriceChanges'>['prices'][number] & { readonly at: number };

const CHANGES = {
  time: ({ at }) => ({ at }),
  model: ({ model }) => model ?? 'any other',
  before: ({ before: { units } }) => ({ units }),
  'before-for': ({ before: { per } }) => PER[per],
  after: ({ after: { units } }) => ({ units }),
  'after-for': ({ after: { per } }) => PER[per],
} satisfies Columns<Change>;

export function addCommands(program: Command, io: CliIo): void {
  asList(program.command('prices'), { ...PRICES, ...CHANGES })
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

async function listPrices({ client, list }: Session): Promise<void> {
  const prices = await client.call('listPrices');
  const models = Object.entries(prices.models).map(([model, price]) => ({ model, ...price }));
  await list({
    columns: PRICES,
    rows: [...models, { model: 'any other', ...prices.default }],
    none: '',
    json: prices,
  });
}

async function listChanges(
  { client, list }: Session,
  { since, until }: Omit<PriceOptions, 'changes'>,
): Promise<void> {
  const changes = await client.call('listPriceChanges', {
    query: { start_timestamp: since, end_timestamp: until },
  });
  const rows = changes.flatMap(({ changed_at: at, prices }) =>
    prices.map((price) => ({ at, ...price })),
  );
  await list({
    columns: CHANGES,
    rows,
    none: `No price has changed in that time on ${client.place}, as far as it is known.`,
    json: changes,
  });
}
