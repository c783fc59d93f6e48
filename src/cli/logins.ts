import type { Command } from 'commander';
import type { SessionWire } from '../shapes/session.js';
import type { Client } from '../client/client.js';
import { namedUser, self } from './accounts.js';
import { asList, type Columns } from './listing.js';
import { onGateway, type CliIo, type Session } from './session.js';

const COLUMNS = {
  id: ({ id }) => id,
  kind: ({ kind }) => (kind === 'session' ? 'browser' : 'access token'),
  since: ({ created_time: at }) => ({ at }),
  'last-used': ({ used_time: at }) => ({ at }),
  from: ({ address }) => address,
  browser: ({ agent }) => agent,
} satisfies Columns<SessionWire>;

const USER = 'id, name or address';

/** The commands about what an account is logged in with. */
export function addLoginListCommands(users: Command, io: CliIo): void {
  asList(users.command('logins'), COLUMNS)
    .description('list the logins of an account: browsers and access tokens')
    .argument('[user]', `${USER} (default: root, or you, if logged in)`)
    .action(onGateway(io, listAll));

  users
    .command('end-login')
    .description('end one of these logins')
    .argument('<user>', USER)
    .argument('<id>', 'of the login, as the list shows it')
    .action(
      onGateway(io, async ({ client, show }, { args: [login = '', id = ''] }) => {
        const user = await namedUser(client, login);
        await end(client, user.id, id);
        show({ id, ended: true }, `Login ${id} of ${user.username} has ended.`);
      }),
    );
}

/** Admins may not end their own logins as they end those of others. */
async function isOwn(client: Client, userId: number): Promise<boolean> {
  return !client.isOperator && (await self(client)).id === userId;
}

async function end(client: Client, userId: number, id: string): Promise<void> {
  if (await isOwn(client, userId)) await client.call('endSession', { params: { id } });
  else await client.call('endUserSession', { params: { id: userId, session: id } });
}

async function listAll({ client, list }: Session, { args: [login] }: Command): Promise<void> {
  const user = login === undefined ? await self(client) : await namedUser(client, login);
  const logins = (await isOwn(client, user.id))
    ? await client.call('listSessions')
    : await client.call('listUserSessions', { params: { id: user.id } });
  await list({
    columns: COLUMNS,
    rows: logins,
    none: `${user.username} is not logged in anywhere.`,
    json: { items: logins },
  });
}
