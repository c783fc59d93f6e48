import { Option, type Command } from 'commander';
import type { FoundOne } from '../management/requests.js';
import type { AuditChange, AuditEntry, LogSlice, UsageQuery } from '../store/store.js';
import { auditWire, statsWire, usageWire } from '../shapes/log.js';
import { refusedWire } from '../shapes/refused.js';
import { addRequestCommand } from './request.js';
import { namedUser, onGateway, type CliIo, type Session } from './session.js';
import { amount, facts, moment, table } from './text.js';
import {
  pageOf,
  past,
  present,
  wholeNumber,
  withLimit,
  withPage,
  type PageOptions,
} from './values.js';

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
  const logs = program.command('logs').alias('log').description('requests');

  withFilters(withPage(logs.command('list')), io)
    .description('list admitted requests, newest first')
    .action(onGateway(io, listUsage));

  withFilters(logs.command('stat'), io)
    .description('add up what requests used')
    .action(
      onGateway(io, async ({ backend, show }, command) => {
        const stats = await backend.usageStats(await filterOf({ backend }, command.opts()));
        const { requests, quota, documents, inputTokens } = stats;
        show(
          statsWire(stats),
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
    .description('list management writes: who did what, when and why')
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

async function filterOf(
  { backend }: Pick<Session, 'backend'>,
  options: FilterOptions,
): Promise<Omit<UsageQuery, keyof LogSlice | 'requestId'>> {
  const { user, key, channel, outcome } = options;
  const { model, provider, tag, slower } = options;
  return present({
    userId: user === undefined ? undefined : (await namedUser(backend, user)).id,
    tokenId: key,
    channelId: channel,
    minDurationMs: slower,
    ...{ model, provider, tag },
    ...(outcome === 'failed' ? { failed: true as const } : { outcome }),
    ...spanOf(options),
  });
}

function spanOf({ since, until }: { readonly since?: number; readonly until?: number }): {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
} {
  return {
    fromMs: since === undefined ? undefined : since * 1000,
    toMs: until === undefined ? undefined : until * 1000 + 999,
  };
}

async function listUsage({ backend, show }: Session, command: Command): Promise<void> {
  const options = command.opts<FilterOptions & PageOptions>();
  const page = pageOf(options);
  const filter = await filterOf({ backend }, options);
  const { items, total } = await backend.listUsage({ ...filter, ...page });
  const rows = items.map((entry) => [
    moment(Math.floor(entry.atMs / 1000)),
    entry.requestId,
    `${entry.tokenId} ${entry.tokenName}`,
    entry.model,
    entry.channelId === undefined ? '' : `${entry.channelId} ${entry.provider ?? ''}`,
    String(entry.attempts),
    String(entry.documents),
    amount(entry.quota),
    `${Math.round(entry.durationMs)} ms`,
    entry.outcome,
  ]);
  const heading = ['TIME', 'REQUEST', 'KEY', 'MODEL', 'CHANNEL', 'ATTEMPTS', 'DOCUMENTS', 'QUOTA'];
  show(
    {
      items: items.map(usageWire),
      total,
    },
    total === 0
      ? `No such requests in the log of ${backend.place}.`
      : table([...heading, 'TOOK', 'OUTCOME'], rows, { total, offset: page.offset }),
  );
}

async function listAll({ backend, show }: Session, command: Command): Promise<void> {
  const options = command.opts<AllOptions>();
  const { limit } = pageOf({ ...options, offset: 0 });
  const { kind, address, before } = options;
  const wanted = { ...(await filterOf({ backend }, options)), ...present({ kind, address }) };
  const { items, total } = await backend.listRequests(wanted, { limit, ...present({ before }) });
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
    'TIME',
    'REQUEST',
    'KEY',
    'MODEL',
    'CHANNEL OR FROM',
    'QUOTA',
    'TOOK',
    'OUTCOME',
  ];
  const last = items.at(-1);
  const isAll = last === undefined || items.length === total;
  const rest = isAll ? '' : `\n${items.length} of ${total}; go on with --before ${last.id}.`;
  show(
    { items, total },
    total === 0
      ? `No such requests in the logs of ${backend.place}.`
      : `${table(heading, rows)}${rest}`,
  );
}

async function listRefused({ backend, show }: Session, command: Command): Promise<void> {
  const options = command.opts<RefusedOptions>();
  const { user, key: tokenId, model, outcome } = options;
  const page = pageOf(options);
  const userId = user === undefined ? undefined : (await namedUser(backend, user)).id;
  const wanted = present({ userId, tokenId, model, outcome, ...spanOf(options) });
  const { items, total } = await backend.listRefused({ ...page, ...wanted });
  const rows = items.map((entry) => [
    moment(Math.floor(entry.atMs / 1000)),
    entry.requestId,
    entry.tokenId === undefined ? '' : `${entry.tokenId} ${entry.tokenName ?? ''}`,
    entry.model ?? '',
    entry.address ?? '',
    `${entry.status} ${entry.outcome}`,
    entry.repeated === 0 ? '' : `+${entry.repeated}`,
    entry.message,
  ]);
  const heading = ['TIME', 'REQUEST', 'KEY', 'MODEL', 'FROM', 'OUTCOME', 'MORE', 'MESSAGE'];
  show(
    { items: items.map(refusedWire), total },
    total === 0
      ? `No such requests in the log of ${backend.place}.`
      : table(heading, rows, { total, offset: page.offset }),
  );
}

async function listAudit({ backend, show }: Session, command: Command): Promise<void> {
  const options = command.opts<AuditOptions>();
  const { user, action, target } = options;
  const page = pageOf(options);
  const { items, total } = await backend.listAudit({
    ...page,
    ...present({
      actorId: user === undefined ? undefined : (await namedUser(backend, user)).id,
      ...spanOf(options),
      ...{ action, target },
    }),
  });
  const rows = items.map((entry) => [
    moment(Math.floor(entry.atMs / 1000)),
    entry.actor,
    entry.action,
    ofText(entry),
    entry.address ?? '',
    detailText(entry),
  ]);
  show(
    {
      items: items.map(auditWire),
      total,
    },
    total === 0
      ? `No such entries in the audit log of ${backend.place}.`
      : table(['TIME', 'WHO', 'WHAT', 'OF', 'FROM', 'DETAIL'], rows, {
          total,
          offset: page.offset,
        }),
  );
}

/** What an entry is about, with its name unless the target says it. */
function ofText({ target, name }: AuditEntry): string {
  return name === undefined || target.endsWith(`:${name}`) ? target : `${target} ${name}`;
}

/** What has changed and why; what was written, where an entry keeps no changes. */
function detailText({ changes, detail }: AuditEntry): string {
  if (changes === undefined) return JSON.stringify(detail);
  const reason = typeof detail.reason === 'string' ? [`because: ${detail.reason}`] : [];
  const changed = changes.filter(({ member }) => member !== 'reason').map(changeText);
  return [...changed, ...reason].join('; ');
}

function changeText({ member, before, after, omitted }: AuditChange): string {
  if (omitted === true) return `${member} (too long to be kept)`;
  return `${member}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown): string {
  if (value === null || value === '') return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
