import { Option, type Command } from 'commander';
import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { listPart, type InputOf } from '../client/client.js';
import type { Role } from '../store/store.js';
import type { UserWire } from '../shapes/user.js';
import { namedUser } from './accounts.js';
import { budgetFacts, givenMembers, memberFacts, withMembers } from './members.js';
import { UsageError } from './errors.js';
import { asList, pageAsRows, type Columns } from './listing.js';
import { addLoginListCommands } from './logins.js';
import { confirm, onGateway, readSecret, type CliIo, type Session } from './session.js';
import { amount, facts } from './text.js';
import { present } from '../core/records.js';
import { pageOf, units, withPage, withSort, type PageOptions } from './values.js';

interface UserOptions {
  readonly email?: string;
  readonly displayName?: string;
  readonly password?: string;
  readonly role?: keyof typeof ROLES;
  readonly quota?: number;
}

interface UpdateOptions extends UserOptions {
  readonly username?: string;
  readonly addQuota?: number;
  readonly enable?: true;
  readonly disable?: true;
}

interface ListOptions extends PageOptions {
  readonly keyword?: string;
  readonly role?: string;
  readonly enabled?: true;
  readonly disabled?: true;
  readonly label?: string;
  readonly sort?: string;
}

const ROLES = { guest: 0, user: 1, auditor: 5, admin: 10 } as const satisfies Record<string, Role>;
export const ROLE: Readonly<Record<Role, string>> = {
  0: 'guest',
  1: 'user',
  5: 'auditor',
  10: 'admin',
  100: 'root',
};
const EVERY_ROLE = Object.keys(ROLE).map((text) => Number(text) as Role);
const USER_ARGUMENT = 'id, name or address';

const COLUMNS = {
  id: ({ id }) => id,
  name: ({ username }) => username,
  address: ({ email }) => email,
  role: ({ role }) => ROLE[role],
  status: (user) => statusOf(user),
  'quota-left': ({ quota: units }) => ({ units }),
  used: ({ used_quota: units }) => ({ units }),
  requests: ({ request_count: count }) => count,
  created: ({ created_time: at }) => ({ at }),
  'last-login': ({ last_login_time: at }) => (at === 0 ? { at, none: 'never' } : { at }),
  labels: ({ labels }) => labels,
} satisfies Columns<UserWire>;

const ADMINS = { name: (name) => name } satisfies Columns<string>;

/** What accounts can be sorted by, by the names of the columns. */
const SORTS = {
  name: 'username',
  role: 'role',
  'quota-left': 'quota',
  used: 'used_quota',
  requests: 'request_count',
  created: 'created_time',
  'last-login': 'last_login_time',
};

export function addCommands(program: Command, io: CliIo): void {
  const users = program.command('users');

  withFields(users.command('create'), true)
    .description('make an account')
    .argument('<name>', 'its name')
    .action(onGateway(io, create));

  withMembers(users.command('invite'), ACCOUNT_MEMBERS, true)
    .description('make an account, and mail its owner a code to set a password')
    .argument('<name>', 'its name')
    .requiredOption('--email <address>', 'where the invitation goes')
    .option('--display-name <text>', 'its display name')
    .addOption(new Option('--role <role>', 'its role').choices(Object.keys(ROLES)))
    .option('--quota <amount>', 'its balance: units, or dollars such as 1.50usd', units)
    .action(onGateway(io, invite));

  users
    .command('mail-reset')
    .description('mail the owner of an account a code to set a new password')
    .argument('<user>', USER_ARGUMENT)
    .action(onGateway(io, mailReset));

  addLoginListCommands(users, io);

  withSort(withPage(asList(users.command('list'), COLUMNS)), SORTS)
    .description('list accounts, newest first unless sorted')
    .option('--keyword <part>', 'whose name or address contains this')
    .addOption(new Option('--role <role>', 'with this role').choices(Object.values(ROLE)))
    .addOption(new Option('--enabled', 'that are enabled').conflicts('disabled'))
    .option('--disabled', 'that are disabled')
    .option('--label <label>', 'that have this label: team, or team=search')
    .action(onGateway(io, listAll));

  users
    .command('show')
    .description('show everything about an account except its password')
    .argument('<user>', USER_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [login = ''] }) => {
        showUser(session, await namedUser(session.client, login));
      }),
    );

  withFields(users.command('update'), false)
    .description('change what is given; the rest stays as it is')
    .argument('<user>', USER_ARGUMENT)
    .option('--username <name>', 'its name')
    .addOption(
      new Option('--add-quota <amount>', 'add this much to its quota; may be negative')
        .argParser(units)
        .conflicts('quota'),
    )
    .addOption(new Option('--enable', 'enable it').conflicts('disable'))
    .option('--disable', 'disable it: its logins end and its keys are refused')
    .action(onGateway(io, update));

  asList(users.command('admins'), ADMINS)
    .description('whom to ask for what only admins may do')
    .action(onGateway(io, listAdmins));

  users
    .command('delete')
    .description('delete an account for good, with its keys')
    .argument('<user>', USER_ARGUMENT)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));
}

