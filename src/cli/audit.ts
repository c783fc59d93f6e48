import type { Command } from 'commander';
import { listPart } from '../client/client.js';
import type { AuditChangeWire, AuditWire } from '../shapes/log.js';
import { namedUser } from './accounts.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { spanOf } from './log-filters.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { pageOf, past, withPage, type PageOptions } from './values.js';

interface AuditOptions extends PageOptions {
  readonly user?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: number;
  readonly until?: number;
}

const COLUMNS = {
  time: ({ created_at: at }) => ({ at }),
  who: ({ actor }) => actor,
  what: ({ action }) => action,
  of: (entry) => ofText(entry),
  from: ({ address }) => address,
  detail: (entry) => detailText(entry),
} satisfies Columns<AuditWire>;

export function addAuditCommand(program: Command, io: CliIo): void {
  withPage(asList(program.command('audit'), COLUMNS))
    .option('--user <user>', 'by this account: id, name or address')
    .option('--action <action>', 'such as tag.disable or token.create')
    .option('--target <target>', 'such as tag:eu or channel:7')
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now))
    .action(onGateway(io, listAudit));
}

async function listAudit({ client, list }: Session, command: Command): Promise<void> {
  const options = command.opts<AuditOptions>();
  const { user, action, target } = options;
  const page = pageOf(options);
  const actor = user === undefined ? undefined : (await namedUser(client, user)).id;
  const filter = { actor_id: actor, action, target, ...spanOf(options) };
  await list({
    columns: COLUMNS,
    none: `No such entries in the audit log of ${client.place}.`,
    ...pageAsRows(await listPart(client, 'listAudit', filter, page), page),
  });
}

/** What an entry is about, with its name unless the target says it. */
function ofText({ target, name }: AuditWire): string {
  return name === null || target.endsWith(`:${name}`) ? target : `${target} ${name}`;
}

/** What has changed and why; what was written, where an entry keeps no changes. */
function detailText({ changes, detail }: AuditWire): string {
  if (changes.length === 0) return Object.keys(detail).length === 0 ? '' : JSON.stringify(detail);
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
