import type { Command } from 'commander';
import type { ReplyOf } from '../client/client.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { counted, inForceText, moment, table } from './text.js';

export function addTagCommands(program: Command, io: CliIo): void {
  const tags = program.command('tags');

  tags
    .command('list')
    .description('list tags, with their switches and channels')
    .action(onGateway(io, listAll));

  tags
    .command('disable')
    .description('take every channel with a tag out of service at once')
    .argument('<tag>')
    .option('--reason <text>', 'the reason, for the audit log')
    .action(
      onGateway(io, async (session, command) => {
        const { reason } = command.opts<{ reason?: string }>();
        const [tag = ''] = command.args;
        showWrite(session, await session.client.call('disableTag', { body: { tag, reason } }));
      }),
    );

  tags
    .command('rename')
    .description('give all channels with a tag another one; a tag that is off stays off')
    .argument('<tag>')
    .argument('<name>')
    .action(onGateway(io, rename));

  tags
    .command('enable')
    .description('put the channels with a tag back as they were')
    .argument('<tag>')
    .action(
      onGateway(io, async (session, { args: [tag = ''] }) => {
        showWrite(session, await session.client.call('enableTag', { body: { tag } }));
      }),
    );
}

async function rename(
  { client, show }: Session,
  { args: [tag = '', name = ''] }: Command,
): Promise<void> {
  const write = await client.call('editTag', { body: { tag, new_tag: name } });
  show(
    write,
    `The tag of ${counted(write.ids.length, 'channel')} is "${name}" instead of "${tag}". ${inForceText(write)}`,
  );
}

async function listAll({ client, show }: Session): Promise<void> {
  const tags = await client.call('listTags');
  const rows = tags.map((entry) => [
    entry.tag,
    entry.disabled ? 'off' : 'on',
    String(entry.channel_count),
    String(entry.live_count),
    entry.changed_time === 0 ? '' : moment(entry.changed_time),
    entry.changed_by ?? '',
    entry.reason ?? '',
  ]);
  show(
    { items: tags, total: tags.length },
    tags.length === 0
      ? `No channel in ${client.place} has a tag.`
      : table(['TAG', 'SWITCH', 'CHANNELS', 'LIVE', 'SINCE', 'BY', 'REASON'], rows),
  );
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
