import type { Channel, TagSwitch } from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import { withoutKeys } from '../core/secret.js';
import type { ChannelSnapshot } from '../store/store.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { changesOf } from './changes.js';
import { channelState, switchesOf, type Because } from './channel-views.js';
import { editChannels, type ChannelsWrite } from './channels.js';
import type { SharedEdit } from './channel-edits.js';
import { checkName, invalid } from './fields.js';
import { latestChannels } from './latest-channels.js';

/** A tag as people see it: its switch, and the channels that have it. */
export interface TagView extends TagSwitch {
  readonly channels: readonly TaggedChannel[];
}

interface TaggedChannel {
  readonly id: number;
  readonly name: string;
  /** Whether it takes traffic. */
  readonly live: boolean;
  /** Why it takes none. */
  readonly because: Because | null;
}

interface CoveredChannel extends TaggedChannel {
  /** Whether it took traffic before the write. */
  readonly wasLive: boolean;
}

export interface TagWrite extends Pick<TagSwitch, 'tag' | 'disabled' | 'reason'> {
  /** The channels that the switch covers now; those that get the tag later are covered too. */
  readonly covered: readonly CoveredChannel[];
  readonly version: number;
}

const MAX_REASON_CHARACTERS = 500;

/** Every tag that a channel has or that has been switched, by name. */
export async function listTags({ store }: ManagementDeps): Promise<readonly TagView[]> {
  const snapshot = await latestChannels(store);
  let views = viewsOf.get(snapshot);
  if (views === undefined) viewsOf.set(snapshot, (views = tagViews(snapshot)));
  return views;
}

const viewsOf = new WeakMap<ChannelSnapshot, readonly TagView[]>();

function tagViews(snapshot: ChannelSnapshot): TagView[] {
  const { channels, locked } = snapshot;
  const switches = switchesOf(snapshot);
  const byTag = new Map<string, TaggedChannel[]>();
  for (const tag of switches.keys()) byTag.set(tag, []);
  for (const channel of channels) {
    if (channel.tag === undefined) continue;
    const bearing = byTag.get(channel.tag);
    const tagged = taggedChannel(channel, switches, locked);
    if (bearing === undefined) byTag.set(channel.tag, [tagged]);
    else bearing.push(tagged);
  }
  return [...byTag]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([tag, bearing]) => ({
      ...(switches.get(tag) ?? {
        tag,
        disabled: false,
        reason: undefined,
        changedTime: 0,
        changedBy: undefined,
      }),
      channels: bearing,
    }));
}

/** Switches a tag off: one write that takes every channel with it out of service and touches none of them. */
export async function disableTag(
  deps: ManagementDeps,
  tag: string,
  reason: string | undefined,
  actor: Actor,
): Promise<TagWrite> {
  if (reason !== undefined && reason.length > MAX_REASON_CHARACTERS) {
    throw invalid('reason', `reason may have at most ${MAX_REASON_CHARACTERS} characters.`);
  }
  const trimmed = reason === undefined ? undefined : withoutKeys(reason.trim());
  const kept = trimmed === '' ? undefined : trimmed;
  return switchTag(deps, tag, { disabled: true, reason: kept }, actor);
}

/** Switches a tag on again: its channels are as they were before, each with its own status. */
export function enableTag(deps: ManagementDeps, tag: string, actor: Actor): Promise<TagWrite> {
  return switchTag(deps, tag, { disabled: false, reason: undefined }, actor);
}

async function switchTag(
  deps: ManagementDeps,
  given: string,
  { disabled, reason }: Pick<TagSwitch, 'disabled' | 'reason'>,
  actor: Actor,
): Promise<TagWrite> {
  const { store, now } = deps;
  const tag = checkName(given, 'tag');
  const before = await store.loadChannels();
  const switches = switchesOf(before);
  const earlier = bearers(before, switches, tag);
  if (earlier.length === 0 && !switches.has(tag)) {
    throw new GatewayError('not_found', `There is no tag "${tag}": no channel has it.`, {
      param: 'tag',
    });
  }
  const changed: TagSwitch = {
    tag,
    disabled,
    reason,
    changedTime: Math.floor(now() / 1000),
    changedBy: actor.name,
  };
  const version = await store.setTagSwitch(changed);
  const later = bearers(before, new Map(switches).set(tag, changed), tag);
  const covered = later.map((channel, index) => ({
    ...channel,
    wasLive: earlier[index]?.live === true,
  }));
  const was = switches.get(tag);
  const changes = changesOf(
    { disabled: was?.disabled ?? false, reason: was?.reason },
    { disabled, reason },
  );
  const detail = { reason, channels: covered.map(({ id }) => id) };
  const action = disabled ? 'tag.disable' : 'tag.enable';
  await recordAudit(deps, actor, action, `tag:${tag}`, detail, { changes });
  return { tag, disabled, reason, covered, version };
}

/**
 * Changes every channel that has a tag, in one write; with another `tag` among the changes they all move to it. A tag that
 * is renamed while it is switched off stays off under its new name.
 */
export async function editTag(
  deps: ManagementDeps,
  given: string,
  edit: SharedEdit,
  actor: Actor,
): Promise<ChannelsWrite> {
  const tag = checkName(given, 'tag');
  const snapshot = await deps.store.loadChannels();
  const ids = snapshot.channels.filter((channel) => channel.tag === tag).map(({ id }) => id);
  if (ids.length === 0) {
    throw new GatewayError('not_found', `There is no tag "${tag}": no channel has it.`, {
      param: 'tag',
    });
  }
  const { tag: moved = tag } = edit;
  const next = checkName(moved, 'new_tag');
  const held = switchesOf(snapshot).get(tag);
  const isRename = next !== tag && !snapshot.channels.some((channel) => channel.tag === next);
  const write = await editChannels(deps, ids, edit, actor, async () => {
    // Before the channels, so that none of them is live in between.
    if (isRename && held?.disabled === true) await deps.store.setTagSwitch({ ...held, tag: next });
  });
  if (!isRename || held === undefined) return write;
  return { ...write, version: await deps.store.deleteTagSwitch(tag) };
}

function bearers(
  { channels, locked }: ChannelSnapshot,
  switches: ReadonlyMap<string, TagSwitch>,
  tag: string,
): TaggedChannel[] {
  return channels
    .filter((channel) => channel.tag === tag)
    .map((channel) => taggedChannel(channel, switches, locked));
}

function taggedChannel(
  channel: Channel,
  switches: ReadonlyMap<string, TagSwitch>,
  locked: ReadonlySet<number>,
): TaggedChannel {
  const { id, name } = channel;
  const state = channelState(channel, switches, locked);
  return { id, name, live: state.live, because: state.live ? null : state.because };
}
