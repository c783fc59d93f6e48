interface Batch<Item, Result> {
  readonly items: Item[];
  readonly settle: {
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

/**
 * Collects what is asked for one user until the batch is flushed, so that a burst costs one command and not one each. The
 * order of asking is kept.
 */
export class TickBatches<Item, Result> {
  readonly #send: (userId: number, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #maxItems: number;
  /** Sees to it that `flush` is called soon; called when the first item of a batch comes. */
  readonly #schedule: () => void;
  #batches = new Map<number, Batch<Item, Result>>();

  constructor(
    send: (userId: number, items: readonly Item[]) => Promise<readonly Result[]>,
    maxItems: number,
    schedule: () => void,
  ) {
    this.#send = send;
    this.#maxItems = maxItems;
    this.#schedule = schedule;
  }

  add(userId: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#batches.size === 0) this.#schedule();
      let batch = this.#batches.get(userId);
      if (batch === undefined) {
        batch = { items: [], settle: [] };
        this.#batches.set(userId, batch);
      }
      batch.items.push(item);
      batch.settle.push({ resolve, reject });
      if (batch.items.length >= this.#maxItems) {
        this.#batches.delete(userId);
        void this.#run(userId, batch);
      }
    });
  }

  /** Sends what has been collected, if anything. */
  flush(): void {
    if (this.#batches.size === 0) return;
    const batches = this.#batches;
    this.#batches = new Map();
    for (const [userId, batch] of batches) void this.#run(userId, batch);
  }

  async #run(userId: number, { items, settle }: Batch<Item, Result>): Promise<void> {
    try {
      const results = await this.#send(userId, items);
      // The script answers each item in its place.
      settle.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      for (const { reject } of settle) reject(error);
    }
  }
}
