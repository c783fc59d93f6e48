import {
  LAPSED_MS,
  StoreUnavailableError,
  type AdmissionStore,
  type AdmitRequest,
  type Settlement,
} from '../store/store.js';
import type { Observe } from './events.js';

export interface SettlementsDeps {
  readonly store: Pick<AdmissionStore, 'settle'>;
  readonly observe: Observe;
  readonly now: () => number;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/** How many may be retried beyond their reservations' expiry: a store that is away for hours must not fill the memory. */
const MAX_OVERDUE = 100_000;

/**
 * An admission without an answer may still be on its way when it is ended: it is searched for again after each of these
 * delays.
 */
const LOOK_AGAIN_MS = [1_000, 4_000];

/** A settlement that the store has answered: what was charged, and whether an earlier try may have done it. */
interface Tried {
  readonly charged: number | undefined;
  readonly mayBeDone: boolean;
}

/**
 * Settlements in progress. A reply never waits for one, and none is lost because a store is away for a while: each is tried
 * again until the store has answered. A reservation that another node has given back meanwhile is still charged, for
 * `LAPSED_MS`.
 */
export class Settlements {
  readonly #deps: SettlementsDeps;
  #pending = 0;
  #whenDone: (() => void)[] = [];
  /** Cuts the waits between two tries short. */
  readonly #waits = new Set<() => void>();
  readonly #maxOverdue: number;
  #untilMs = Infinity;

  constructor(deps: SettlementsDeps, maxOverdue = MAX_OVERDUE) {
    this.#deps = deps;
    this.#maxOverdue = maxOverdue;
  }

  /** Resolves to what was charged; to `undefined` if that cannot be known. Never rejects. */
  async add(settlement: Settlement, expiresAtMs: number): Promise<number | undefined> {
    this.#pending += 1;
    const outcome = await this.#tryOn(settlement, expiresAtMs);
    this.#oneIsDone();
    return outcome === undefined ? undefined : this.#told(settlement, expiresAtMs, outcome);
  }

  /** Ends an admission that may or may not have been made, for a request that is over. Never rejects. */
  abandon({ tokenId, userId, reservationId, amount, expiresAtMs }: AdmitRequest): void {
    void this.#end(
      {
        ...{ tokenId, userId, reservationId, amount, cost: 0, served: false },
        nowMs: this.#deps.now(),
      },
      expiresAtMs,
    );
  }

  /** The store answers again: whatever waits for it is tried now. */
  storeIsBack(): void {
    for (const go of [...this.#waits]) go();
  }

  get size(): number {
    return this.#pending;
  }

  /**
   * Resolves once everything is settled or given up. From `untilMs` on, failures are final: a process that is
   * shutting down must not wait for a store that does not come back.
   */
  async drained(untilMs = Infinity): Promise<void> {
    this.#untilMs = untilMs;
    this.storeIsBack();
    if (this.#pending > 0) await new Promise<void>((resolve) => this.#whenDone.push(resolve));
  }

  /** Counted, and not kept in a set: one more promise for each request costs more than the count. */
  #oneIsDone(): void {
    this.#pending -= 1;
    if (this.#pending > 0) return;
    for (const resolve of this.#whenDone.splice(0)) resolve();
  }

  async #end(settlement: Settlement, expiresAtMs: number): Promise<void> {
    this.#pending += 1;
    await this.#endOnceFound(settlement, expiresAtMs);
    this.#oneIsDone();
  }

  async #endOnceFound(settlement: Settlement, expiresAtMs: number): Promise<void> {
    for (const waitMs of LOOK_AGAIN_MS) {
      const outcome = await this.#tryOn(settlement, expiresAtMs);
      if (outcome?.charged !== undefined || outcome === undefined) return;
      if (this.#deps.now() + waitMs >= this.#untilMs) return;
      await this.#wait(waitMs);
    }
    await this.#tryOn(settlement, expiresAtMs);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.#waits.delete(go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.#waits.add(go);
    });
  }

  /** Returns what was charged, and reports what should have been charged but was not. */
  #told(
    settlement: Settlement,
    expiresAtMs: number,
    { charged, mayBeDone }: Tried,
  ): number | undefined {
    // The store knows a reservation until long after its end: one that disappeared earlier was settled by a try whose answer
    // was lost, and there is nothing to report.
    const isKnown = this.#deps.now() < expiresAtMs + LAPSED_MS;
    const isDone = charged !== undefined || (mayBeDone && isKnown);
    if (!isDone && settlement.cost > 0) this.#tellGone(settlement, mayBeDone);
    return mayBeDone ? charged : (charged ?? 0);
  }

  /** Tries until the store has answered; `undefined` if it was given up. */
  async #tryOn(settlement: Settlement, expiresAtMs: number): Promise<Tried | undefined> {
    let mayBeDone = false;
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        return { charged: await this.#deps.store.settle(settlement), mayBeDone };
      } catch (error) {
        const away = error instanceof StoreUnavailableError ? error : undefined;
        mayBeDone ||= away?.didNothing === false;
        const nowMs = this.#deps.now();
        const isTooMuch = nowMs >= expiresAtMs && this.#pending > this.#maxOverdue;
        if (away === undefined || isTooMuch || nowMs + waitMs >= this.#untilMs) {
          this.#giveUp(settlement, error);
          return undefined;
        }
        await this.#wait(waitMs);
      }
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
          ? 'the reservation is gone: the earlier try settled it, or it expired more than ten minutes ago'
          : 'the reservation is gone: its account was deleted, it expired more than ten minutes ago, or the store has lost it',
      ),
      requestId: reservationId,
      ...(!mayBeDone && { unsettled: cost }),
    });
  }

  #giveUp(settlement: Settlement, error: unknown): void {
    this.#deps.observe({
      kind: 'fault',
      what: `settlement of ${settlement.cost} units given up`,
      error,
      requestId: settlement.reservationId,
      unsettled: settlement.cost,
    });
  }
}
