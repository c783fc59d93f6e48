import type { Command } from 'commander';
import { inForceWire } from '../shapes/in-force.js';
import { switchedWire, tagWire } from '../shapes/tag.js';
import type { TagChanged } from '../client/backend.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { counted, inForceText, moment, table } from './text.js';

export function addTagCommands(program: Command, io: CliIo): void {
  const tags = program
    .command('tags')
    .alias('tag')
    .description('switch all channels with a tag off and on');

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
        showWrite(session, await session.backend.disableTag(tag, reason));
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
        showWrite(session, await session.backend.enableTag(tag));
      }),
    );
}

async function rename(
  { backend, show }: Session,
  { args: [tag = '', name = ''] }: Command,
): Promise<void> {
  const { ids, version, inForce } = await backend.renameTag(tag, name);
  show(
    { ids, ...inForceWire(version, inForce) },
    `The tag of ${counted(ids.length, 'channel')} is "${name}" instead of "${tag}". ${inForceText(inForce)}`,
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
      items: tags.map(tagWire),
      total: tags.length,
    },
    tags.length === 0
      ? `No channel in ${backend.place} has a tag.`
      : table(['TAG', 'SWITCH', 'CHANNELS', 'LIVE', 'SINCE', 'BY', 'REASON'], rows),
  );
}

function showWrite(session: Session, write: TagChanged): void {
  const { tag, disabled, covered, version, inForce } = write;
  const wasLive = covered.filter((channel) => channel.wasLive).length;
  const live = liveOf(covered);
  const tell = disabled ? `${wasLive} of them live until now` : `${live} of them live now`;
  session.show(
    { ...switchedWire(write), ...inForceWire(version, inForce) },
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
