import { TOKEN_MEMBERS } from '../core/token-members.js';
import { Option, type Command } from 'commander';
import { GatewayError } from '../core/errors.js';
import { listPart, type Client, type InputOf } from '../client/client.js';
import type { Aliases } from '../core/model-names.js';
import {
  TOKEN_DISABLED,
  TOKEN_ENABLED,
  TOKEN_EXHAUSTED,
  TOKEN_EXPIRED,
  type TokenStatus,
} from '../core/token.js';
import { TOKEN_SORTS, type TokenWire } from '../shapes/key.js';
import type { UserWire } from '../shapes/user.js';
import { namedUser, self, usernames } from './accounts.js';
import { budgetFacts, givenMembers, memberFacts, withMembers } from './members.js';
import { RefusedError, UsageError } from './errors.js';
import { confirm, onGateway, type CliIo, type Session } from './session.js';
import { amount, counted, facts, moment, names, table } from './text.js';
import { present } from '../core/records.js';
import {
  aliasesOrNone,
  duration,
  expiry,
  listOr,
  listOrAny,
  listOrNone,
  pageOf,
  past,
  rangesOrAny,
  units,
  withPage,
  withSort,
  type PageOptions,
} from './values.js';

interface PolicyOptions {
  readonly models?: readonly string[] | 'all';
  readonly ips?: readonly string[];
  readonly tags?: readonly string[];
  readonly defaultModel?: string;
  readonly aliases?: Aliases;
  readonly fallbacks?: readonly string[];
}

interface CreateOptions extends PolicyOptions {
  readonly name: string;
  readonly user?: string;
  readonly quota?: number;
  readonly expires?: number;
}

interface UpdateOptions extends PolicyOptions {
  readonly name?: string;
  readonly quota?: number;
  readonly addQuota?: number;
  readonly unlimited?: true;
  readonly expires?: number;
  readonly enable?: true;
  readonly disable?: true;
}

interface RollOptions {
  readonly keepOld?: number;
}

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

const STATUS: Readonly<Record<TokenStatus, string>> = {
  [TOKEN_ENABLED]: 'enabled',
  [TOKEN_DISABLED]: 'disabled',
  [TOKEN_EXPIRED]: 'expired',
  [TOKEN_EXHAUSTED]: 'exhausted',
};
const TOKEN_STATUSES = Object.keys(STATUS).map((text) => Number(text) as TokenStatus);
const KEY_ARGUMENT = 'id, name, or the key itself';

