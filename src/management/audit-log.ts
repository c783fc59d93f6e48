import type { AuditEntry, AuditQuery, Logged, Page } from '../store/store.js';
import type { ManagementDeps } from './audit.js';
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
  const found = await Promise.all(
    targets.map(async (target) => [target, await nameNow(deps, target)] as const),
  );
  const names = new Map(found);
  const named = items.map((entry) => {
    const name = entry.name ?? names.get(entry.target);
    return name === undefined ? entry : { ...entry, name };
  });
  return { items: named, total };
}

const TARGET = /^(channel|token|user|redemption|tag):(.+)$/s;

/** What a target such as `channel:7` is called now, if it still exists. */
async function nameNow({ store, now }: ReadDeps, target: string): Promise<string | undefined> {
  const [, kind, rest = ''] = TARGET.exec(target) ?? [];
  if (kind === 'tag') return rest;
  const id = Number(rest);
  if (!Number.isSafeInteger(id)) return undefined;
  if (kind === 'token') return (await store.getToken(id, now()))?.name;
  if (kind === 'user') return (await store.getUser(id, now()))?.username;
  if (kind === 'redemption') return (await store.getCode(id))?.name;
  if (kind !== 'channel') return undefined;
  return (await latestChannels(store)).channels.find((channel) => channel.id === id)?.name;
}
