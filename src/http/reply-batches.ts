import type { ServerResponse } from 'node:http';
import { mustBeTaken } from './connections.js';
import type { Load, Place } from './load.js';

interface Waiting {
  readonly res: ServerResponse;
  readonly place: Place | undefined;
  readonly body: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
}

/**
 * Ends replies together, at the end of the turn of the event loop in which they became ready. Under load there are several
 * per turn, and most of the cost of a write is waking its reader: the first write does that for those that follow. A reply
 * that the connection does not take at once counts as load until it does, or until its time is up.
 */
export class ReplyBatches {
  readonly #load: Pick<Load, 'keep'>;
  #waiting: Waiting[] = [];

  constructor(load: Pick<Load, 'keep'>) {
    this.#load = load;
  }

  /** Ends a reply whose head is written; callers that have left are skipped. `place` is that of its request. */
  end(
    res: ServerResponse,
    place: Place | undefined,
    body: string | Buffer,
    encoding: 'latin1' | 'utf8',
  ): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ res, place, body, encoding });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const { res, place, body, encoding } of batch) {
      if (res.destroyed) continue;
      res.end(body, encoding);
      // Nearly always the kernel has taken all of it by now, and nothing is left here to be counted.
      if (res.writableLength !== 0) this.#keep(res, place, body.length);
    }
  }

  /** Slow readers must not pile up replies: their bytes are counted, and not kept forever. */
  #keep(res: ServerResponse, place: Place | undefined, bytes: number): void {
    // A reply behind another of its connection has no socket of its own yet, and would not be told that it closes.
    const { socket } = res.req;
    if (socket.destroyed) return;
    const release = this.#load.keep(place, bytes);
    mustBeTaken(res);
    const done = (): void => {
      release();
      res.off('close', done);
      socket.off('close', done);
    };
    res.on('close', done);
    socket.on('close', done);
  }
}
