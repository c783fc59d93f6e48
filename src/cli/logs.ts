import type { Command } from 'commander';
import { listPart } from '../client/client.js';
import type { OwnUsageWire, UsageWire } from '../shapes/log.js';
import type { OwnRefusedWire, RefusedWire } from '../shapes/refused.js';
import { addAuditCommand } from './audit.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { addAllCommand, followRequests, withFollow } from './log-all.js';
import {
  filterOf,
  UNSEEN_REFUSAL,
  UNSEEN_USAGE,
  withFilters,
  withOwner,
  type FilterOptions,
} from './log-filters.js';
import { addRequestCommand } from './request.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, facts } from './text.js';
import { pageOf, past, withPage, type PageOptions } from './values.js';

type RefusedOptions = PageOptions & Omit<FilterOptions, 'channel' | 'provider' | 'tag' | 'slower'>;

type ShownUsage = OwnUsageWire & Partial<UsageWire>;
type ShownRefusal = OwnRefusedWire & Partial<RefusedWire>;

const USAGE = {
  time: ({ created_at: at }) => ({ at }),
  request: ({ request_id: id }) => id,
  key: ({ token_id: id, token_name: name }) => `${id} ${name}`,
  model: ({ model }) => model,
  channel: ({ channel_id: id, provider }) =>
    id === undefined || id === null ? null : `${id} ${provider ?? ''}`,
  attempts: ({ attempts }) => attempts,
  documents: ({ documents }) => documents,
  quota: ({ quota: units }) => ({ units }),
  took: ({ duration_ms: ms }) => `${Math.round(ms)} ms`,
  outcome: ({ outcome }) => outcome,
} satisfies Columns<ShownUsage>;

const REFUSED = {
  time: ({ created_at: at }) => ({ at }),
  request: ({ request_id: id }) => id,
  key: ({ token_id: id, token_name: name }) => (id === null ? null : `${id} ${name ?? ''}`),
  model: ({ model }) => model,
  from: ({ address }) => address ?? null,
  outcome: ({ status, outcome }) => `${status} ${outcome}`,
  more: ({ repeated }) => (repeated === 0 ? null : `+${repeated}`),
  message: ({ message }) => message,
} satisfies Columns<ShownRefusal>;

export function addCommands(program: Command, io: CliIo): void {
  const logs = program.command('logs');

  withFilters(withPage(asList(withFollow(logs.command('list')), USAGE)), io)
    .description('list admitted requests, newest first')
    .action(onGateway(io, listUsage));

  withFilters(logs.command('stat'), io)
    .description('add up what requests used')
    .action(
      onGateway(io, async ({ client, show }, command) => {
        const { own, filter } = await filterOf(client, command.opts());
        const stats = own
          ? await client.call('sumOwnUsage', { query: filter })
          : await client.call('sumUsage', { query: filter });
        const { requests, quota, documents, input_tokens: inputTokens } = stats;
        show(
          stats,
          facts([
            ['requests', String(requests)],
            ['quota', amount(quota)],
            ['documents', String(documents)],
            ['tokens', String(inputTokens)],
          ]),
        );
      }),
    );

  addRequestCommand(logs, io);
  addAllCommand(logs, io);

  withPage(asList(logs.command('refused'), REFUSED))
    .description('list requests that were refused: not admitted, and charged nothing')
    .option('--user <user>', 'with a key of this account: id, name or address')
    .option('--key <key>', 'with this key: id or name')
    .option('--model <name>', 'for this model')
    .option('--outcome <code>', 'with this error code')
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now))
    .action(onGateway(io, listRefused));

  addAuditCommand(program, io);
}

async function listUsage(session: Session, command: Command): Promise<void> {
  const { client, list } = session;
  const options = command.opts<FilterOptions & PageOptions & { readonly follow?: true }>();
  const page = pageOf(options);
  const wanted = await filterOf(client, options);
  if (options.follow === true) {
    return followRequests(session, wanted, { kind: 'admitted', limit: page.limit });
  }
  const { own, filter } = wanted;
  const found: { readonly items: readonly ShownUsage[]; readonly total: number } = own
    ? await listPart(client, 'listOwnUsage', filter, page)
    : await listPart(client, 'listUsage', filter, page);
  const items = own ? await withOwner(client, found.items, UNSEEN_USAGE) : found.items;
  await list({
    columns: USAGE,
    none: `No such requests in the log of ${client.place}.`,
    ...pageAsRows({ ...found, items }, page),
  });
}

async function listRefused({ client, list }: Session, command: Command): Promise<void> {
  const options = command.opts<RefusedOptions>();
  const page = pageOf(options);
  const { own, filter } = await filterOf(client, options);
  const found: { readonly items: readonly ShownRefusal[]; readonly total: number } = own
    ? await listPart(client, 'listOwnRefusals', filter, page)
    : await listPart(client, 'listRefusals', filter, page);
  const items = own ? await withOwner(client, found.items, UNSEEN_REFUSAL) : found.items;
  await list({
    columns: REFUSED,
    none: `No such requests in the log of ${client.place}.`,
    ...pageAsRows({ ...found, items }, page),
  });
}
