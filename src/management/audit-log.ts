import type { AuditEntry, AuditQuery, Logged, Page } from '../store/store.js';
import type { ManagementDeps } from './audit.js';
import { auditTarget } from './channels.js';
import { latestChannels } from './latest-channels.js';

type ReadDeps = Pick<ManagementDeps, 'store' | 'now'>;

/** Entries of the audit log, each with the name of what it is about; one that kept none has the name of today. */
export async function listAudit(
  deps: ReadDeps,
  query: AuditQuery,
): Promise<Page<Logged<AuditEntry>>> {
  const { items, total } = await deps.store.listAudit(query);
  const nameless = items.filter(({ name }) => name === undefined);
  const targets = [...new Set(nameless.map(({ target }) => target))];
  const names = new Map(await channelNames(deps, targets));
  const found = await Promise.all(
    targets
      .filter((target) => !names.has(target))
      .map(async (target) => [target, await nameNow(deps, target)] as const),
  );
  for (const [target, name] of found) names.set(target, name);
  const named = items.map((entry) => {
    const name = entry.name ?? names.get(entry.target);
    return name === undefined ? entry : { ...entry, name };
  });
  return { items: named, total };
}

/** What all channels are called now, by target; they are read once for all targets, and only for such that are channels. */
async function channelNames(
  { store }: ReadDeps,
  targets: readonly string[],
): Promise<[string, string | undefined][]> {
  if (!targets.some((target) => target.startsWith('channel:'))) return [];
  const { channels } = await latestChannels(store);
  return channels.map(({ id, name }) => [auditTarget(id), name]);
}

const TARGET = /^(token|user|redemption|tag):(.+)$/s;

/** What a target such as `token:7` is called now, if it still exists. */
async function nameNow({ store, now }: ReadDeps, target: string): Promise<string | undefined> {
  const [, kind, rest = ''] = TARGET.exec(target) ?? [];
  if (kind === 'tag') return rest;
  const id = Number(rest);
  if (!Number.isSafeInteger(id)) return undefined;
  if (kind === 'token') return (await store.getToken(id, now()))?.name;
  if (kind === 'user') return (await store.getUser(id, now()))?.username;
  return kind === 'redemption' ? (await store.getCode(id))?.name : undefined;
}
