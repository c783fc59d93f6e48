import { Option, type Command } from 'commander';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import { TOKEN_DISABLED, TOKEN_ENABLED, type TokenStatus } from '../core/token.js';
import type { Aliases } from '../core/model-names.js';
import { present } from '../core/records.js';
import type { TokenWire } from '../shapes/key.js';
import { namedUser, self, usernames } from './accounts.js';
import { reachWarnings, warnings } from './key-checks.js';
import { addKeyList, lastUse, STATUS } from './key-list.js';
import { changeOf, policyOf, withPolicy } from './key-options.js';
import { budgetFacts, memberFacts } from './members.js';
import { resolveKey } from './named.js';
import { UsageError } from './errors.js';
import { confirm, onGateway, type CliIo, type Session } from './session.js';
import { amount, facts, moment, names } from './text.js';
import { duration, expiry, units } from './values.js';

interface CreateOptions {
  readonly name: string;
  readonly user?: string;
  readonly quota?: number;
  readonly unlimited?: true;
  readonly budget?: number;
  readonly expires?: number;
  readonly models?: readonly string[] | 'all';
  readonly tags?: readonly string[];
}

interface RollOptions {
  readonly keepOld?: number;
}

const KEY_ARGUMENT = 'id, name, or the key itself';

export function addCommands(program: Command, io: CliIo): void {
  const keys = program.command('keys');

  withPolicy(keys.command('create'), true)
    .description('make a key and print it; it is not shown again')
    .option('--name <name>', 'its name', 'default')
    .option(
      '--user <user>',
      'whose it is: name, address or id (default: root, or you, if logged in)',
    )
    .addOption(
      new Option('--quota <amount>', 'what it may spend: units, or dollars such as 1.50usd')
        .argParser(units)
        .conflicts('unlimited'),
    )
    .option('--unlimited', 'limited only by the balance of its user (without --quota)')
    .option('--expires <when>', '30d, 12h, a date, or never', expiry(io.now))
    .action(onGateway(io, create));

  addKeyList(keys, io);

  keys
    .command('show')
    .description('show everything about a key except the key itself')
    .argument('<key>', KEY_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [key] }) => {
        await showToken(session, await resolveKey(session, key));
      }),
    );

  for (const [verb, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    keys
      .command(verb)
      .description(enabled ? 'enable a key' : 'disable a key')
      .argument('<key>', KEY_ARGUMENT)
      .action(
        onGateway(io, async (session, { args: [key] }) => {
          const { id } = await resolveKey(session, key);
          const status: TokenStatus = enabled ? TOKEN_ENABLED : TOKEN_DISABLED;
          const body = { id, status };
          const token = await session.client.call('updateToken', { body });
          const text = `Key ${id} "${token.name}" is ${STATUS[token.status]} on all gateways.`;
          session.show(token, text);
        }),
      );
  }

  withPolicy(keys.command('update'), false)
    .description('change what is given; the rest stays as it is')
    .argument('<key>', KEY_ARGUMENT)
    .option('--name <name>', 'its name')
    .addOption(
      new Option('--quota <amount>', 'what it may still spend: units, or dollars such as 1.50usd')
        .argParser(units)
        .conflicts(['addQuota', 'unlimited']),
    )
    .option('--add-quota <amount>', 'add this much to its quota; may be negative', units)
    .option('--unlimited', 'limited only by the balance of its user')
    .option('--expires <when>', '30d, 12h, a date, or never', expiry(io.now))
    .addOption(new Option('--enable', 'enable it').conflicts('disable'))
    .option('--disable', 'refuse it')
    .action(
      onGateway(io, async (session, command) => {
        const [key] = command.args;
        const change = changeOf(command);
        if (Object.keys(change).length === 0)
          throw new UsageError('Name at least one thing to change.');
        const { client } = session;
        const { id } = await resolveKey(session, key);
        for (const warning of await reachWarnings(client, command.opts())) {
          io.writeError(`${warning}\n`);
        }
        await showToken(session, await client.call('updateToken', { body: { id, ...change } }));
      }),
    );

  keys
    .command('roll')
    .description('give a key another secret and print it; quota, limits and history stay')
    .argument('<key>', KEY_ARGUMENT)
    .option(
      '--keep-old <time>',
      'how long the old one keeps working: 1h, 7d (default: not at all)',
      duration,
    )
    .action(onGateway(io, roll));

  keys
    .command('delete')
    .description('delete a key for good')
    .argument('<key>', KEY_ARGUMENT)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));
}

