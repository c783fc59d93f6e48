import { Option, type Command } from 'commander';
import type { FoundOne } from '../management/requests.js';
import { listPart, PAGE_SIZE, type Client, type InputOf } from '../client/client.js';
import { GatewayError } from '../core/errors.js';
import type { AuditChangeWire, AuditWire, OwnUsageWire, UsageWire } from '../shapes/log.js';
import type { OwnRefusedWire, RefusedWire } from '../shapes/refused.js';
import { wholeListed, type ListedRequestWire } from '../shapes/request.js';
import { namedUser, seesAll, self } from './accounts.js';
import { addRequestCommand } from './request.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, facts, moment, table } from './text.js';
import { pageOf, past, wholeNumber, withLimit, withPage, type PageOptions } from './values.js';

interface FilterOptions {
  readonly user?: string;
  readonly key?: number;
  readonly model?: string;
  readonly channel?: number;
  readonly provider?: string;
  readonly tag?: string;
  readonly outcome?: string;
  readonly slower?: number;
  readonly since?: number;
  readonly until?: number;
}

interface RefusedOptions extends PageOptions {
  readonly user?: string;
  readonly key?: number;
  readonly model?: string;
  readonly outcome?: string;
  readonly since?: number;
  readonly until?: number;
}

interface AllOptions extends FilterOptions {
  readonly kind?: FoundOne['kind'];
  readonly address?: string;
  readonly limit: number;
  readonly before?: string;
}

interface AuditOptions extends PageOptions {
  readonly user?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: number;
  readonly until?: number;
}

export function addLogCommands(program: Command, io: CliIo): void {
  const logs = program.command('logs');

  withFilters(withPage(logs.command('list')), io)
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

  withFilters(withLimit(logs.command('all')), io)
    .description('list admitted and refused requests together, newest first')
    .addOption(new Option('--kind <kind>', 'only these').choices(['admitted', 'refused']))
    .option('--address <address>', 'refused requests from this address')
    .option('--before <place>', 'continue where an earlier list ended; it prints the place')
    .action(onGateway(io, listAll));

  withPage(logs.command('refused'))
    .description('list requests that were refused: not admitted, and charged nothing')
    .option('--user <user>', 'with a key of this account: id, name or address')
    .option('--key <id>', 'with this key', wholeNumber)
    .option('--model <name>', 'for this model')
    .option('--outcome <code>', 'with this error code')
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now))
    .action(onGateway(io, listRefused));

  withPage(program.command('audit'))
    .option('--user <user>', 'by this account: id, name or address')
    .option('--action <action>', 'such as tag.disable or token.create')
    .option('--target <target>', 'such as tag:eu or channel:7')
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now))
    .action(onGateway(io, listAudit));
}

function withFilters(command: Command, io: CliIo): Command {
  return command
    .option('--user <user>', 'of this account: id, name or address')
    .option('--key <id>', 'with this key', wholeNumber)
    .option('--model <name>', 'for this model')
    .option('--channel <id>', 'answered by this channel', wholeNumber)
    .option('--provider <provider>', 'answered by a channel of this provider')
    .option('--tag <tag>', 'answered by a channel with this tag')
    .option('--outcome <code>', 'ok, an error code, or failed for all error codes')
    .option('--slower <ms>', 'that took at least this many milliseconds', wholeNumber)
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now));
}

type Filter = NonNullable<InputOf<'sumUsage'>['query']>;
type OwnFilter = NonNullable<InputOf<'sumOwnUsage'>['query']>;

/** The filter of a request log: everybody's for those who see it, one's own for others. */
type Wanted =
  | { readonly own: false; readonly filter: Filter }
  | { readonly own: true; readonly filter: OwnFilter };

export async function filterOf(client: Client, options: FilterOptions): Promise<Wanted> {
  const { user, key, channel, provider, tag } = options;
  const shared = {
    token_id: key,
    model: options.model,
    outcome: options.outcome,
    min_duration_ms: options.slower,
    ...spanOf(options),
  };
  const userId = user === undefined ? undefined : (await namedUser(client, user)).id;
  if (await seesAll(client)) {
    const filter = { ...shared, user_id: userId, channel_id: channel, provider, tag };
    return { own: false, filter };
  }
  const isForeign = [channel, provider, tag].some((wanted) => wanted !== undefined);
  if (isForeign || (userId !== undefined && userId !== (await self(client)).id)) throw onlyOwn();
  return { own: true, filter: shared };
}

function onlyOwn(): GatewayError {
  return new GatewayError('permission_denied', 'Your account may only see its own requests.');
}

function spanOf({ since, until }: { readonly since?: number; readonly until?: number }): {
  readonly start_timestamp: number | undefined;
  readonly end_timestamp: number | undefined;
} {
  return { start_timestamp: since, end_timestamp: until };
}

async function listUsage({ client, show }: Session, command: Command): Promise<void> {
  const options = command.opts<FilterOptions & PageOptions>();
  const page = pageOf(options);
  const { own, filter } = await filterOf(client, options);
  const found: { readonly items: readonly ShownUsage[]; readonly total: number } = own
    ? await listPart(client, 'listOwnUsage', filter, page)
    : await listPart(client, 'listUsage', filter, page);
  const { total } = found;
  const items = own ? await withOwner(client, found.items, UNSEEN_USAGE) : found.items;
  const rows = items.map((entry) => [
    moment(entry.created_at),
    entry.request_id,
    `${entry.token_id} ${entry.token_name}`,
    entry.model,
    entry.channel_id === undefined || entry.channel_id === null
      ? ''
      : `${entry.channel_id} ${entry.provider ?? ''}`,
    String(entry.attempts),
    String(entry.documents),
    amount(entry.quota),
    `${Math.round(entry.duration_ms)} ms`,
    entry.outcome,
  ]);
  const heading = ['TIME', 'REQUEST', 'KEY', 'MODEL', 'CHANNEL', 'ATTEMPTS', 'DOCUMENTS', 'QUOTA'];
  show(
    { items, total },
    total === 0
      ? `No such requests in the log of ${client.place}.`
      : table([...heading, 'TOOK', 'OUTCOME'], rows, { total, offset: page.offset }),
  );
}

