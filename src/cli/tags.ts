import type { Command } from 'commander';
import type { ReplyOf } from '../client/client.js';
import type { TagWire } from '../shapes/tag.js';
import { asList, type Columns } from './listing.js';
import { agreeToDark, showDryRun, withDryRun } from './consequences.js';
import { dependsOn } from '../core/depends.js';
import { unknownName } from './named.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { counted, inForceText } from './text.js';

const COLUMNS = {
  tag: ({ tag }) => tag,
  switch: ({ disabled }) => (disabled ? 'off' : 'on'),
  channels: ({ channel_count: count }) => count,
  live: ({ live_count: count }) => count,
  since: ({ changed_time: at }) => (at === 0 ? null : { at }),
  by: ({ changed_by: name }) => name,
  reason: ({ reason }) => reason,
} satisfies Columns<TagWire>;

export function addCommands(program: Command, io: CliIo): void {
  const tags = program.command('tags');

  asList(tags.command('list'), COLUMNS)
    .description('list tags, with their switches and channels')
    .action(onGateway(io, listAll));

  withDryRun(tags.command('disable'))
    .description('take every channel with a tag out of service at once')
    .argument('<tag>')
    .option('--reason <text>', 'the reason, for the audit log')
    .option('-y, --yes', 'do not ask, even if models go dark')
    .action(onGateway(io, disable));

  withDryRun(tags.command('rename'))
    .description('give all channels with a tag another one; a tag that is off stays off')
    .argument('<tag>')
    .argument('<name>')
    .action(onGateway(io, rename));

  withDryRun(tags.command('enable'))
    .description('put the channels with a tag back as they were')
    .argument('<tag>')
    .action(
      onGateway(io, async (session, command) => {
        const entry = await resolveTag(session, command.args[0]);
        const { tag } = entry;
        if (showDryRun(session, 'put back into service', entry.channels)) return;
        showWrite(session, await session.client.call('enableTag', { body: { tag } }));
      }),
    );
}

async function disable(session: Session, command: Command): Promise<void> {
  const { reason } = command.opts<{ reason?: string }>();
  const { client } = session;
  const { tag, channels } = await resolveTag(session, command.args[0]);
  const { dark } = dependsOn(tag, await client.call('listChannelModels'));
  if (showDryRun(session, 'taken out of service', channels, dark)) return;
  await agreeToDark(session, dark);
  showWrite(session, await client.call('disableTag', { body: { tag, reason } }));
}

async function rename(session: Session, command: Command): Promise<void> {
  const { channels, tag } = await resolveTag(session, command.args[0]);
  const [, name = ''] = command.args;
  if (showDryRun(session, `given the tag "${name}"`, channels)) return;
  const write = await session.client.call('editTag', { body: { tag, new_tag: name } });
  session.show(
    write,
    `The tag of ${counted(write.ids.length, 'channel')} is "${name}" instead of "${tag}". ${inForceText(write)}`,
  );
}

/** The tag with its channels; an unknown one is refused with the near name. */
async function resolveTag({ client }: Session, given = ''): Promise<TagWire> {
  const tags = await client.call('listTags');
  const tag = tags.find((entry) => entry.tag === given);
  if (tag !== undefined) return tag;
  throw await unknownName('tag', given, () => Promise.resolve(tags.map((entry) => entry.tag)));
}

async function listAll({ client, list }: Session): Promise<void> {
  const tags = await client.call('listTags');
  await list({
    columns: COLUMNS,
    rows: tags,
    none: `No channel in ${client.place} has a tag.`,
    json: { items: tags, total: tags.length },
  });
}

function showWrite(session: Session, write: ReplyOf<'disableTag'>): void {
  const { tag, disabled, channels, was_live_count: wasLive, live_count: live } = write;
  const tell = disabled ? `${wasLive} of them live until now` : `${live} of them live now`;
  session.show(
    write,
    [
      `Tag "${tag}" is switched ${disabled ? 'off' : 'on'}. It covers ${counted(channels.length, 'channel')}, ${tell}.`,
      ...channels.map(({ id, name }) => `  ${id}  ${name}`),
      inForceText(write),
    ].join('\n'),
  );
}
