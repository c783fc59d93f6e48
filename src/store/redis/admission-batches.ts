import type { Admission, AdmitRequest, Settlement } from '../store.js';

/** Limits how long one script keeps the server from serving others. */
const MAX_ITEMS = 256;

/** How long a settlement may wait to be sent with an admission: a write to the socket costs more than a script. */
const SETTLE_WITHIN_MS = 4;

/** Requests for one user; settlements come first, since a place that one gives back may be the one that is needed next. */
export interface Asked {
  readonly settlements: readonly Settlement[];
  readonly admissions: readonly AdmitRequest[];
}

/** The answers, in the order of the requests. */
export interface Answered {
  readonly charged: readonly (number | undefined)[];
  readonly admissions: readonly Admission[];
}

interface Waiting<Item, Result> {
  readonly items: Item[];
  readonly settle: {
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

interface Batch {
  readonly settlements: Waiting<Settlement, number | undefined>;
  readonly admissions: Waiting<AdmitRequest, Admission>;
}

/**
 * Collects the requests of one turn of the event loop, so that a burst costs one command per user and not one per request.
 * Settlements keep their order, and so do admissions.
 */
export class AdmissionBatches {
  readonly #send: (userId: number, asked: Asked) => Promise<Answered>;
  readonly #together: (send: () => void) => void;
  #batches = new Map<number, Batch>();
  /** Set while only settlements are waiting. */
  #timer: NodeJS.Timeout | undefined;
  #isTurnEnding = false;

  /** `together` runs the given function and sends everything from it in one write. */
  constructor(
    send: (userId: number, asked: Asked) => Promise<Answered>,
    together: (send: () => void) => void,
  ) {
    this.#send = send;
    this.#together = together;
  }

  admit(request: AdmitRequest): Promise<Admission> {
    if (!this.#isTurnEnding) {
      this.#isTurnEnding = true;
      setImmediate(() => this.flush());
    }
    const { userId } = request;
    const batch = this.#batchOf(userId);
    return this.#add(userId, batch, batch.admissions, request);
  }

  settle(settlement: Settlement): Promise<number | undefined> {
    if (!this.#isTurnEnding) this.#timer ??= setTimeout(() => this.flush(), SETTLE_WITHIN_MS);
    const { userId } = settlement;
    const batch = this.#batchOf(userId);
    return this.#add(userId, batch, batch.settlements, settlement);
  }

  /** Sends what has been collected, if anything. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isTurnEnding = false;
    if (this.#batches.size === 0) return;
    const batches = this.#batches;
    this.#batches = new Map();
    this.#together(() => {
      for (const [userId, batch] of batches) void this.#run(userId, batch);
    });
  }

  #batchOf(userId: number): Batch {
    let batch = this.#batches.get(userId);
    if (batch === undefined) {
      batch = {
        settlements: { items: [], settle: [] },
        admissions: { items: [], settle: [] },
      };
      this.#batches.set(userId, batch);
    }
    return batch;
  }

  #add<Item, Result>(
    userId: number,
    batch: Batch,
    { items, settle }: Waiting<Item, Result>,
    item: Item,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      items.push(item);
      settle.push({ resolve, reject });
      if (items.length < MAX_ITEMS) return;
      this.#batches.delete(userId);
      void this.#run(userId, batch);
    });
  }

  async #run(userId: number, { settlements, admissions }: Batch): Promise<void> {
    try {
      const answered = await this.#send(userId, {
        settlements: settlements.items,
        admissions: admissions.items,
      });
      resolveAll(settlements, answered.charged);
      resolveAll(admissions, answered.admissions);
    } catch (error) {
      for (const { reject } of settlements.settle) reject(error);
      for (const { reject } of admissions.settle) reject(error);
    }
  }
}

function resolveAll<Item, Result>(
  { settle }: Waiting<Item, Result>,
  results: readonly Result[],
): void {
  // The script answers the items in order.
  settle.forEach(({ resolve }, index) => resolve(results[index] as Result));
}
