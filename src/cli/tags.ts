import type { Command } from 'commander';
import type { TagChanged } from './backend.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { counted, inForceText, moment, table } from './text.js';

export function addTagCommands(program: Command, io: CliIo): void {
  const tags = program.command('tags').alias('tag').description('switches for channels with a tag');

  tags
    .command('list')
    .description('list tags with their switch and their channels')
    .action(onGateway(io, listAll));

  tags
    .command('disable')
    .description('take every channel with a tag out of service, at once')
    .argument('<tag>')
    .option('--reason <text>', 'why, for those who look later')
    .action(
      onGateway(io, async (session, command) => {
        const { reason } = command.opts<{ reason?: string }>();
        const [tag = ''] = command.args;
        showWrite(session, await session.backend.disableTag(tag, reason));
      }),
    );

  tags
    .command('enable')
    .description('put the channels with a tag back as they were before')
    .argument('<tag>')
    .action(
      onGateway(io, async (session, { args: [tag = ''] }) => {
        showWrite(session, await session.backend.enableTag(tag));
      }),
    );
}

async function listAll({ backend, show }: Session): Promise<void> {
  const tags = await backend.listTags();
  const rows = tags.map((entry) => [
    entry.tag,
    entry.disabled ? 'off' : 'on',
    String(entry.channels.length),
    String(liveOf(entry.channels)),
    entry.changedTime === 0 ? '' : moment(entry.changedTime),
    entry.changedBy ?? '',
    entry.reason ?? '',
  ]);
  show(
    {
      items: tags.map((entry) => ({
        tag: entry.tag,
        disabled: entry.disabled,
        reason: entry.reason ?? null,
        changed_time: entry.changedTime,
        changed_by: entry.changedBy ?? null,
        channels: entry.channels,
        channel_count: entry.channels.length,
        live_count: liveOf(entry.channels),
      })),
      total: tags.length,
    },
    tags.length === 0
      ? `No channel in ${backend.place} bears a tag.`
      : table(['TAG', 'SWITCH', 'CHANNELS', 'LIVE', 'SINCE', 'BY', 'REASON'], rows),
  );
}

function showWrite(session: Session, write: TagChanged): void {
  const { tag, disabled, reason, covered, version, inForce } = write;
  const wasLive = covered.filter((channel) => channel.wasLive).length;
  const live = liveOf(covered);
  const tell = disabled ? `${wasLive} of them live until now` : `${live} of them live now`;
  session.show(
    {
      tag,
      disabled,
      reason: reason ?? null,
      channels: covered.map((channel) => ({
        id: channel.id,
        name: channel.name,
        was_live: channel.wasLive,
        live: channel.live,
      })),
      channel_count: covered.length,
      was_live_count: wasLive,
      live_count: live,
      version,
      in_force: inForce,
    },
    [
      `Tag "${tag}" is switched ${disabled ? 'off' : 'on'}. It covers ${counted(covered.length, 'channel')}, ${tell}.`,
      ...covered.map(({ id, name }) => `  ${id}  ${name}`),
      inForceText(inForce),
    ].join('\n'),
  );
}

function liveOf(channels: readonly { readonly live: boolean }[]): number {
  return channels.filter(({ live }) => live).length;
}
