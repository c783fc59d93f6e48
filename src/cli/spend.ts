import { Option, type Command } from 'commander';
import { BREAKDOWN_GROUPS, type BreakdownGroup } from '../management/usage-breakdown.js';
import type { BreakdownRowWire } from '../shapes/stats.js';
import { namedUser, onGateway, type CliIo, type Session } from './session.js';
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
  { backend, show }: Session,
  { by, then, user, since, until }: SpendOptions,
  nowMs: number,
): Promise<void> {
  const end = until ?? Math.floor(nowMs / 1_000) + 1;
  const groups = then === undefined || then === by ? [by] : [by, then];
  const breakdown = await backend.usageBreakdown({
    by: groups,
    fromMs: (since ?? end - MONTH_S) * 1_000,
    toMs: end * 1_000,
    ...(user === undefined ? {} : { owner: (await namedUser(backend, user)).id }),
  });
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
      ? `Nothing was spent in that time on ${backend.place}.`
      : table(
          [...heading, 'REQUESTS', 'FAILED', 'DOCUMENTS', 'TOKENS', 'QUOTA'],
          [
            ...rows.map((row) => [...groups.map((group) => nameOf(row, group)), ...cells(row)]),
            [...groups.map((_, index) => (index === 0 ? 'total' : '')), ...cells(total)],
          ],
        ),
  );
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
    case 'model':
    case 'provider':
    case 'tag':
      return row[group] ?? '';
  }
}
