import { listPart, type Client, type InputOf } from '../client/client.js';
import { closest } from '../core/closest.js';
import { GatewayError } from '../core/errors.js';
import type { ChannelWire } from '../shapes/channel.js';
import type { TokenWire } from '../shapes/key.js';
import { RefusedError } from './errors.js';
import { counted } from './text.js';

interface Asking {
  readonly client: Client;
}

/** A whole list. */
export const ALL = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
/** Of a long list, near names are looked for among so many. */
export const SOME = { offset: 0, limit: 1_000 };

/** The only one that has the name; if none has, the error says which name is near. */
export async function theOnly<T extends { readonly id: number }>(
  kind: string,
  given: string,
  found: readonly T[],
  known: () => Promise<readonly string[]>,
): Promise<T> {
  const [one, ...others] = found;
  if (one === undefined) throw await unknownName(kind, given, known);
  if (others.length === 0) return one;
  const ids = found.map(({ id }) => id).join(', ');
  throw new RefusedError(
    `There are ${counted(found.length, kind)} with the name "${given}"; name one by its id: ${ids}.`,
  );
}

/** That nothing has the name, and what was probably meant. */
export async function unknownName(
  kind: string,
  given: string,
  known: () => Promise<readonly string[]>,
): Promise<GatewayError> {
  const near = given === '' ? undefined : closest(given, await known());
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
  return new GatewayError('not_found', `There is no ${kind} called "${given}".${meant}`);
}

/** The key that is meant: by id, by the key itself, or by its name if only one key has it. */
export async function resolveKey({ client }: Asking, given = ''): Promise<TokenWire> {
  if (isId(given)) return client.call('getToken', { params: { id: Number(given) } });
  if (given.startsWith('sk-')) {
    // In the body, since addresses are written to logs.
    return client.call('findToken', { body: { key: given } });
  }
  const { id } = await theOnly('key', given, await sameName(client, given), async () => {
    const { items } = await listPart(client, 'searchTokens', {}, SOME);
    return items.map(({ name }) => name);
  });
  // An entry of a list has its owner's name, too.
  return client.call('getToken', { params: { id } });
}

/** The keys with exactly this name. */
export async function sameName(
  client: Client,
  name: string,
  ownerId?: number,
): Promise<TokenWire[]> {
  const { items } = await listPart(
    client,
    'searchTokens',
    { keyword: name, user_id: ownerId },
    ALL,
  );
  return items.filter((one) => one.name === name);
}

/** The channel that is meant, by name or by id. */
export async function resolveChannel({ client }: Asking, given = ''): Promise<ChannelWire> {
  const [named] = (await listChannels(client, { keyword: given })).filter(
    ({ name }) => name === given,
  );
  if (named !== undefined) return named;
  if (isId(given)) return client.call('getChannel', { params: { id: Number(given) } });
  throw await unknownName('channel', given, async () =>
    (await listChannels(client, {})).map(({ name }) => name),
  );
}

/** The id of a key by id or name; of one by id that is deleted, too, since logs remember it. */
export async function idOfKey(client: Client, given: string): Promise<number> {
  return isId(given) ? Number(given) : (await resolveKey({ client }, given)).id;
}

/** The id of a channel, likewise. */
export async function idOfChannel(client: Client, given: string): Promise<number> {
  return isId(given) ? Number(given) : (await resolveChannel({ client }, given)).id;
}

/** Whether a text is an id rather than a name. */
export function isId(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

/** All of them, before something is done: a mistyped name changes nothing. */
export async function resolveChannels(
  session: Asking,
  given: readonly string[],
): Promise<ChannelWire[]> {
  const found = new Map<number, ChannelWire>();
  for (const name of given) {
    const channel = await resolveChannel(session, name);
    found.set(channel.id, channel);
  }
  return [...found.values()];
}

/** Every channel that matches. */
export async function listChannels(
  client: Client,
  filter: InputOf<'searchChannels'>['query'],
): Promise<readonly ChannelWire[]> {
  return (await listPart(client, 'searchChannels', filter, ALL)).items;
}
