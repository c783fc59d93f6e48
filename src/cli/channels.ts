import type { Command } from 'commander';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { CHANNEL_DISABLED, CHANNEL_ENABLED, type ChannelStatus } from '../core/channel.js';
import { findProvider } from '../providers/index.js';
import type { ReplyOf } from '../client/client.js';
import {
  credentialsOf,
  emptyAsNull,
  settingsOf,
  withFields,
  type ChannelOptions,
  type CreateOptions,
} from './channel-options.js';
import { dependsOnChannels, dependsOnPresence } from '../core/depends.js';
import { agreeToDark, darkText, showDryRun, withDryRun } from './consequences.js';
import { channelFile } from './channel-file.js';
import { addChannelList } from './channel-list.js';
import { listChannels, resolveChannel, resolveChannels } from './named.js';
import { retag, switchAll, tagText } from './channel-batches.js';
import { describe, describeTest, effective, STATUS } from './channel-text.js';
import { RefusedError, UsageError } from './errors.js';
import { asList, type Columns } from './listing.js';
import { givenMembers } from './members.js';
import { PROVIDERS, showProviders } from './providers.js';
import { confirm, onGateway, withoutStore, type Session, type CliIo } from './session.js';
import { inForceText } from './text.js';
import { present } from '../core/records.js';

const CHANNEL_ARGUMENT = 'id or name';
const UPSTREAM_MODELS = { model: (name) => name } satisfies Columns<string>;

export function addCommands(program: Command, io: CliIo): void {
  const channels = program.command('channels');

  withFields(channels.command('create'), true)
    .description('add a channel')
    .option('--disabled', 'leave it switched off for now')
    .action(onGateway(io, create));

  addChannelList(channels, io);

  channels
    .command('show')
    .description('show everything about a channel except its credentials')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [given] }) => {
        const channel = await resolveChannel(session, given);
        session.show(channel, describe(channel));
      }),
    );

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const command = withDryRun(channels.command(verb))
      .description(enabled ? 'switch channels on' : 'switch channels off')
      .argument('<channel...>', CHANNEL_ARGUMENT)
      .action(onGateway(io, (session, given) => switchThem(session, given, enabled)));
    if (!enabled) command.option('-y, --yes', 'do not ask, even if models go dark');
  }

  withDryRun(channels.command('retag'))
    .description('give channels another tag, all in one write')
    .argument('<channel...>', CHANNEL_ARGUMENT)
    .requiredOption('--tag <tag>', 'the tag; none: no tag')
    .action(
      onGateway(io, async (session, command) => {
        const found = await resolveChannels(session, command.args);
        const { tag } = command.opts<{ tag: string }>();
        if (!showDryRun(session, `given ${tagText(tag)}`, found)) {
          await retag(session, found, command);
        }
      }),
    );

  withFields(channels.command('update'), false)
    .description('change what is given; the rest stays as it is')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(onGateway(io, update));

  channels
    .command('copy')
    .description('copy a channel without its credentials; set them with update')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('--name <name>', 'its name')
    .option('--disabled', 'leave it switched off for now')
    .action(onGateway(io, copy));

  channels
    .command('test')
    .description(
      'send a channel a real request with two documents, whether it is switched on or not',
    )
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('--model <name>', 'by the name that callers use (default: its first)')
    .action(onGateway(io, test));

  asList(channels.command('upstream-models'), UPSTREAM_MODELS)
    .description("list the models of a channel's server, under its own names")
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [given] }) => {
        const { id, name } = await resolveChannel(session, given);
        const listed = await session.client.call('listUpstreamModels', { params: { id } });
        await session.list({
          columns: UPSTREAM_MODELS,
          rows: listed,
          none: `The server of "${name}" lists none.`,
          json: listed,
          isPlain: true,
        });
      }),
    );

  channels
    .command('delete')
    .description('delete a channel for good')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));

  channels
    .command('export')
    .description('print channels, switches and prices as a configuration file, without credentials')
    .addHelpText('after', '\nExample:\n  rerank-gateway channels export > gateway.yaml')
    .action(onGateway(io, exportAll));

  asList(channels.command('providers'), PROVIDERS)
    .description('list the providers and the credentials and settings that each takes')
    .argument('[provider]', 'show everything about one')
    .action(withoutStore(io, (session, { args: [id] }) => showProviders(session, id)));
}

