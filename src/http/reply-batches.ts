import type { ServerResponse } from 'node:http';
import type { Load } from './load.js';

interface Waiting {
  readonly res: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
}

/** How long a caller may take to read its reply, once that is ready. */
const TAKE_WITHIN_MS = 60_000;

/**
 * Ends replies together, at the end of the turn of the event loop in which they became ready. Under load there are several
 * per turn, and most of the cost of a write is waking its reader: the first write does that for those behind it. A reply
 * that the connection does not take at once counts as load until it does, or until its time is up.
 */
export class ReplyBatches {
  readonly #load: Pick<Load, 'keep'>;
  readonly #takeWithinMs: number;
  #waiting: Waiting[] = [];

  constructor(load: Pick<Load, 'keep'>, takeWithinMs = TAKE_WITHIN_MS) {
    this.#load = load;
    this.#takeWithinMs = takeWithinMs;
  }

  /** Ends a reply whose head is written; callers that have left are skipped. */
  end(res: ServerResponse, body: string | Buffer, encoding: 'latin1' | 'utf8'): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ res, body, encoding });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const { res, body, encoding } of batch) {
      if (res.destroyed) continue;
      res.end(body, encoding);
      if (!res.writableFinished) this.#keep(res, body.length);
    }
  }

  /** Slow readers must not pile up replies: their bytes are counted, and not kept forever. */
  #keep(res: ServerResponse, bytes: number): void {
    // A reply behind another of its connection has no socket of its own yet, and would not be told that it closes.
    const { socket } = res.req;
    if (socket.destroyed) return;
    const release = this.#load.keep(bytes);
    const isItsTurn = res.socket !== null;
    const timer = isItsTurn ? setTimeout(() => socket.destroy(), this.#takeWithinMs) : undefined;
    const done = (): void => {
      clearTimeout(timer);
      release();
      res.off('close', done);
      socket.off('close', done);
    };
    res.on('close', done);
    socket.on('close', done);
  }
}
