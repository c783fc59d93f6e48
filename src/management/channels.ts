import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_DISABLED,
  CHANNEL_ENABLED,
  type Channel,
  type ChannelStatus,
} from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import { returnDuty } from '../core/outage.js';
import { snakeCase, snakeKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { CredentialsLockedError, type ChannelChange, type ChannelUpdate } from '../store/store.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { channelShown, kept } from './channel-secrets.js';
import { changesOf, Witness } from './changes.js';
import {
  checkChannel,
  checkEdit,
  checkPlain,
  declaredInFile,
  draftedChannel,
  spelled,
  withoutSame,
  type ChannelDeps,
  type ChannelDraft,
  type ChannelEdit,
  type SharedEdit,
} from './channel-edits.js';
import { channelWithId, noChannel, shown, viewOf, type ChannelView } from './channel-views.js';
import { invalid } from './fields.js';
import { changedSince, channelRevision, still } from './revision.js';

export interface ChannelWrite {
  readonly channel: ChannelView;
  readonly version: number;
}

/** The result of writing several channels. */
export interface ChannelsWrite {
  /** Ids of the channels that it covered. */
  readonly ids: readonly number[];
  readonly version: number;
}

export async function createChannel(
  deps: ChannelDeps,
  draft: ChannelDraft,
  actor: Actor,
): Promise<ChannelWrite> {
  const channel = draftedChannel(deps, draft);
  const created = await unlocked(() => deps.store.createChannel(channel));
  return written(deps, created, 'channel.create', channel, actor);
}

/**
 * Changes what is given and leaves the rest. A new provider starts without settings and credentials; a change of where
 * requests go, or of how they carry the credentials, requires all credentials again.
 */
export async function updateChannel(
  deps: ChannelDeps,
  id: number,
  edit: ChannelEdit,
  actor: Actor,
  ifRevision?: string,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const current = channelWithId(snapshot, id);
  const when = still(ifRevision, (channel: Channel) => channelRevision(shown(kept(channel))));
  if (when?.(current) === false) throw changedSince('The channel');
  const witness = new Witness(current, when);
  const changed = withoutSame(current, spelled(edit, edit.provider ?? current.provider));
  if (changed.status === CHANNEL_AUTO_DISABLED) {
    throw invalid(
      'status',
      'status can be set to 1 (enabled) or 2 (disabled); 3 is for the gateway to set.',
    );
  }
  const change = checkEdit(deps, current, changed, snapshot.locked.has(id));
  const updated = await unlocked(() =>
    // A status set by hand has the last word, whatever the gateway found.
    deps.store.updateChannel(
      id,
      'status' in change ? { ...change, outage: undefined } : change,
      witness.when,
    ),
  );
  // The change may have fixed the problem: the next probe of a channel that the gateway disabled is due now.
  if (current.outage !== undefined) await deps.store.dropDuty(returnDuty(id, current.outage));
  return written(deps, updated, 'channel.update', change, actor, witness.before);
}

/** The channels that a bulk switch has changed, and the first version with the change. */
export interface SwitchWrite extends ChannelsWrite {
  /** Those of `ids` that the gateway itself had disabled: they were neither on nor off by hand. */
  readonly autoDisabled: readonly number[];
}

/**
 * Switches many channels on or off in one write, configured ones included. `ids` in the reply lists those whose status
 * changed: switching them back is the exact undo, except for those that the gateway had disabled.
 */
export async function switchChannels(
  { store, now }: ManagementDeps,
  ids: readonly number[],
  enabled: boolean,
  actor: Actor,
): Promise<SwitchWrite> {
  const { channels, version: before } = await store.loadChannels();
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const status: ChannelStatus = enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED;
  const found = [...new Set(ids)].map((id) => {
    const channel = byId.get(id);
    if (channel === undefined) throw noChannel(id);
    return channel;
  });
  const others = found.filter((channel) => channel.status !== status);
  if (others.length === 0) return { ids: [], autoDisabled: [], version: before };
  const change = { status, outage: undefined };
  const version = await store.updateChannels(others.map(({ id }) => ({ id, change })));
  if (version === undefined) throw changedMeanwhile();
  for (const { id, name, outage, status: was } of others) {
    if (outage !== undefined) await store.dropDuty(returnDuty(id, outage));
    const changes = changesOf({ status: was }, { status });
    const of = { name, changes };
    await recordAudit({ store, now }, actor, 'channel.update', auditTarget(id), { status }, of);
  }
  const autoDisabled = others.filter((channel) => channel.status === CHANNEL_AUTO_DISABLED);
  return {
    ids: others.map(({ id }) => id),
    autoDisabled: autoDisabled.map(({ id }) => id),
    version,
  };
}

function changedMeanwhile(): GatewayError {
  return new GatewayError(
    'conflict',
    'The channels have changed in the meantime; nothing was done.',
  );
}

/** Resolves to the first version in which no gateway uses the channel. */
export async function deleteChannel(
  deps: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<number> {
  const channel = channelWithId(await deps.store.loadChannels(), id);
  if (channel.origin === 'config') throw declaredInFile(channel);
  const version = await deps.store.deleteChannel(id);
  if (version === undefined) throw noChannel(id);
  await recordDeletion(deps, channel, actor);
  return version;
}

/** Deletes those that exist, in turn. A configured one among them refuses the whole request. */
export async function deleteChannels(
  deps: ManagementDeps,
  ids: readonly number[],
  actor: Actor,
): Promise<ChannelsWrite> {
  const { channels, version: before } = await deps.store.loadChannels();
  const wanted = new Set(ids);
  const found = channels.filter(({ id }) => wanted.has(id));
  const fixed = found.find(({ origin }) => origin === 'config');
  if (fixed !== undefined) throw declaredInFile(fixed);
  const gone: number[] = [];
  let version = before;
  for (const channel of found) {
    const { id } = channel;
    const after = await deps.store.deleteChannel(id);
    // Somebody else was faster.
    if (after === undefined) continue;
    version = after;
    gone.push(id);
    await recordDeletion(deps, channel, actor);
  }
  return { ids: gone, version };
}

function recordDeletion(deps: ManagementDeps, channel: Channel, actor: Actor): Promise<void> {
  const { id, name } = channel;
  const changes = changesOf(channelShown(channel), undefined);
  return recordAudit(deps, actor, 'channel.delete', auditTarget(id), { name }, { name, changes });
}

/**
 * Edits many channels in one write: all of them or, if one may not be changed that way, none. `before` runs ahead of the
 * write, once nothing rules it out.
 */
export async function editChannels(
  deps: ManagementDeps,
  ids: readonly number[],
  edit: SharedEdit,
  actor: Actor,
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<ChannelsWrite> {
  const { channels } = await deps.store.loadChannels();
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const wanted = [...new Set(ids)];
  const found = wanted.map((id) => {
    const channel = byId.get(id);
    if (channel === undefined) throw noChannel(id);
    if (channel.origin === 'config') throw declaredInFile(channel);
    return channel;
  });
  const change = checkPlain(edit);
  await before();
  const version = await deps.store.updateChannels(wanted.map((id) => ({ id, change })));
  if (version === undefined) throw changedMeanwhile();
  for (const channel of found) {
    const changes = changesOf(channelShown(channel), channelShown({ ...channel, ...change }));
    const of = { name: channel.name, changes };
    await recordAudit(deps, actor, 'channel.update', auditTarget(channel.id), { ...change }, of);
  }
  return { ids: wanted, version };
}

/** What a copy does not take over. */
export interface CopyDraft {
  readonly name?: string;
  readonly status?: ChannelStatus;
  /** Credentials are never copied: the copy takes no traffic until it is given those that it needs. */
  readonly credentials?: Readonly<Record<string, Secret>>;
}

/** A second channel like the first, without its credentials, under its own name. */
export async function copyChannel(
  deps: ChannelDeps,
  id: number,
  given: CopyDraft,
  actor: Actor,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const { id: _, origin: _origin, outage: _outage, ...original } = channelWithId(snapshot, id);
  const names = new Set(snapshot.channels.map(({ name }) => name));
  const { credentials } = spelled({ credentials: given.credentials ?? {} }, original.provider);
  const copy = {
    ...original,
    name: given.name ?? freeName(original.name, names),
    status:
      given.status ??
      // Its credentials differ from those for which the gateway disabled it.
      (original.status === CHANNEL_AUTO_DISABLED ? CHANNEL_ENABLED : original.status),
    credentials,
  };
  const isComplete = Object.keys(credentials).length > 0;
  const channel = isComplete ? checkChannel(deps, copy) : checkPlain(copy);
  const created = await unlocked(() => deps.store.createChannel(channel));
  return written(deps, created, 'channel.copy', { name: channel.name, from: id }, actor);
}

async function written(
  deps: ManagementDeps,
  update: ChannelUpdate,
  action: string,
  { credentials, ...detail }: ChannelChange & { readonly from?: number },
  actor: Actor,
  before?: Channel,
): Promise<ChannelWrite> {
  switch (update.kind) {
    case 'changed':
      throw changedSince('The channel');
    case 'not_found':
      throw new GatewayError('not_found', 'The channel no longer exists.');
    case 'name_taken':
      throw new GatewayError('conflict', `A channel named "${detail.name ?? ''}" already exists.`, {
        param: 'name',
      });
    case 'updated': {
      const { channel, version } = update;
      const entry = {
        ...detail,
        ...(detail.settings === undefined ? {} : { settings: snakeKeys(detail.settings) }),
        ...(credentials === undefined
          ? {}
          : { credentials: Object.keys(credentials).map(snakeCase) }),
      };
      const changes =
        before === undefined ? [] : changesOf(channelShown(before), channelShown(channel));
      const of = { name: (before ?? channel).name, changes };
      await recordAudit(deps, actor, action, auditTarget(channel.id), entry, of);
      return { channel: viewOf(channel, await deps.store.loadChannels()), version };
    }
  }
}

/** Runs a write of credentials; if they cannot be sealed, that is for the operator to fix. */
async function unlocked<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof CredentialsLockedError)) throw error;
    throw new GatewayError('conflict', error.message, { param: 'credentials', cause: error });
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let copy = `${name}-copy`;
  for (let count = 2; taken.has(copy); count += 1) copy = `${name}-copy-${count}`;
  return copy;
}

export function auditTarget(id: number): string {
  return `channel:${id}`;
}
