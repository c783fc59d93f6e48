import type { Socket } from 'node:net';

/** How long a connection may wait for others to be accepted. */
const WAIT_MS = 25;

/**
 * Begins to serve connections that come together once all of them are accepted. The event loop accepts one in each turn: if
 * the first ones were served at once, turns would take so long that the last of some hundreds waited for seconds, and what
 * comes one by one is not written together. A connection that comes alone waits for one turn in which nothing else happens.
 */
export class Arrivals {
  readonly #begin: (socket: Socket) => void;
  #waiting: Socket[] = [];
  #seen = 0;
  #untilMs = 0;

  constructor(begin: (socket: Socket) => void) {
    this.#begin = begin;
  }

  add(socket: Socket): void {
    // What it brings stays in the system until then.
    socket.pause();
    this.#waiting.push(socket);
    if (this.#waiting.length > 1) return;
    this.#untilMs = performance.now() + WAIT_MS;
    setImmediate(this.#look);
  }

  /** Once a turn, after connections have been accepted. */
  readonly #look = (): void => {
    const { length } = this.#waiting;
    if (length > this.#seen && performance.now() < this.#untilMs) {
      this.#seen = length;
      setImmediate(this.#look);
      return;
    }
    const arrived = this.#waiting;
    this.#waiting = [];
    this.#seen = 0;
    for (const socket of arrived) {
      this.#begin(socket);
      socket.resume();
    }
  };
}
