import { Option, type Command } from 'commander';
import type { Client, InputOf, ReplyOf } from '../client/client.js';
import { GatewayError } from '../core/errors.js';
import { BREAKDOWN_GROUPS, type BreakdownGroup } from '../management/usage-breakdown.js';
import type { BreakdownRowWire } from '../shapes/stats.js';
import { namedUser, seesAll, self } from './accounts.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, moment, table } from './text.js';
import { past } from './values.js';

interface SpendOptions {
  readonly by: BreakdownGroup;
  readonly then?: BreakdownGroup;
  readonly user?: string;
  readonly since?: number;
  readonly until?: number;
}

const MONTH_S = 30 * 24 * 3_600;

export function addSpendCommand(program: Command, io: CliIo): void {
  const choices = [...BREAKDOWN_GROUPS];
  program
    .command('spend')
    .description('add up who spent what, across all gateways')
    .addOption(new Option('--by <what>', 'a row for each').choices(choices).default('user'))
    .addOption(new Option('--then <what>', 'and in it, a row for each').choices(choices))
    .option('--user <user>', 'of this account: id, name or address')
    .option('--since <when>', 'since when: 30d ago, or a date (default: 30d)', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now))
    .action(onGateway(io, (session, command) => showSpending(session, command.opts(), io.now())));
}

async function showSpending(
  { client, show }: Session,
  { by, then, user, since, until }: SpendOptions,
  nowMs: number,
): Promise<void> {
  const end = until ?? Math.floor(nowMs / 1_000) + 1;
  const groups = then === undefined || then === by ? [by] : [by, then];
  const span = { start_timestamp: since ?? end - MONTH_S, end_timestamp: end };
  const breakdown = await breakdownOf(client, { by, then: groups[1], ...span }, user);
  const { rows, total } = breakdown;
  const heading = groups.map((group) => group.toUpperCase());
  const cells = (sums: typeof total): string[] => [
    String(sums.requests),
    String(sums.failed),
    String(sums.documents),
    String(sums.tokens),
    amount(sums.quota),
  ];
  show(
    breakdown,
    rows.length === 0
      ? `Nothing was spent in that time on ${client.place}.`
      : table(
          [...heading, 'REQUESTS', 'FAILED', 'DOCUMENTS', 'TOKENS', 'QUOTA'],
          [
            ...rows.map((row) => [...groups.map((group) => nameOf(row, group)), ...cells(row)]),
            [...groups.map((_, index) => (index === 0 ? 'total' : '')), ...cells(total)],
          ],
        ),
  );
}

type Breakdown = NonNullable<InputOf<'usageBreakdown'>['query']>;

/** Spending of everybody, of one account, or of one's own for those who see no other. */
async function breakdownOf(
  client: Client,
  asked: Breakdown,
  user: string | undefined,
): Promise<ReplyOf<'usageBreakdown'>> {
  if (await seesAll(client)) {
    const owner = user === undefined ? undefined : (await namedUser(client, user)).id;
    return client.call('usageBreakdown', { query: { ...asked, user_id: owner } });
  }
  if (user !== undefined && (await namedUser(client, user)).id !== (await self(client)).id) {
    throw new GatewayError('permission_denied', 'Your account may only see its own spending.');
  }
  // One's own spending has one user.
  const { by, ...others } = asked;
  const groups = by === 'user' || by === undefined ? {} : { by };
  return client.call('ownUsageBreakdown', { query: { ...others, ...groups } });
}

/** The group that a row is about, by its name if it has one. */
function nameOf(row: BreakdownRowWire, group: BreakdownGroup): string {
  if (row.is_rest) return 'others';
  switch (group) {
    case 'user':
      return row.username ?? `${row.user_id ?? ''}`;
    case 'token':
      return row.token_name ?? `${row.token_id ?? ''}`;
    case 'channel':
      return row.channel ?? `${row.channel_id ?? ''}`;
    case 'hour':
      return row.hour === null ? '' : moment(row.hour);
    case 'day':
      return row.day === null ? '' : moment(row.day);
    case 'model':
    case 'provider':
    case 'tag':
      return row[group] ?? '';
  }
}
