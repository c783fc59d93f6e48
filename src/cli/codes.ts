import { Option, type Command } from 'commander';
import { NEVER_EXPIRES } from '../core/token.js';
import { present } from '../core/records.js';
import { listPart, type Client, type ItemOf } from '../client/client.js';
import { CODE_STATUS_NUMBERS, STATUS_NAMES } from '../shapes/code.js';
import { UsageError } from './errors.js';
import { withDryRun } from './consequences.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { ALL, isId, SOME, theOnly } from './named.js';
import { confirm, onGateway, type CliIo, type Session } from './session.js';
import { amount, counted, moment } from './text.js';
import { expiry, pageOf, units, wholeNumber, withPage, type PageOptions } from './values.js';

interface CreateOptions {
  readonly name: string;
  readonly quota: number;
  readonly count: number;
  readonly expires: number;
}

interface ListOptions extends PageOptions {
  readonly keyword?: string;
  readonly name?: string;
  readonly batch?: string;
  readonly status?: keyof typeof CODE_STATUS_NUMBERS;
}

const CODE_ARGUMENT = 'its id, or its name if no other code has it';
const STATUSES = Object.values(STATUS_NAMES);

const COLUMNS = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  code: ({ key_hint: hint }) => hint,
  status: ({ status }) => STATUS_NAMES[status],
  quota: ({ quota: units }) => ({ units }),
  created: ({ created_time: at }) => ({ at }),
  expires: ({ expired_time: at }) => ({ at: at === 0 ? NEVER_EXPIRES : at }),
  redeemed: ({ used_user_id: id, used_by: name, redeemed_time: at }) =>
    id === 0 ? null : `${name ?? `user ${id}`}, ${moment(at)}`,
} satisfies Columns<ItemOf<'searchRedemptionCodes'>>;

const BATCHES = {
  batch: ({ batch_id: id }) => id,
  name: ({ name }) => name,
  made: ({ made }) => made,
  used: ({ used }) => used,
  left: ({ left }) => left,
  worth: ({ left_quota: units }) => ({ units }),
  created: ({ created_time: at }) => ({ at }),
} satisfies Columns<ItemOf<'listRedemptionBatches'>>;

export function addCommands(program: Command, io: CliIo): void {
  const codes = program.command('codes');

  codes
    .command('create')
    .description('make codes and print them, one per line; they are not shown again')
    .requiredOption(
      '--quota <amount>',
      'the value of each: units, or dollars such as 1.50usd',
      units,
    )
    .option('--count <count>', 'how many, 100 at most', wholeNumber, 1)
    .option('--name <name>', 'their name', 'code')
    .addOption(
      new Option('--expires <when>', '30d, 12h, a date, or never')
        .argParser(expiry(io.now))
        .default(NEVER_EXPIRES, 'never'),
    )
    .action(onGateway(io, (session, command) => create(session, command.opts())));

  withPage(asList(codes.command('list'), COLUMNS))
    .description('list codes, newest first, without the codes themselves')
    .option('--keyword <part>', 'whose name contains this')
    .option('--name <name>', 'with exactly this name')
    .option('--batch <id>', 'of this batch')
    .addOption(new Option('--status <status>', 'in this state').choices(STATUSES))
    .action(onGateway(io, listAll));

  asList(codes.command('batches'), BATCHES)
    .description('sum up codes by batch, newest first')
    .action(onGateway(io, listBatches));

  withDryRun(codes.command('disable-batch'))
    .description('refuse to redeem what is left of a batch')
    .addOption(new Option('--batch <id>', 'its id').conflicts('name'))
    .option('--name <name>', 'or the name of its codes')
    .action(onGateway(io, disableBatch));

  for (const [verb, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    codes
      .command(verb)
      .description(enabled ? 'allow a code to be redeemed' : 'refuse to redeem a code')
      .argument('<code>', CODE_ARGUMENT)
      .action(
        onGateway(io, async ({ client, show }, { args: [given] }) => {
          const { id } = await resolveCode(client, given);
          const body = { id, status: enabled ? (1 as const) : (2 as const) };
          const code = await client.call('updateRedemptionCode', { body });
          show(code, `Code ${code.id} "${code.name}" is ${STATUS_NAMES[code.status]}.`);
        }),
      );
  }

  codes
    .command('delete')
    .description('delete a code for good')
    .argument('<code>', CODE_ARGUMENT)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      onGateway(io, async (session, command) => {
        const code = await resolveCode(session.client, command.args[0]);
        const { id, name, status } = code;
        const what = `Code ${id} "${name}" (${STATUS_NAMES[status]}, ${amount(code.quota)}) will be deleted for good.`;
        await confirm(session, what);
        await session.client.call('deleteRedemptionCode', { params: { id } });
        session.show({ id, deleted: true }, `Code ${id} "${name}" is deleted.`);
      }),
    );

  withDryRun(codes.command('prune'))
    .description('delete the codes that are used, disabled or expired')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      onGateway(io, async (session) => {
        if (session.isDryRun) {
          await showPruned(session);
          return;
        }
        const what = 'All codes that are used, disabled or expired will be deleted for good.';
        await confirm(session, what);
        const deleted = await session.client.call('deleteInvalidRedemptionCodes');
        session.show({ deleted }, `${counted(deleted, 'code')} deleted.`);
      }),
    );
}

