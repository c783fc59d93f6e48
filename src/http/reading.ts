/** How many large bodies are read and passed on at once: enough to keep a core busy, and few enough to stay in its caches. */
const AT_ONCE = 8;
/**
 * A body that delivers less than this in this time, or is there and waits for something else than an upstream that reads it, is
 * alongside others, and keeps none of them waiting.
 */
const LEAST_BYTES = 65_536;
const WITHIN_MS = 100;

/**
 * Large bodies come in a few at a time, in the order in which they were announced; what its caller sends meanwhile waits in the
 * connection. Read all at once, a megabyte each, they push one another out of the processor's caches, outlive the
 * collections that would free them cheaply, and become ready together, so that everybody else waits for all of them. The same
 * is true of those that have been read and wait to be written, so a turn ends when the upstream has the body.
 */
export class ReadingTurns {
  readonly #atOnce: number;
  readonly #withinMs: number;
  readonly #waiting = new Set<() => void>();
  #reading = 0;

  constructor(atOnce = AT_ONCE, withinMs = WITHIN_MS) {
    this.#atOnce = atOnce;
    this.#withinMs = withinMs;
  }

  /**
   * Calls `begin` when a body may be read, which may be now; what it returns is called once the body has been passed on, or
   * given up.
   * `received` tells how many bytes of it have come.
   */
  take(begin: () => void, received: () => number): () => void {
    let timer: NodeJS.Timeout | undefined;
    let seen = 0;
    const look = (): void => {
      const bytes = received();
      if (bytes - seen < LEAST_BYTES) end();
      else timer?.refresh();
      seen = bytes;
    };
    const end = (): void => {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = undefined;
      this.#reading -= 1;
      const [next] = this.#waiting;
      next?.();
    };
    const start = (): void => {
      this.#waiting.delete(start);
      this.#reading += 1;
      timer = setTimeout(look, this.#withinMs);
      begin();
    };
    if (this.#reading < this.#atOnce) start();
    else this.#waiting.add(start);
    return () => {
      if (!this.#waiting.delete(start)) end();
    };
  }
}
