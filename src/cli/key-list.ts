import { Option, type Command } from 'commander';
import { listPart } from '../client/client.js';
import {
  TOKEN_DISABLED,
  TOKEN_ENABLED,
  TOKEN_EXHAUSTED,
  TOKEN_EXPIRED,
  type TokenStatus,
} from '../core/token.js';
import type { TokenWire } from '../shapes/key.js';
import { namedUser, usernames } from './accounts.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { expiry, pageOf, past, withPage, withSort, type PageOptions } from './values.js';

interface ListOptions extends PageOptions {
  readonly user?: string;
  readonly name?: string;
  readonly status?: string;
  readonly model?: string;
  readonly tag?: string;
  readonly label?: string;
  readonly expiresBefore?: number;
  readonly unusedSince?: number;
  readonly sort?: string;
}

export const STATUS: Readonly<Record<TokenStatus, string>> = {
  [TOKEN_ENABLED]: 'enabled',
  [TOKEN_DISABLED]: 'disabled',
  [TOKEN_EXPIRED]: 'expired',
  [TOKEN_EXHAUSTED]: 'exhausted',
};
/** What keys can be sorted by, by the names of the columns. */
const SORTS = {
  name: 'name',
  'quota-left': 'remain_quota',
  used: 'used_quota',
  created: 'created_time',
  'last-used': 'accessed_time',
  expires: 'expired_time',
};
const TOKEN_STATUSES = Object.keys(STATUS).map((text) => Number(text) as TokenStatus);

const COLUMNS = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  key: ({ key_hint: hint }) => hint,
  user: ({ owner }) => owner,
  status: ({ status }) => STATUS[status],
  'quota-left': (token) => (token.unlimited_quota ? 'unlimited' : { units: token.remain_quota }),
  used: ({ used_quota: used }) => ({ units: used }),
  expires: ({ expired_time: at }) => ({ at }),
  'last-used': lastUse,
  labels: ({ labels }) => labels,
} satisfies Columns<TokenWire & { readonly owner: string }>;

export function addKeyList(keys: Command, io: CliIo): void {
  withSort(withPage(asList(keys.command('list'), COLUMNS)), SORTS)
    .description('list keys, newest first unless sorted')
    .option('--user <user>', 'of one user: name, address or id')
    .option('--name <part>', 'whose name contains this')
    .addOption(new Option('--status <status>', 'in this state').choices(Object.values(STATUS)))
    .option('--model <name>', 'that may use this model')
    .option('--tag <tag>', 'that are bound to this tag')
    .option('--label <label>', 'that have this label themselves: team, or team=search')
    .option('--expires-before <when>', 'that end before: 30d, or a date', expiry(io.now))
    .option(
      '--unused-since <when>',
      'not used since: 90d for the last 90 days, or a date',
      past(io.now),
    )
    .action(onGateway(io, (session, command) => listAll(session, command.opts())));
}

async function listAll(session: Session, options: ListOptions): Promise<void> {
  const { client } = session;
  const { name, model, tag, label, expiresBefore, unusedSince, sort } = options;
  const status = TOKEN_STATUSES.find((one) => STATUS[one] === options.status);
  const page = pageOf(options);
  const user = options.user === undefined ? undefined : await namedUser(client, options.user);
  const query = {
    ...{ keyword: name, user_id: user?.id, status, model, tag, label, sort },
    ...{ expires_before: expiresBefore, unused_since: unusedSince },
  };
  const found = await listPart(client, 'searchTokens', query, page);
  const owners = await usernames(
    client,
    found.items.map(({ user_id: owner }) => owner),
  );
  await session.list({
    columns: COLUMNS,
    none: `No keys in ${client.place}.`,
    ...pageAsRows(found, page),
    rows: found.items.map((token) => ({
      ...token,
      owner: owners.get(token.user_id) ?? String(token.user_id),
    })),
  });
}

/** In earlier releases, the access time of a new key was that of its creation. */
export function lastUse({
  accessed_time: at,
  created_time: created,
  used_quota: used,
}: TokenWire): { readonly at: number; readonly none?: string } {
  return at <= created && used === 0 ? { at, none: 'never' } : { at };
}
