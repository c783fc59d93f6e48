import type { Client } from '../client/client.js';
import { closest } from '../core/closest.js';
import type { UserWire } from '../shapes/user.js';
import { seesAll } from './accounts.js';
import { sameName } from './named.js';

/** What is likely a slip in a key that is about to be made, in sentences. */
export async function warnings(
  client: Client,
  owner: UserWire,
  {
    name,
    models = [],
    tags = [],
  }: {
    readonly name: string;
    readonly models?: readonly string[] | 'all';
    readonly tags?: readonly string[];
  },
): Promise<string[]> {
  const wanted = models === 'all' ? [] : models;
  const all = await seesAll(client);
  const [others, served, known] = await Promise.all([
    sameName(client, name, owner.id),
    all && wanted.length > 0 ? client.call('listChannelModels') : undefined,
    all && tags.length > 0 ? client.call('listTags') : undefined,
  ]);
  const twin = others.map(({ id }) => id).join(', ');
  return [
    ...(others.length === 0
      ? []
      : [`${owner.username} has another key called "${name}" (${twin}): name either by its id.`]),
    ...(served === undefined
      ? []
      : unknown(
          'model',
          wanted,
          served.map(({ id }) => id),
          'No channel serves',
        )),
    ...(known === undefined
      ? []
      : unknown(
          'tag',
          tags,
          known.map(({ tag }) => tag),
          'No channel has',
        )),
  ];
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
