import type { Client } from '../client/client.js';
import { closest } from '../core/closest.js';
import type { UserWire } from '../shapes/user.js';
import { seesAll } from './accounts.js';
import { sameName } from './named.js';

/** What a key may reach, as options give it. */
interface Reach {
  readonly models?: readonly string[] | 'all';
  readonly tags?: readonly string[];
}

/** What is likely a slip in a key that is about to be made, in sentences. */
export async function warnings(
  client: Client,
  owner: UserWire,
  { name, ...reach }: Reach & { readonly name: string },
): Promise<string[]> {
  const [others, unreached] = await Promise.all([
    sameName(client, name, owner.id),
    reachWarnings(client, reach),
  ]);
  const twin = others.map(({ id }) => id).join(', ');
  return [
    ...(others.length === 0
      ? []
      : [`${owner.username} has another key called "${name}" (${twin}): name either by its id.`]),
    ...unreached,
  ];
}

/** The models and tags that no channel has now, in sentences; none for those who do not see all channels. */
export async function reachWarnings(
  client: Client,
  { models = [], tags = [] }: Reach,
): Promise<string[]> {
  const wanted = models === 'all' ? [] : models;
  const all = await seesAll(client);
  const [served, known] = await Promise.all([
    all && wanted.length > 0 ? modelsOf(client) : wanted,
    all && tags.length > 0 ? tagsOf(client) : tags,
  ]);
  return [
    ...unknown('model', wanted, served, 'No channel serves'),
    ...unknown('tag', tags, known, 'No channel has'),
  ];
}

async function modelsOf(client: Client): Promise<string[]> {
  return (await client.call('listChannelModels')).map(({ id }) => id);
}

async function tagsOf(client: Client): Promise<string[]> {
  return (await client.call('listTags')).map(({ tag }) => tag);
}

function unknown(
  kind: string,
  wanted: readonly string[],
  known: readonly string[],
  says: string,
): string[] {
  return wanted
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = closest(name, known);
      const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
      return `${says} the ${kind} "${name}" now.${meant}`;
    });
}
