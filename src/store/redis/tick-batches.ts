interface Batch<Item, Result> {
  readonly items: Item[];
  readonly settle: {
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

/**
 * Collects what is asked for one user in one turn of the event loop, so that a burst costs one command and not one each. The
 * order of asking is kept.
 */
export class TickBatches<Item, Result> {
  readonly #send: (userId: number, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #maxItems: number;
  #batches = new Map<number, Batch<Item, Result>>();

  constructor(
    send: (userId: number, items: readonly Item[]) => Promise<readonly Result[]>,
    maxItems: number,
  ) {
    this.#send = send;
    this.#maxItems = maxItems;
  }

  add(userId: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#batches.size === 0) setImmediate(this.#flush);
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

  readonly #flush = (): void => {
    const batches = this.#batches;
    this.#batches = new Map();
    for (const [userId, batch] of batches) void this.#run(userId, batch);
  };

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
