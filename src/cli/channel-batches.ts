import type { Command } from 'commander';
import { CHANNEL_DISABLED, CHANNEL_ENABLED } from '../core/channel.js';
import type { ChannelWire } from '../shapes/channel.js';
import { STATUS } from './channel-text.js';
import type { Session } from './session.js';
import { counted, inForceText } from './text.js';

/** Switches several channels in one write: they change together, and come into force together. */
export async function switchAll(
  { client, show }: Session,
  channels: readonly ChannelWire[],
  enabled: boolean,
): Promise<void> {
  const write = await client.call('switchChannels', {
    body: { ids: idsOf(channels), status: enabled ? 1 : 2 },
  });
  const status = STATUS[enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED];
  const others = channels.length - write.ids.length;
  const were = others === 0 ? '' : ` (${others} already ${others === 1 ? 'was' : 'were'})`;
  const what = write.ids.length === 1 ? 'is' : 'are';
  show(
    write,
    `${counted(write.ids.length, 'channel')} ${what} ${status} now${were}. ${inForceText(write)}`,
  );
}

/** Gives channels another tag, or none, in one write. */
export async function retag(
  { client, show }: Session,
  channels: readonly ChannelWire[],
  command: Command,
): Promise<void> {
  const { tag } = command.opts<{ tag: string }>();
  const write = await client.call('retagChannels', {
    body: { ids: idsOf(channels), tag: tag === 'none' ? null : tag },
  });
  const what = write.ids.length === 1 ? 'has' : 'have';
  show(
    write,
    `${counted(write.ids.length, 'channel')} ${what} ${tagText(tag)} now. ${inForceText(write)}`,
  );
}

export function tagText(tag: string): string {
  return tag === 'none' ? 'no tag' : `the tag "${tag}"`;
}

function idsOf(channels: readonly ChannelWire[]): number[] {
  return channels.map(({ id }) => id);
}
