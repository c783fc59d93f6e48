import { listPart, type Client } from '../client/client.js';
import { GatewayError } from '../core/errors.js';
import { ALL, SOME, theOnly } from './named.js';
import type { UserWire } from '../shapes/user.js';

const AUDITOR_ROLE = 5;

/** The logged-in account; on the store itself, root. */
export function self(client: Client): Promise<UserWire> {
  return client.call('getSelf');
}

/** Whether what belongs to others may be read. */
export async function seesAll(client: Client): Promise<boolean> {
  return client.isOperator || (await self(client)).role >= AUDITOR_ROLE;
}

/** A user by id, name or address. */
export async function namedUser(client: Client, login: string): Promise<UserWire> {
  if (!client.isOperator) {
    const me = await self(client);
    if (isCalled(me, login)) return me;
  }
  const { items } = await listPart(client, 'searchUsers', { keyword: login }, ALL);
  return theOnly(
    'user',
    login,
    items.filter((one) => isCalled(one, login)),
    async () => {
      const known = await listPart(client, 'searchUsers', {}, SOME);
      return known.items.flatMap(({ username, email }) =>
        email === '' ? username : [username, email],
      );
    },
  );
}

/** Names by id, of the accounts that may be seen. */
export async function usernames(
  client: Client,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const users = await Promise.all(
    [...new Set(ids)].map((id) => client.call('getUser', { params: { id } }).catch(unlessUnseen)),
  );
  return new Map(users.flatMap((user) => (user === null ? [] : [[user.id, user.username]])));
}

/** Things that do not exist, or belong to others, have no name; every other failure is thrown. */
function unlessUnseen(error: unknown): null {
  const isUnseen =
    error instanceof GatewayError && ['not_found', 'permission_denied'].includes(error.code);
  if (isUnseen) return null;
  throw error;
}

function isCalled({ id, username, email }: UserWire, login: string): boolean {
  const wanted = login.toLowerCase();
  return (
    username.toLowerCase() === wanted || email.toLowerCase() === wanted || String(id) === login
  );
}
