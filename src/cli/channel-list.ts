import { InvalidArgumentError, Option, type Command } from 'commander';
import type { InputOf } from '../client/client.js';
import type { ChannelWire } from '../shapes/channel.js';
import { inEffect, modelsText, STATUS } from './channel-text.js';
import { present } from '../core/records.js';
import { asList, type Columns } from './listing.js';
import { listChannels } from './named.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { withSort } from './values.js';

type Filter = NonNullable<InputOf<'searchChannels'>['query']>;

interface ListOptions extends Pick<
  Filter,
  'tag' | 'provider' | 'model' | 'keyword' | 'origin' | 'sort'
> {
  readonly state?: 'live' | 'off' | NonNullable<Filter['because']>;
}

const SORTS = Object.fromEntries(
  ['id', 'name', 'provider', 'tag', 'status', 'priority', 'weight', 'tried'].map((name) => [
    name,
    name,
  ]),
);
const REASONS = ['disabled', 'auto-disabled', 'tag-disabled', 'credentials-locked', 'unusable'];

const COLUMNS = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  provider: ({ provider }) => provider,
  tag: ({ tag }) => tag,
  priority: ({ priority }) => priority,
  weight: ({ weight }) => weight,
  status: ({ status }) => STATUS[status],
  'in-effect': inEffect,
  origin: ({ origin }) => origin,
  models: modelsText,
} satisfies Columns<ChannelWire>;

export function addChannelList(channels: Command, io: CliIo): void {
  withSort(asList(channels.command('list'), COLUMNS), SORTS)
    .description('list channels with their own and their effective status')
    .option('--tag <tag>', 'with this tag')
    .option('--provider <provider>', 'of this provider')
    .option('--model <name>', 'that serve this model, by the name that callers use')
    .option('--keyword <part>', 'whose name, address or models contain this')
    .addOption(new Option('--origin <origin>', 'written there').choices(['config', 'store']))
    .addOption(
      new Option('--state <state>', `live, off, or why it is off: ${REASONS.join(', ')}`).argParser(
        stateOf,
      ),
    )
    .action(onGateway(io, (session, command) => listAll(session, command.opts())));
}

/** In the API's spelling, which is understood too. */
function stateOf(text: string): string {
  if (!['live', 'off', ...REASONS].includes(text.replaceAll('_', '-'))) {
    throw new InvalidArgumentError(`Allowed choices are live, off, ${REASONS.join(', ')}.`);
  }
  return text.replaceAll('-', '_');
}

async function listAll(session: Session, options: ListOptions): Promise<void> {
  const { state, ...others } = options;
  const live = state === 'live' ? true : state === 'off' ? false : undefined;
  const because = state === 'live' || state === 'off' ? undefined : state;
  const filter = {
    ...present({ tag: others.tag, provider: others.provider, model: others.model }),
    ...present({ keyword: others.keyword, origin: others.origin, sort: others.sort }),
  };
  const channels = await listChannels(session.client, { ...filter, live, because });
  await session.list({
    columns: COLUMNS,
    rows: channels,
    none: `No such channels in ${session.client.place}.`,
    json: { items: channels, total: channels.length },
  });
}