type ShownUsage = OwnUsageWire & Partial<UsageWire>;

/** What users do not see of their requests. */
const UNSEEN_USAGE = { channel_id: null, provider: null, tag: null };
const UNSEEN_REFUSAL = { address: null, node: '' };

/** One's own entries in the form that operators see, so that scripts read one form. */
async function withOwner<T extends object, U extends object>(
  client: Client,
  entries: readonly T[],
  unseen: U,
): Promise<readonly (T & U & { readonly user_id: number })[]> {
  const { id } = await self(client);
  return entries.map((entry) => ({ user_id: id, ...unseen, ...entry }));
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

async function listAll({ client, show }: Session, command: Command): Promise<void> {
  const options = command.opts<AllOptions>();
  const { limit } = pageOf({ ...options, offset: 0 });
  const wanted = await filterOf(client, options);
  const { items, total } = await requestsOf(client, wanted, { ...options, limit });
  const rows = items.map((request) => [
    moment(request.created_at),
    request.request_id,
    request.token_id === null ? '' : `${request.token_id} ${request.token_name ?? ''}`,
    request.model ?? '',
    request.channel ?? request.address ?? '',
    amount(request.quota),
    `${Math.round(request.duration_ms)} ms`,
    `${request.status} ${request.outcome}${request.repeated === 0 ? '' : ` +${request.repeated}`}`,
  ]);
  const heading = [
    ...['TIME', 'REQUEST', 'KEY', 'MODEL', 'CHANNEL OR FROM', 'QUOTA', 'TOOK', 'OUTCOME'],
  ];
  const last = items.at(-1);
  const isAll = last === undefined || items.length === total;
  const rest = isAll ? '' : `\n${items.length} of ${total}; go on with --before ${last.id}.`;
  show(
    { items, total },
    total === 0
      ? `No such requests in the logs of ${client.place}.`
      : `${table(heading, rows)}${rest}`,
  );
}

type ShownRefusal = OwnRefusedWire & Partial<RefusedWire>;

async function listRefused({ client, show }: Session, command: Command): Promise<void> {
  const options = command.opts<RefusedOptions>();
  const page = pageOf(options);
  const { own, filter } = await filterOf(client, options);
  const found: { readonly items: readonly ShownRefusal[]; readonly total: number } = own
    ? await listPart(client, 'listOwnRefusals', filter, page)
    : await listPart(client, 'listRefusals', filter, page);
  const { total } = found;
  const items = own ? await withOwner(client, found.items, UNSEEN_REFUSAL) : found.items;
  const rows = items.map((entry) => [
    moment(entry.created_at),
    entry.request_id,
    entry.token_id === null ? '' : `${entry.token_id} ${entry.token_name ?? ''}`,
    entry.model ?? '',
    entry.address ?? '',
    `${entry.status} ${entry.outcome}`,
    entry.repeated === 0 ? '' : `+${entry.repeated}`,
    entry.message,
  ]);
  const heading = ['TIME', 'REQUEST', 'KEY', 'MODEL', 'FROM', 'OUTCOME', 'MORE', 'MESSAGE'];
  show(
    { items, total },
    total === 0
      ? `No such requests in the log of ${client.place}.`
      : table(heading, rows, { total, offset: page.offset }),
  );
}

async function listAudit({ client, show }: Session, command: Command): Promise<void> {
  const options = command.opts<AuditOptions>();
  const { user, action, target } = options;
  const page = pageOf(options);
  const actor = user === undefined ? undefined : (await namedUser(client, user)).id;
  const filter = { actor_id: actor, action, target, ...spanOf(options) };
  const { items, total } = await listPart(client, 'listAudit', filter, page);
  const rows = items.map((entry) => [
    moment(entry.created_at),
    entry.actor,
    entry.action,
    ofText(entry),
    entry.address ?? '',
    detailText(entry),
  ]);
  show(
    { items, total },
    total === 0
      ? `No such entries in the audit log of ${client.place}.`
      : table(['TIME', 'WHO', 'WHAT', 'OF', 'FROM', 'DETAIL'], rows, {
          total,
          offset: page.offset,
        }),
  );
}

/** What an entry is about, with its name unless the target says it. */
function ofText({ target, name }: AuditWire): string {
  return name === null || target.endsWith(`:${name}`) ? target : `${target} ${name}`;
}

/** What has changed and why; what was written, where an entry keeps no changes. */
function detailText({ changes, detail }: AuditWire): string {
  if (changes.length === 0) return JSON.stringify(detail);
  const reason = typeof detail.reason === 'string' ? [`because: ${detail.reason}`] : [];
  const changed = changes.filter(({ member }) => member !== 'reason').map(changeText);
  return [...changed, ...reason].join('; ');
}

function changeText({ member, before, after, omitted }: AuditChangeWire): string {
  if (omitted) return `${member} (too long to be kept)`;
  return `${member}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown): string {
  if (value === null || value === '') return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
