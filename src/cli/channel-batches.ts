import type { Command } from 'commander';
import { CHANNEL_DISABLED, CHANNEL_ENABLED } from '../core/channel.js';
import type { ChannelView } from '../management/channel-views.js';
import { inForceWire } from '../shapes/in-force.js';
import type { ChannelsChanged } from '../client/backend.js';
import { STATUS } from './channel-text.js';
import type { Session } from './session.js';
import { counted, inForceText } from './text.js';

/** Switches several channels in one write: they change together, and come into force together. */
export async function switchAll(
  { backend, show }: Session,
  channels: readonly ChannelView[],
  enabled: boolean,
): Promise<void> {
  const write = await backend.switchChannels(idsOf(channels), enabled);
  const status = STATUS[enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED];
  const others = channels.length - write.ids.length;
  const were = others === 0 ? '' : ` (${others} already ${others === 1 ? 'was' : 'were'})`;
  const what = write.ids.length === 1 ? 'is' : 'are';
  show(
    manyWire(write),
    `${counted(write.ids.length, 'channel')} ${what} ${status} now${were}. ${inForceText(write.inForce)}`,
  );
}

/** Gives channels another tag, or none, in one write. */
export async function retag(
  { backend, show }: Session,
  channels: readonly ChannelView[],
  command: Command,
): Promise<void> {
  const { tag } = command.opts<{ tag: string }>();
  const write = await backend.retagChannels(idsOf(channels), tag === 'none' ? undefined : tag);
  const now = tag === 'none' ? 'no tag' : `the tag "${tag}"`;
  const what = write.ids.length === 1 ? 'has' : 'have';
  show(
    manyWire(write),
    `${counted(write.ids.length, 'channel')} ${what} ${now} now. ${inForceText(write.inForce)}`,
  );
}

function idsOf(channels: readonly ChannelView[]): number[] {
  return channels.map(({ id }) => id);
}

function manyWire({ ids, version, inForce }: ChannelsChanged): object {
  return { ids, count: ids.length, ...inForceWire(version, inForce) };
}