async function copy(session: Session, command: Command): Promise<void> {
  const { name, disabled } = command.opts<{ name?: string; disabled?: true }>();
  const { id } = await resolveChannel(session, command.args[0]);
  const status: ChannelStatus | undefined = disabled === true ? CHANNEL_DISABLED : undefined;
  const body = { name, status };
  showCreated(session, await session.client.call('copyChannel', { params: { id }, body }));
}

async function exportAll({ client, show }: Session): Promise<void> {
  const channels = await listChannels(client, { sort: 'id' });
  const tags = await client.call('listTags');
  const prices = await client.call('listPrices');
  const file = { channels, tags, prices };
  show(file, channelFile(file));
}

async function switchThem(session: Session, command: Command, enabled: boolean): Promise<void> {
  const found = await resolveChannels(session, command.args);
  const ids = new Set(found.map(({ id }) => id));
  const models = enabled ? [] : await session.client.call('listChannelModels');
  const { dark } = dependsOnChannels(ids, models);
  if (showDryRun(session, enabled ? 'switched on' : 'switched off', found, dark)) return;
  await agreeToDark(session, dark);
  const [first, ...others] = found;
  if (first === undefined) return;
  if (others.length > 0) {
    await switchAll(session, found, enabled);
    return;
  }
  const status = enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED;
  const write = await session.client.call('updateChannel', { body: { id: first.id, status } });
  showWrite(session, write, `is ${STATUS[write.status]}`);
}

async function create(session: Session, command: Command): Promise<void> {
  const options = command.opts<CreateOptions>();
  const provider = findProvider(options.provider);
  const write = await session.client.call('createChannel', {
    body: {
      name: options.name,
      provider: options.provider,
      models: options.models,
      base_url: options.baseUrl,
      tag: options.tag,
      credentials: await credentialsOf(session, provider, options),
      settings: await settingsOf(session, provider, options.setting ?? {}),
      status: options.disabled === true ? CHANNEL_DISABLED : CHANNEL_ENABLED,
      ...givenMembers(command, CHANNEL_MEMBERS),
    },
  });
  showCreated(session, write);
}

async function update(session: Session, command: Command): Promise<void> {
  const options = command.opts<ChannelOptions>();
  const { baseUrl, tag, setting, name } = options;
  const current = await resolveChannel(session, command.args[0]);
  const provider = findProvider(options.provider ?? current.provider);
  const credentials = await credentialsOf(session, provider, options);
  const settings = await settingsOf(session, provider, setting ?? {});
  const edit = {
    ...present({ name, provider: options.provider, models: options.models }),
    ...givenMembers(command, CHANNEL_MEMBERS),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl === 'none' ? null : baseUrl }),
    ...(tag === undefined ? {} : { tag: tag === 'none' ? null : tag }),
    ...(setting === undefined ? {} : { settings: emptyAsNull(settings) }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
  if (Object.keys(edit).length === 0) throw new UsageError('Name at least one thing to change.');
  const write = await session.client.call('updateChannel', {
    body: { id: current.id, ...edit },
  });
  showWrite(session, write, 'is changed');
}

async function remove(session: Session, command: Command): Promise<void> {
  const { id, name, provider } = await resolveChannel(session, command.args[0]);
  const { dark } = dependsOnPresence(new Set([id]), await session.client.call('listChannelModels'));
  const after = dark.length === 0 ? '' : ` ${darkText(dark, 'will go')}`;
  const what = `Channel ${id} "${name}" (${provider}) will be deleted for good, with its credentials.${after}`;
  await confirm(session, what);
  const write = await session.client.call('deleteChannel', { params: { id } });
  session.show(
    { ...write, name, deleted: true },
    `Channel ${id} "${name}" is deleted. ${inForceText(write)}`,
  );
}

async function test(session: Session, command: Command): Promise<void> {
  const { model } = command.opts<{ model?: string }>();
  const { id, name } = await resolveChannel(session, command.args[0]);
  const tested = await session.client.call('testChannel', {
    params: { id },
    body: { model },
  });
  const { problem } = tested;
  session.show({ id, name, ...tested }, describeTest(`Channel ${id} "${name}"`, tested));
  // Scripts see it by the exit code; people have read it.
  if (problem !== null) throw new RefusedError(problem.message);
}

function showCreated(session: Session, write: ReplyOf<'createChannel'>): void {
  session.show(
    write,
    `Created channel ${write.id} "${write.name}" (${effective(write.effective)}). ${inForceText(write)}`,
  );
}

function showWrite(session: Session, write: ReplyOf<'updateChannel'>, what: string): void {
  session.show(
    write,
    `Channel ${write.id} "${write.name}" ${what}; it is ${effective(write.effective)}. ${inForceText(write)}`,
  );
}
