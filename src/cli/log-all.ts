import { Option, type Command } from 'commander';
import type { FoundOne } from '../management/requests.js';
import { PAGE_SIZE, type Client } from '../client/client.js';
import { wholeListed, type ListedRequestWire } from '../shapes/request.js';
import { follow } from './follow.js';
import { asList, type Columns } from './listing.js';
import { filterOf, onlyOwn, withFilters, type FilterOptions, type Wanted } from './log-filters.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { pageOf, withLimit } from './values.js';

interface AllOptions extends FilterOptions {
  readonly kind?: FoundOne['kind'];
  readonly address?: string;
  readonly limit: number;
  readonly follow?: true;
  readonly before?: string;
}

const REQUESTS = {
  time: ({ created_at: at }) => ({ at }),
  request: ({ request_id: id }) => id,
  key: ({ token_id: id, token_name: name }) => (id === null ? null : `${id} ${name ?? ''}`),
  model: ({ model }) => model,
  'channel-or-from': ({ channel, address }) => channel ?? address,
  quota: ({ quota: units }) => ({ units }),
  took: ({ duration_ms: ms }) => `${Math.round(ms)} ms`,
  outcome: ({ status, outcome, repeated }) =>
    `${status} ${outcome}${repeated === 0 ? '' : ` +${repeated}`}`,
} satisfies Columns<ListedRequestWire>;

/** The list of both logs, which is what `logs` alone means. */
export function addAllCommand(logs: Command, io: CliIo): void {
  const all = logs.command('all', { isDefault: true });
  withFilters(withLimit(asList(withFollow(all), REQUESTS)), io)
    .description('list admitted and refused requests together, newest first')
    .addOption(new Option('--kind <kind>', 'only these').choices(['admitted', 'refused']))
    .option('--address <address>', 'refused requests from this address')
    .option('--before <place>', 'continue where an earlier list ended; it prints the place')
    .action(onGateway(io, listAll));
}

export function withFollow(command: Command): Command {
  return command.addOption(
    new Option('-f, --follow', 'print new ones as they come in, until Ctrl-C').conflicts('before'),
  );
}

/** Prints requests of both logs, or of one, as they come in. */
export async function followRequests(
  session: Session,
  wanted: Wanted,
  { kind, address, limit }: Pick<AllOptions, 'kind' | 'address' | 'limit'>,
): Promise<void> {
  if (wanted.own && address !== undefined) throw onlyOwn();
  await follow(session, REQUESTS, limit, async (since, before) => {
    const query = { kind, before, start_timestamp: since, page_size: PAGE_SIZE, count: false };
    const { items } = wanted.own
      ? await session.client.call('listOwnRequests', { query: { ...wanted.filter, ...query } })
      : await session.client.call('listRequests', {
          query: { ...wanted.filter, ...query, address },
        });
    return items.map(wholeListed);
  });
}

/** Both logs have one order, which goes on after an entry: pages would shift while requests come in. */
export async function requestsOf(
  client: Client,
  { own, filter }: Wanted,
  { kind, address, before, limit }: Pick<AllOptions, 'kind' | 'address' | 'before' | 'limit'>,
): Promise<{ readonly items: ListedRequestWire[]; readonly total: number }> {
  if (own && address !== undefined) throw onlyOwn();
  const items: ListedRequestWire[] = [];
  let total: number | undefined;
  for (;;) {
    const part = {
      ...{ kind, before: items.at(-1)?.id ?? before },
      page_size: Math.min(limit - items.length, PAGE_SIZE),
    };
    const page = own
      ? await client.call('listOwnRequests', { query: { ...filter, ...part } })
      : await client.call('listRequests', { query: { ...filter, ...part, address } });
    items.push(...page.items.map(wholeListed));
    total ??= page.total;
    // Entries counted on the first page may be dropped before they are read.
    if (page.items.length === 0 || items.length >= Math.min(limit, total)) return { items, total };
  }
}

async function listAll(session: Session, command: Command): Promise<void> {
  const { client, list } = session;
  const options = command.opts<AllOptions>();
  const { limit } = pageOf({ ...options, offset: 0 });
  const wanted = await filterOf(client, options);
  if (options.follow === true) return followRequests(session, wanted, { ...options, limit });
  const { items, total } = await requestsOf(client, wanted, { ...options, limit });
  const last = items.at(-1);
  const isAll = last === undefined || items.length === total;
  await list({
    columns: REQUESTS,
    rows: items,
    none: `No such requests in the logs of ${client.place}.`,
    json: { items, total },
    ...(!isAll && { below: `${items.length} of ${total}; go on with --before ${last.id}.` }),
  });
}
