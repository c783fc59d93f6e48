import type { ServerResponse } from 'node:http';

interface Waiting {
  readonly res: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
}

/**
 * Ends replies together, at the end of the turn of the event loop in which they became ready. Under load several do in one
 * turn, and what a write costs is mostly to wake who reads it: the first write does that for those behind it.
 */
export class ReplyBatches {
  #waiting: Waiting[] = [];

  /** Ends a reply whose head is written; gone callers are passed over. */
  end(res: ServerResponse, body: string | Buffer, encoding: 'latin1' | 'utf8'): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ res, body, encoding });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const { res, body, encoding } of batch) {
      if (!res.destroyed) res.end(body, encoding);
    }
  }
}