async function create({ client, io, show }: Session, options: CreateOptions): Promise<void> {
  const { name, quota, count, expires } = options;
  const expiredTime = expires === NEVER_EXPIRES ? 0 : expires;
  const codes = await client.call('createRedemptionCodes', {
    body: { name, quota, count, expired_time: expiredTime },
  });
  show({ codes }, codes.join('\n'));
  io.writeError(
    `${counted(codes.length, 'code')} "${name}", each worth ${amount(quota)}. They are not shown again: only their hashes are kept.\n`,
  );
}

async function listBatches({ client, list }: Session): Promise<void> {
  const batches = await client.call('listRedemptionBatches');
  await list({
    columns: BATCHES,
    rows: batches,
    none: `No codes in ${client.place}.`,
    json: { items: batches },
  });
}

async function resolveCode(client: Client, given = ''): Promise<ItemOf<'searchRedemptionCodes'>> {
  if (isId(given)) return client.call('getRedemptionCode', { params: { id: Number(given) } });
  const { items } = await listPart(client, 'searchRedemptionCodes', { name: given }, SOME);
  return theOnly('code', given, items, async () => {
    const all = await listPart(client, 'searchRedemptionCodes', {}, SOME);
    return all.items.map(({ name }) => name);
  });
}

/** Shows how many codes can no longer be redeemed. */
async function showPruned(session: Session): Promise<void> {
  const { items } = await listPart(session.client, 'searchRedemptionCodes', {}, ALL);
  const nowS = session.io.now() / 1_000;
  const over = items.filter(
    ({ status, expired_time: end }) =>
      status !== CODE_STATUS_NUMBERS.enabled || (end !== 0 && end <= nowS),
  );
  showCount(session, over.length, 'deleted');
}

function showCount({ show, client }: Session, count: number, what: string): void {
  // Those of makers whose role is not below one's own stay; the operator of the store has them all.
  const most = client.isOperator ? '' : ' at most';
  show(
    { dry_run: true, codes: count },
    `${counted(count, 'code')} would be ${what}${most}. Nothing was changed.`,
  );
}

async function disableBatch(session: Session, command: Command): Promise<void> {
  const { client, show } = session;
  const { batch, name } = command.opts<{ batch?: string; name?: string }>();
  const of = batch === undefined ? { name: name ?? '' } : { batch_id: batch };
  if ('name' in of && of.name === '') throw new UsageError('Give --batch or --name.');
  if (session.isDryRun) {
    const query = { ...present({ name, batch_id: batch }), status: CODE_STATUS_NUMBERS.enabled };
    const { total } = await listPart(client, 'searchRedemptionCodes', query, {
      offset: 0,
      limit: 1,
    });
    showCount(session, total, 'disabled');
    return;
  }
  const disabled = await client.call('disableRedemptionBatch', { body: of });
  show({ disabled }, `${counted(disabled, 'code')} disabled.`);
}

async function listAll({ client, list }: Session, command: Command): Promise<void> {
  const options = command.opts<ListOptions>();
  const { keyword, name, batch } = options;
  const status = options.status === undefined ? undefined : CODE_STATUS_NUMBERS[options.status];
  const page = pageOf(options);
  const query = { keyword, name, status, batch_id: batch };
  await list({
    columns: COLUMNS,
    none: `No such codes in ${client.place}.`,
    ...pageAsRows(await listPart(client, 'searchRedemptionCodes', query, page), page),
  });
}
