import { StoreUnavailableError, type AdmissionStore, type Settlement } from '../store/store.js';
import type { Observe } from './events.js';

export interface SettlementsDeps {
  readonly store: Pick<AdmissionStore, 'settle'>;
  readonly observe: Observe;
  readonly now: () => number;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/**
 * Settlements under way. A reply never waits for one, and a store that is away for a while does not lose one: it is tried
 * again until the reservation has expired, when the store gives the quota back by itself.
 */
export class Settlements {
  readonly #deps: SettlementsDeps;
  readonly #pending = new Set<Promise<void>>();
  #untilMs = Infinity;

  constructor(deps: SettlementsDeps) {
    this.#deps = deps;
  }

  /** Resolves to what was charged; to `undefined` when that cannot be known. Never rejects. */
  add(settlement: Settlement, expiresAtMs: number): Promise<number | undefined> {
    const settled = this.#settle(settlement, expiresAtMs);
    const pending = settled.then(() => {
      this.#pending.delete(pending);
    });
    this.#pending.add(pending);
    return settled;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Resolves when all that were added so far are settled or given up. From `untilMs` on, whatever fails is given up: a
   * process that is to end must not wait for a store that does not come back.
   */
  async drained(untilMs = Infinity): Promise<void> {
    this.#untilMs = untilMs;
    await Promise.all(this.#pending);
  }

  async #settle(settlement: Settlement, expiresAtMs: number): Promise<number | undefined> {
    let waitMs = FIRST_RETRY_MS;
    let mayBeDone = false;
    for (;;) {
      try {
        const charged = await this.#deps.store.settle(settlement);
        const isThere = charged !== undefined;
        // The store gives no reservation back before it expires: one that is gone earlier was settled by a try whose
        // answer was lost, and there is nothing to report.
        const isDone = isThere || (mayBeDone && this.#deps.now() < expiresAtMs);
        if (!isDone && settlement.cost > 0) this.#tellGone(settlement, mayBeDone);
        return mayBeDone ? charged : (charged ?? 0);
      } catch (error) {
        const retriable = error instanceof StoreUnavailableError;
        mayBeDone ||= retriable && !error.didNothing;
        const giveUpAtMs = Math.min(expiresAtMs, this.#untilMs);
        if (!retriable || this.#deps.now() + waitMs >= giveUpAtMs) {
          this.#giveUp(settlement, error);
          return undefined;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS);
    }
  }

  #tellGone(settlement: Settlement, mayBeDone: boolean): void {
    const { cost, reservationId } = settlement;
    this.#deps.observe({
      kind: 'fault',
      what: mayBeDone
        ? `${cost} units may not have been charged: an earlier try had no answer`
        : `${cost} units were not charged`,
      error: new Error(
        mayBeDone
          ? 'the reservation is gone: it was settled by the earlier try, or it has expired'
          : 'the reservation is gone: it had expired, or the store has lost it',
      ),
      requestId: reservationId,
    });
  }

  #giveUp(settlement: Settlement, error: unknown): void {
    this.#deps.observe({
      kind: 'fault',
      what: `settlement of ${settlement.cost} units given up`,
      error,
      requestId: settlement.reservationId,
    });
  }
}
