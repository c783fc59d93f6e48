import type { Socket } from 'node:net';

/** Requests of one connection that begin in a turn of the event loop. */
const MOST_REQUESTS = 16;
/** Small pieces of bodies, and frames of HTTP/2, that one connection brings before others have their turn. */
const MOST_PIECES = 64;
/** Turns that others have before a connection that brings more is read again: about as many as a request of theirs takes. */
const HELD_TURNS = 8;
/** How long a connection pauses for each millisecond that its tiny pieces took. */
const REST = 2;
/** Larger pieces are few. */
export const SMALL_BYTES = 512;
/** Small pieces that any body may come in. */
export const FEW_PIECES = 64;

type Act = () => void;
/** Stops reading a connection; what it returns lets it be read again. */
type Hold = (socket: Socket) => Act;

/** What one connection has brought in this turn, and what waits for the next ones. */
interface Turn {
  beganMs: number;
  requests: number;
  pieces: number;
  /** Turns for which it is not read yet. */
  heldTurns: number;
  readonly waiting: Act[];
  release: Act | undefined;
  /** Whether others have time after it, and not only turns. */
  isWaste: boolean;
  /** Nothing is begun or read any more. */
  isLast: boolean;
}

/**
 * Shares the turns of the event loop among connections: what one brings beyond its share of a turn waits for the next, and
 * meanwhile nothing more is read from it. Pieces and frames that are already read, up to 64 KiB, are still parsed.
 */
export class Pacing {
  readonly #turns = new WeakMap<Socket, Turn>();
  readonly #hold: Hold;

  constructor(hold: Hold) {
    this.#hold = hold;
  }

  /** Begins a request now, or in a later turn, in the order of the requests of its connection. */
  begin(socket: Socket, request: Act): void {
    const turn = this.#turnOf(socket);
    if (turn.isLast) return;
    if (turn.requests < MOST_REQUESTS) {
      turn.requests += 1;
      request();
      return;
    }
    if (turn.waiting.length === 0) turn.heldTurns = HELD_TURNS;
    turn.waiting.push(request);
    turn.release ??= this.#hold(socket);
  }

  /** Counts what a connection has brought besides. */
  count(socket: Socket): void {
    const turn = this.#turnOf(socket);
    turn.pieces += 1;
    if (turn.pieces < MOST_PIECES) return;
    turn.heldTurns = HELD_TURNS;
    turn.release ??= this.#hold(socket);
  }

  /**
   * Counts a small piece of a body. Turns in which nobody has anything to do are over in no time: a connection with many such pieces waits
   * for as long as they have kept others waiting, and more.
   */
  countSmall(socket: Socket): void {
    this.count(socket);
    const turn = this.#turnOf(socket);
    turn.isWaste = turn.release !== undefined;
  }

  /** Begins nothing more that a connection brings, and reads no more of it. */
  stop(socket: Socket): void {
    const turn = this.#turnOf(socket);
    turn.isLast = true;
    turn.release ??= this.#hold(socket);
  }

  #turnOf(socket: Socket): Turn {
    const known = this.#turns.get(socket);
    if (known !== undefined) return known;
    const turn: Turn = {
      beganMs: performance.now(),
      isWaste: false,
      ...{ requests: 0, pieces: 0, heldTurns: 0 },
      ...{ waiting: [], release: undefined, isLast: false },
    };
    this.#turns.set(socket, turn);
    setImmediate(this.#next, socket, turn);
    return turn;
  }

  readonly #next = (socket: Socket, turn: Turn): void => {
    if (turn.isLast) return;
    if (turn.isWaste) {
      turn.isWaste = false;
      const nowMs = performance.now();
      const restMs = REST * (nowMs - turn.beganMs);
      // What comes after it, as bodies of requests that waited, is followed by its own time alone.
      turn.beganMs = nowMs + restMs;
      setTimeout(this.#next, restMs, socket, turn);
      return;
    }
    turn.heldTurns -= 1;
    if (turn.heldTurns > 0) {
      setImmediate(this.#next, socket, turn);
      return;
    }
    const requests = turn.waiting.splice(0, MOST_REQUESTS);
    // Where others still wait, these are as many as may begin at once, and keep what comes meanwhile behind those.
    turn.requests = requests.length;
    for (const request of requests) request();
    if (turn.waiting.length > 0) {
      turn.heldTurns = HELD_TURNS;
      setImmediate(this.#next, socket, turn);
      return;
    }
    this.#turns.delete(socket);
    // What is read now begins in the same turn, and counts with these.
    if (requests.length > 0) this.#turnOf(socket).requests = requests.length;
    turn.release?.();
  };
}
