import type { Config } from '../config/values.js';
import type { OutgoingEvent } from '../core/delivery.js';
import type { Background } from '../gateway/background.js';
import { listAudit } from '../management/audit-log.js';
import type { AuditEntry, Logged, Store } from '../store/store.js';

/** How far the audit log has been sent. */
interface Reached {
  readonly id: number;
  readonly atMs: number;
}

interface StreamDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly run: Background['run'];
  /** Returns at once; an event with the same id is sent once. */
  readonly deliver: (event: OutgoingEvent) => void;
}

const DUTY = 'audit-stream';
const EVERY_MS = 2_000;
/** If the node that has the duty dies, another one goes on after this long. */
const FOR_MS = 60_000;
/** Entries read at once. */
const PAGE = 500;
/** Entries are numbered in the order of their coming; the clocks of nodes may differ by so much. */
const SKEW_MS = 300_000;

/** Sends the audit log for as long as a target takes it; to be told when the targets have changed. */
export interface AuditFollower {
  update(): void;
  stop(): void;
}

export function followAudit({ alerts }: Pick<Config, 'alerts'>, deps: StreamDeps): AuditFollower {
  let stopStream: (() => void) | undefined;
  const stop = (): void => {
    stopStream?.();
    stopStream = undefined;
  };
  const update = (): void => {
    if (alerts.targets.some(({ kinds }) => kinds.includes('audit')))
      stopStream ??= streamAudit(deps);
    else stop();
  };
  update();
  return { update, stop };
}

/**
 * Sends the audit log as it grows, with what commands on the store have done. One node at a time does it; the place that it has
 * reached is kept a round late, so that nothing is left out if the node dies. What was there at the first start is not sent.
 * Returns how to stop.
 */
function streamAudit(deps: StreamDeps): () => void {
  const { store, now, run } = deps;
  let handedOver: Reached = { id: 0, atMs: 0 };
  const round = async (): Promise<void> => {
    const { isMine, note } = await store.takeDuty(DUTY, now(), FOR_MS);
    if (!isMine) return;
    const newest = await newestOf(deps);
    const kept = note === '' ? newest : (JSON.parse(note) as Reached);
    // By now the sender has written to the store what it was handed a round ago.
    const sure = handedOver.id > kept.id ? handedOver : kept;
    // A restored store numbers its entries again from its backup.
    const from = sure.id > newest.id ? newest : sure;
    const entries = newest.id === from.id ? [] : await entriesAfter(deps, from);
    for (const entry of entries) deps.deliver(eventOf(entry));
    handedOver = entries.at(-1) ?? from;
    const { id, atMs } = from;
    await store.endDuty(DUTY, JSON.stringify({ id, atMs }), now(), EVERY_MS / 2);
  };
  const begin = (): void => run('sending the audit log', round);
  begin();
  const timer = setInterval(begin, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function newestOf({ store, now }: StreamDeps): Promise<Reached> {
  const { items } = await store.listAudit({ offset: 0, limit: 1, count: false });
  return items[0] ?? { id: 0, atMs: now() };
}

/** The oldest of the entries that come after a place. */
async function entriesAfter(
  deps: StreamDeps,
  { id: after, atMs }: Reached,
): Promise<Logged<AuditEntry>[]> {
  const found: Logged<AuditEntry>[] = [];
  const span = { fromMs: atMs - SKEW_MS, offset: 0, limit: PAGE, count: false } as const;
  for (let before: { readonly before?: number } = {}; ;) {
    const { items } = await listAudit(deps, { ...span, ...before });
    found.push(...items.filter(({ id }) => id > after));
    const last = items.at(-1);
    if (last === undefined || items.length < PAGE) break;
    before = { before: last.id };
  }
  return found.sort((a, b) => a.id - b.id).slice(0, PAGE);
}

function eventOf({
  id,
  atMs,
  actorId,
  actor,
  action,
  target,
  ...rest
}: Logged<AuditEntry>): OutgoingEvent {
  const { name, detail, changes, address } = rest;
  return {
    id: `audit-${id}-${atMs}`,
    type: `audit.${action}`,
    atMs,
    summary: `${actor}: ${action} ${name ?? target}`,
    data: {
      ...{ audit_id: id, actor_id: actorId ?? null, actor, action, target, name: name ?? null },
      ...{ detail, changes: changes ?? [], address: address ?? null },
    },
  };
}
