import { setTimeout } from 'node:timers/promises';
import { GatewayUnreachableError } from '../client/api-client.js';
import { PAGE_SIZE } from '../client/client.js';
import { isRecord } from '../core/records.js';
import type { ListedRequestWire } from '../shapes/request.js';
import type { Columns } from './listing.js';
import type { Session } from './session.js';

const POLL_MS = 1_000;
/** Entries are written a while after their time: how far back every look goes. */
const LATE_S = 60;
/** Most looks end at a page without anything new; every so many go all the way back. */
const FULL_LOOK = 10;

/** A page of what has come in since a time, newest first, that comes after an entry. */
type ReadPage = (
  sinceSeconds: number,
  before: string | undefined,
) => Promise<readonly ListedRequestWire[]>;

/**
 * Prints the newest `limit` requests, oldest first, and then each new one once, until somebody interrupts it. While the
 * gateway or the store cannot be reached, it waits, and goes on from there.
 */
export async function follow(
  { io, stream }: Session,
  columns: Columns<ListedRequestWire>,
  limit: number,
  readPage: ReadPage,
): Promise<void> {
  const interrupted = io.interrupted?.() ?? new AbortController().signal;
  const print = stream(columns);
  const seen = new Map<string, number>();
  const newest = await readPage(0, undefined);
  let sinceSeconds = newest[0]?.created_at ?? Math.floor(io.now() / 1_000);
  const latest = await lookFor(seen, sinceSeconds - LATE_S, true, readPage);
  const older = newest.filter((entry) => !seen.has(keyOf(entry))).toReversed();
  print([...older, ...latest].slice(-limit));
  let isDown = false;
  for (let look = 1; await pause(interrupted); look += 1) {
    try {
      const fresh = await lookFor(seen, sinceSeconds - LATE_S, look % FULL_LOOK === 0, readPage);
      print(fresh);
      sinceSeconds = Math.max(sinceSeconds, ...fresh.map(({ created_at: at }) => at));
      isDown = false;
    } catch (error) {
      if (!isOutage(error)) throw error;
      if (!isDown) io.writeError(`${error.message} Waiting.\n`);
      isDown = true;
      // What was written meanwhile may be far back.
      look = -1;
    }
    for (const [key, at] of seen) if (at < sinceSeconds - 2 * LATE_S) seen.delete(key);
  }
}

/** Waits before the next look; resolves to whether there is one. */
async function pause(interrupted: AbortSignal): Promise<boolean> {
  if (interrupted.aborted) return false;
  try {
    return await setTimeout(POLL_MS, true, { signal: interrupted });
  } catch (error) {
    if (isAbort(error)) return false;
    throw error;
  }
}

/** What has not been seen, oldest first. */
async function lookFor(
  seen: Map<string, number>,
  sinceSeconds: number,
  isFull: boolean,
  readPage: ReadPage,
): Promise<ListedRequestWire[]> {
  const fresh: ListedRequestWire[] = [];
  let before: string | undefined;
  for (;;) {
    const page = await readPage(sinceSeconds, before);
    const unseen = page.filter((entry) => !seen.has(keyOf(entry)));
    fresh.push(...unseen);
    before = page.at(-1)?.id;
    if (page.length < PAGE_SIZE || (unseen.length === 0 && !isFull)) break;
  }
  // Only now: a look that fails half-way is made again.
  for (const entry of fresh) seen.set(keyOf(entry), entry.created_at);
  return fresh.toReversed();
}

/** The place of an entry changes while others come in; what happened does not. */
function keyOf({
  kind,
  request_id: id,
  created_at: at,
  duration_ms: ms,
  outcome,
}: ListedRequestWire): string {
  return [kind, id, at, ms, outcome].join(' ');
}

function isOutage(error: unknown): error is Error {
  return (
    error instanceof GatewayUnreachableError ||
    (error instanceof Error && error.name === 'StoreUnavailableError')
  );
}

function isAbort(error: unknown): boolean {
  return isRecord(error) && error.name === 'AbortError';
}