export function addKeyCommands(program: Command, io: CliIo): void {
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

  withSort(withPage(keys.command('list')), TOKEN_SORTS)
    .description('list keys, newest first unless sorted')
    .option('--user <user>', 'of one user: name, address or id')
    .option('--name <part>', 'whose name contains this')
    .addOption(new Option('--status <status>', 'in this state').choices(Object.values(STATUS)))
    .option('--model <name>', 'that may use this model')
    .option('--tag <tag>', 'that are bound to this tag')
    .option('--label <label>', 'that have this label themselves: team, or team=search')
    .option('--expires-before <when>', 'that end before: 30d, or a date', expiry(io.now))
    .option('--unused-since <when>', 'not used since: 90d ago, or a date', past(io.now))
    .action(onGateway(io, (session, command) => listAll(session, command.opts())));

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
        const { id } = await resolveKey(session, key);
        await showToken(
          session,
          await session.client.call('updateToken', { body: { id, ...change } }),
        );
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

function withPolicy(command: Command, creating: boolean): Command {
  const described = command
    .option('--models <names>', 'the models it may use: a,b, or all for no limit', listOr('all'))
    .option('--default-model <name>', 'for requests that name no model; none removes it')
    .option(
      '--aliases <names>',
      'other names of models, for its requests alone: alias=model,alias=model, or none',
      aliasesOrNone,
    )
    .option(
      '--fallbacks <names>',
      "the models to try in turn when no channel of the one it names returns a ranking: a,b, or none for those of the model's rule",
      listOrNone,
    )
    .option(
      '--ips <ranges>',
      'the addresses and CIDR ranges that it may be used from, separated by commas, or any for no limit',
      rangesOrAny,
    )
    .option(
      '--tags <names>',
      'the tags of the channels it may use: a,b, or any for no limit',
      listOrAny,
    );
  return withMembers(described, TOKEN_MEMBERS, creating);
}

async function create(session: Session, command: Command): Promise<void> {
  const options = command.opts<CreateOptions>();
  const { client, io } = session;
  const user = await resolveUser(client, options.user);
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

async function listAll(session: Session, options: ListOptions): Promise<void> {
  const { client } = session;
  const { name, model, tag, label, expiresBefore, unusedSince, sort } = options;
  const status = TOKEN_STATUSES.find((one) => STATUS[one] === options.status);
  const page = pageOf(options);
  const user = options.user === undefined ? undefined : await resolveUser(client, options.user);
  const query = {
    ...{ keyword: name, user_id: user?.id, status, model, tag, label, sort },
    ...{ expires_before: expiresBefore, unused_since: unusedSince },
  };
  const { items, total } = await listPart(client, 'searchTokens', query, page);
  const owners = await usernames(
    client,
    items.map(({ user_id: owner }) => owner),
  );
  const rows = items.map((token) => [
    String(token.id),
    token.name,
    token.key_hint,
    owners.get(token.user_id) ?? String(token.user_id),
    STATUS[token.status],
    quotaOf(token),
    amount(token.used_quota),
    moment(token.expired_time),
    lastUse(token),
    token.labels,
  ]);
  const heading = [
    'ID',
    'NAME',
    'KEY',
    'USER',
    'STATUS',
    'QUOTA LEFT',
    'USED',
    'EXPIRES',
    'LAST USED',
    'LABELS',
  ];
  session.show(
    { items, total },
    total === 0
      ? `No keys in ${client.place}.`
      : table(heading, rows, { total, offset: page.offset }),
  );
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
      ['created', moment(token.created_time)],
      ['last used', lastUse(token)],
      ['expires', moment(token.expired_time)],
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
  const { yes } = command.opts<{ yes?: true }>();
  const token = await resolveKey(session, command.args[0]);
  const { id } = token;
  const left = token.unlimited_quota
    ? ''
    : `, and the ${amount(token.remain_quota)} it has left are lost`;
  const what = `Key ${id} "${token.name}" (${token.key_hint}) will be deleted for good: requests with it are refused${left}.`;
  await confirm(session, what, yes);
  await session.client.call('deleteToken', { params: { id } });
  session.show({ id, deleted: true }, `Key ${id} "${token.name}" is deleted.`);
}

/** The key that is meant: by id, by the key itself, or by its name if only one key has it. */
export async function resolveKey(session: Session, given = ''): Promise<TokenWire> {
  const { client } = session;
  if (/^\d{1,15}$/.test(given)) return client.call('getToken', { params: { id: Number(given) } });
  if (given.startsWith('sk-')) {
    // In the body, since addresses are written to logs.
    return client.call('findToken', { body: { key: given } });
  }
  const slice = { offset: 0, limit: 1_000 };
  const page = await listPart(client, 'searchTokens', { keyword: given }, slice);
  const [token, ...others] = page.items.filter(({ name }) => name === given);
  if (token === undefined) {
    throw new GatewayError('not_found', `There is no key with the name "${given}".`);
  }
  if (others.length > 0) {
    const ids = [token, ...others].map(({ id }) => id).join(', ');
    throw new RefusedError(
      `There are ${counted(others.length + 1, 'key')} with the name "${given}"; name one by its id: ${ids}.`,
    );
  }
  // An entry of a list has its owner's name, too.
  return client.call('getToken', { params: { id: token.id } });
}

/** The user that is named, or the default owner of keys if nobody is. */
function resolveUser(client: Client, login: string | undefined): Promise<UserWire> {
  return login === undefined ? self(client) : namedUser(client, login);
}

type PolicyBody = NonNullable<InputOf<'updateToken'>['body']>;

function policyOf(command: Command): Omit<PolicyBody, 'id' | 'status'> {
  const { models, defaultModel, aliases, fallbacks, ips, tags } = command.opts<PolicyOptions>();
  return {
    ...present({ aliases, fallbacks, allow_ips: ips, tags }),
    ...givenMembers(command, TOKEN_MEMBERS),
    ...(models === undefined
      ? {}
      : models === 'all'
        ? { model_limits_enabled: false }
        : { model_limits_enabled: true, model_limits: models }),
    ...(defaultModel === undefined
      ? {}
      : { default_model: defaultModel === 'none' ? null : defaultModel }),
  };
}

function changeOf(command: Command): Omit<PolicyBody, 'id'> {
  const options = command.opts<UpdateOptions>();
  const { name, quota, addQuota, unlimited, expires, enable, disable } = options;
  return {
    ...present({ name, expired_time: expires }),
    ...(enable === true ? { status: TOKEN_ENABLED } : {}),
    ...(disable === true ? { status: TOKEN_DISABLED } : {}),
    ...(unlimited === true ? { unlimited_quota: true } : {}),
    // Whoever names an amount means it as a limit.
    ...(quota === undefined ? {} : { remain_quota: quota, unlimited_quota: false }),
    ...present({ add_quota: addQuota }),
    ...policyOf(command),
  };
}

/** In earlier releases, the access time of a new key was that of its creation. */
function lastUse({
  accessed_time: accessed,
  created_time: created,
  used_quota: used,
}: TokenWire): string {
  return accessed <= created && used === 0 ? 'never' : moment(accessed);
}

function aliasesText(aliases: Aliases): string {
  const pairs = Object.entries(aliases).map(([alias, model]) => `${alias} = ${model}`);
  return names(pairs, 'none');
}

function quotaOf(token: TokenWire): string {
  return token.unlimited_quota ? 'unlimited' : amount(token.remain_quota);
}
