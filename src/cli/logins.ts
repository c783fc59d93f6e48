import type { Command } from 'commander';
import type { SessionWire } from '../shapes/session.js';
import { UsageError } from './errors.js';
import { namedUser, onGateway, type CliIo, type Session } from './session.js';
import { moment, table } from './text.js';

const USER = 'id, name or address';

/** The commands about what an account is logged in with. */
export function addLoginListCommands(users: Command, io: CliIo): void {
  users
    .command('logins')
    .description('list the logins of an account: browsers and access tokens')
    .argument('[user]', `${USER} (default: root, or you, if logged in)`)
    .action(onGateway(io, listAll));

  users
    .command('end-login')
    .description('end one of these logins')
    .argument('<user>', USER)
    .argument('<id>', 'of the login, as the list shows it')
    .action(
      onGateway(io, async ({ backend, show }, { args: [login = '', id = ''] }) => {
        const user = await namedUser(backend, login);
        await backend.endLogin(user.id, id);
        show({ id, ended: true }, `Login ${id} of ${user.username} has ended.`);
      }),
    );
}

async function listAll({ backend, show }: Session, { args: [login] }: Command): Promise<void> {
  const user = login === undefined ? await backend.defaultUser() : await namedUser(backend, login);
  if (user === undefined) throw new UsageError('Name an account: there is no root.');
  const logins = await backend.listLogins(user.id);
  show(
    { items: logins },
    logins.length === 0
      ? `${user.username} is not logged in anywhere.`
      : table(['ID', 'KIND', 'SINCE', 'LAST USED', 'FROM', 'BROWSER'], logins.map(rowOf)),
  );
}

function rowOf(login: SessionWire): string[] {
  return [
    login.id,
    login.kind === 'session' ? 'browser' : 'access token',
    moment(login.created_time),
    moment(login.used_time),
    login.address ?? '',
    login.agent ?? '',
  ];
}