/** Root has no balance that ends: a key of it is without a limit only if that is said. */
const ROOT = 100;

async function create(session: Session, command: Command): Promise<void> {
  const options = command.opts<CreateOptions>();
  const { client, io } = session;
  const user = await (options.user === undefined ? self(client) : namedUser(client, options.user));
  const isLimited = [options.quota, options.budget, options.unlimited].some(
    (given) => given !== undefined,
  );
  if (user.role === ROOT && !isLimited) {
    throw new UsageError(
      `A key of ${user.username} may spend without end. Say how much: --quota 5usd or --budget 5usd; or --unlimited. For a key of somebody else: --user.`,
    );
  }
  for (const warning of await warnings(client, user, options)) io.writeError(`${warning}\n`);
  const token = await client.call('createToken', {
    body: {
      user_id: user.id,
      name: options.name,
      unlimited_quota: options.quota === undefined,
      ...policyOf(command),
      ...present({ remain_quota: options.quota, expired_time: options.expires }),
    },
  });
  session.show(token, token.key);
  const quota = token.unlimited_quota
    ? `what ${user.username} has: ${amount(user.quota)}`
    : amount(token.remain_quota);
  io.writeError(
    `Key ${token.id} "${token.name}" of ${user.username} may spend ${quota}. ` +
      'It is not shown again: only its hash is kept.\n',
  );
}

async function roll(session: Session, command: Command): Promise<void> {
  const { keepOld = 0 } = command.opts<RollOptions>();
  const { id } = await resolveKey(session, command.args[0]);
  const token = await session.client.call('rollToken', {
    params: { id },
    body: { keep_old_s: Math.ceil(keepOld / 1_000) },
  });
  session.show(token, token.key);
  const old =
    token.old_key_until === 0
      ? 'The old one no longer works.'
      : `The old one works until ${moment(token.old_key_until)}.`;
  session.io.writeError(`Key ${id} "${token.name}" has a new secret, not shown again. ${old}\n`);
}

async function showToken(session: Session, token: TokenWire): Promise<void> {
  const owners = await usernames(session.client, [token.user_id]);
  session.show(
    token,
    facts([
      ['id', String(token.id)],
      ['name', token.name],
      ['key', token.key_hint],
      ['user', owners.get(token.user_id) ?? String(token.user_id)],
      ['status', STATUS[token.status]],
      ['quota left', quotaOf(token)],
      ['used', amount(token.used_quota)],
      ['created', session.when(token.created_time)],
      ['last used', lastUseText(session, token)],
      ['expires', session.when(token.expired_time)],
      ['models', token.model_limits_enabled ? names(token.model_limits, 'all') : 'all'],
      ['default model', token.default_model ?? 'none'],
      ['aliases', aliasesText(token.aliases)],
      ['fallbacks', names(token.fallbacks, "by the model's rule")],
      ['addresses', names(token.allow_ips, 'any')],
      ['tags', names(token.tags, 'any')],
      ...memberFacts(TOKEN_MEMBERS, token),
      ...budgetFacts(token),
    ]),
  );
}

async function remove(session: Session, command: Command): Promise<void> {
  const token = await resolveKey(session, command.args[0]);
  const { id } = token;
  const left = token.unlimited_quota
    ? ''
    : `, and the ${amount(token.remain_quota)} it has left are lost`;
  const what = `Key ${id} "${token.name}" (${token.key_hint}) will be deleted for good: requests with it are refused${left}.`;
  await confirm(session, what);
  await session.client.call('deleteToken', { params: { id } });
  session.show({ id, deleted: true }, `Key ${id} "${token.name}" is deleted.`);
}

function lastUseText({ when }: Session, token: TokenWire): string {
  const { at, none } = lastUse(token);
  return none ?? when(at);
}

function aliasesText(aliases: Aliases): string {
  const pairs = Object.entries(aliases).map(([alias, model]) => `${alias} = ${model}`);
  return names(pairs, 'none');
}

function quotaOf(token: TokenWire): string {
  return token.unlimited_quota ? 'unlimited' : amount(token.remain_quota);
}
