import type { Layer, Outcome, Rank } from '../rank.js';
import { endError, type OwnedScope } from '../scope.js';
import { boundJob } from '../job.js';
import { jobKey } from '../job-key.js';

interface Flight {
  readonly scope: OwnedScope;
  readonly deadlineMs: number;
  readonly outcome: Promise<Outcome>;
  waiting: number;
}

/**
 * Identical calls of the same owner that are in flight at the same time share one ranking. The shared call has its own
 * scope: it continues for those who wait when the first caller leaves, and ends with the last of them.
 */
export function coalesced(createScope: (deadlineMs: number) => OwnedScope): Layer<Rank> {
  const flights = new Map<string, Flight>();
  return (next) => async (job) => {
    const key = await jobKey(job);
    // A caller that left meanwhile asks for nothing.
    job.scope.throwIfEnded();
    let flight = flights.get(key);
    if (flight === undefined) {
      const { deadlineMs } = job.scope;
      const scope = createScope(deadlineMs);
      const own: Flight = {
        scope,
        deadlineMs,
        outcome: next(boundJob(job, scope)).finally(() => {
          if (flights.get(key) === own) flights.delete(key);
          scope.release();
        }),
        waiting: 0,
      };
      // All waiting callers are notified; there may be none left.
      own.outcome.catch(() => undefined);
      flights.set(key, own);
      flight = own;
    }
    const shared = flight;
    shared.waiting += 1;
    let unlisten: (() => void) | undefined;
    const left = new Promise<never>((_resolve, reject) => {
      unlisten = job.scope.onEnd(() => reject(endError(job.scope.ended ?? 'client_gone')));
    });
    try {
      return await Promise.race([shared.outcome, left]);
    } catch (error) {
      // The shared call had less time than this one; with as much, either may be the first to end.
      const hasMoreTime = job.scope.deadlineMs > shared.deadlineMs;
      if (hasMoreTime && job.scope.ended === undefined && shared.scope.ended !== undefined) {
        return await next(job);
      }
      throw error;
    } finally {
      unlisten?.();
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        if (flights.get(key) === shared) flights.delete(key);
        shared.scope.end('lost');
      }
    }
  };
}