function withFields(command: Command, creating: boolean): Command {
  const described = command
    .option('--password <secret>', 'env:NAME for a variable, or - for standard input')
    .option('--email <address>', 'the address that one-time codes are mailed to; none removes it')
    .option('--display-name <text>', 'its display name')
    .addOption(new Option('--role <role>', 'its role').choices(Object.keys(ROLES)))
    .option('--quota <amount>', 'its balance: units, or dollars such as 1.50usd', units);
  return withMembers(described, ACCOUNT_MEMBERS, creating);
}

async function listAdmins({ client, list }: Session): Promise<void> {
  const rows = await client.call('listAdmins');
  await list({ columns: ADMINS, rows, none: 'Nobody is named.', json: rows, isPlain: true });
}

async function create(session: Session, command: Command): Promise<void> {
  const { email, displayName, password, role = 'user', quota } = command.opts<UserOptions>();
  const { io, client } = session;
  const [username = ''] = command.args;
  const user = await client.call('createUser', {
    body: {
      username,
      password: await newPassword(io, username, password),
      ...present({ email: email === 'none' ? undefined : email, display_name: displayName, quota }),
      role: ROLES[role],
      ...givenMembers(command, ACCOUNT_MEMBERS),
    },
  });
  showUser(session, user);
}

async function invite(session: Session, command: Command): Promise<void> {
  const { email = '', displayName, role = 'user', quota } = command.opts<UserOptions>();
  const [username = ''] = command.args;
  const user = await session.client.call('inviteUser', {
    body: {
      ...{ username, email, role: ROLES[role] },
      ...present({ display_name: displayName, quota }),
      ...givenMembers(command, ACCOUNT_MEMBERS),
    },
  });
  showUser(session, user);
}

async function mailReset({ client, show }: Session, command: Command): Promise<void> {
  const [login = ''] = command.args;
  const { id, username, email } = await namedUser(client, login);
  await client.call('mailPasswordReset', { params: { id }, body: {} });
  show({ id, mailed: true }, `A code is on its way to ${email === '' ? username : email}.`);
}

async function listAll({ client, list }: Session, command: Command): Promise<void> {
  const options = command.opts<ListOptions>();
  const { keyword, label, sort } = options;
  const role = EVERY_ROLE.find((one) => ROLE[one] === options.role);
  const status = options.enabled === true ? 1 : options.disabled === true ? 2 : undefined;
  const page = pageOf(options);
  const query = { keyword, role, status, label, sort } as const;
  await list({
    columns: COLUMNS,
    none: `No such accounts in ${client.place}.`,
    ...pageAsRows(await listPart(client, 'searchUsers', query, page), page),
  });
}

async function update(session: Session, command: Command): Promise<void> {
  const options = command.opts<UpdateOptions>();
  const { username, email, displayName, password, role, quota, addQuota } = options;
  const { enable, disable } = options;
  const [login = ''] = command.args;
  const edit: Omit<NonNullable<InputOf<'updateUser'>['body']>, 'id'> = present({
    username,
    display_name: displayName,
    email: email === 'none' ? '' : email,
    password: password === undefined ? undefined : await readSecret(session.io, password),
    role: role === undefined ? undefined : ROLES[role],
    status: enable === true ? 1 : disable === true ? 2 : undefined,
    quota,
    add_quota: addQuota,
    ...givenMembers(command, ACCOUNT_MEMBERS),
  });
  if (Object.keys(edit).length === 0) throw new UsageError('Name at least one thing to change.');
  const { id } = await namedUser(session.client, login);
  showUser(session, await session.client.call('updateUser', { body: { id, ...edit } }));
}

async function remove(session: Session, command: Command): Promise<void> {
  const [login = ''] = command.args;
  const user = await namedUser(session.client, login);
  const { id, username } = user;
  const what = `Account ${id} "${username}" will be deleted for good, with its keys and the ${amount(user.quota)} it has left.`;
  await confirm(session, what);
  await session.client.call('deleteUser', { params: { id } });
  session.show({ id, deleted: true }, `Account ${id} "${username}" is deleted.`);
}

async function newPassword(
  io: CliIo,
  username: string,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return readSecret(io, given);
  if (io.ask === undefined) throw new UsageError('Give the account a --password.');
  return io.ask(`Password for ${username}: `, true);
}

function showUser({ show, when }: Session, user: UserWire): void {
  show(
    user,
    facts([
      ['id', String(user.id)],
      ['name', user.username],
      ['display name', user.display_name],
      ['address', user.email === '' ? 'none' : user.email],
      ['role', ROLE[user.role]],
      ['status', statusOf(user)],
      ['quota left', amount(user.quota)],
      ['used', amount(user.used_quota)],
      ['requests', String(user.request_count)],
      ['created', when(user.created_time)],
      ...memberFacts(ACCOUNT_MEMBERS, user),
      ...budgetFacts(user),
    ]),
  );
}

function statusOf({ status }: UserWire): string {
  return status === 1 ? 'enabled' : 'disabled';
}
