import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_ENABLED,
  isSameAccount,
  type Channel,
} from '../core/channel.js';
import type { Outage } from '../core/outage.js';
import { recordAudit, ROOT_ROLE, type Actor, type ManagementDeps } from './audit.js';
import { changesOf } from './changes.js';

type OutageDeps = Pick<ManagementDeps, 'store' | 'now'>;

/** The audit log shows the gateway's own actions under this name. */
const GATEWAY: Actor = { id: undefined, name: 'gateway', role: ROOT_ROLE, address: undefined };

/**
 * Disables a channel for all nodes because of a certain fault, unless somebody has meanwhile switched it or changed what
 * caused the failures. Resolves to whether it did.
 */
export async function disableChannel(
  deps: OutageDeps,
  known: Channel,
  outage: Outage,
): Promise<boolean> {
  const updated = await deps.store.updateChannel(
    known.id,
    { status: CHANNEL_AUTO_DISABLED, outage },
    (channel) => channel.status === CHANNEL_ENABLED && isSameAccount(channel, known),
  );
  if (updated.kind !== 'updated') return false;
  const { id, name } = known;
  const detail = { name, because: outage.reason, message: outage.message };
  const changes = changesOf({ status: CHANNEL_ENABLED }, { status: CHANNEL_AUTO_DISABLED });
  await recordAudit(deps, GATEWAY, 'channel.disable', `channel:${id}`, detail, { name, changes });
  return true;
}

/**
 * Lets a channel that the gateway disabled take traffic again; one that people have switched since stays as they left it.
 */
export async function returnChannel(deps: OutageDeps, channel: Channel): Promise<boolean> {
  const updated = await deps.store.updateChannel(
    channel.id,
    { status: CHANNEL_ENABLED, outage: undefined },
    ({ status }) => status === CHANNEL_AUTO_DISABLED,
  );
  if (updated.kind !== 'updated') return false;
  const { id, name } = channel;
  const changes = changesOf({ status: CHANNEL_AUTO_DISABLED }, { status: CHANNEL_ENABLED });
  await recordAudit(deps, GATEWAY, 'channel.return', `channel:${id}`, { name }, { name, changes });
  return true;
}
