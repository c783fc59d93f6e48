import { connect, type Socket } from 'node:net';

/** Where requests go, and the request itself: whole HTTP, head and body. */
export interface Aim {
  readonly port: number;
  readonly request: Buffer;
  readonly connections: number;
}

export interface Closed {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
}

export interface Open {
  readonly failures: number;
  /** Milliseconds from the moment when a request was due to the last byte of its reply, sorted. */
  readonly latencies: readonly number[];
}

/** Closed loop on fresh connections. */
export async function driveClosed(aim: Aim, seconds: number): Promise<Closed> {
  const lines = new Lines(aim);
  try {
    return await lines.drive(seconds);
  } finally {
    lines.close();
  }
}

/** Connections that stay open from one turn to the next: reopening them would count as a cost of the requests. */
export class Lines {
  readonly #aim: Aim;
  #lines: readonly Line[] = [];

  constructor(aim: Aim) {
    this.#aim = aim;
  }

  /** Closed loop: each connection sends its next request once its last one is answered. Shows what a request costs. */
  async drive(seconds: number): Promise<Closed> {
    // Servers close connections that have been idle for some seconds.
    if (!this.#lines.every((line) => line.isOpen)) this.close();
    if (this.#lines.length === 0) this.#lines = await openLines(this.#aim);
    return driveLines(this.#lines, seconds);
  }

  close(): void {
    for (const line of this.#lines) line.close();
    this.#lines = [];
  }
}

async function driveLines(lines: readonly Line[], seconds: number): Promise<Closed> {
  const started = performance.now();
  const until = started + seconds * 1000;
  const counts = await Promise.all(
    lines.map(async (line) => {
      let requests = 0;
      let failures = 0;
      while (performance.now() < until) {
        if (!(await line.exchange())) failures += 1;
        requests += 1;
      }
      return { requests, failures };
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  return {
    requests: counts.reduce((sum, { requests }) => sum + requests, 0),
    failures: counts.reduce((sum, { failures }) => sum + failures, 0),
    seconds: elapsed,
  };
}

/**
 * When requests are due, in milliseconds from the start: at random, as from independent callers, and fixed before the first
 * is sent. The same seed makes the same schedule.
 */
export function scheduleOf(rate: number, seconds: number, seed: number): readonly number[] {
  const random = randomFrom(seed);
  const due: number[] = [];
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) * 1000) / rate;
    if (at >= seconds * 1000) return due;
    due.push(at);
  }
}

/**
 * Open loop: requests are due when the schedule says, whatever became of earlier ones. If no connection is free, a request
 * waits, and its wait counts.
 */
export async function driveOpen(aim: Aim, schedule: readonly number[]): Promise<Open> {
  const lines = await openLines(aim);
  const started = performance.now();
  const latencies: number[] = [];
  let failures = 0;
  let next = 0;
  await Promise.all(
    lines.map(async (line) => {
      for (;;) {
        const due = schedule[next];
        if (due === undefined) return;
        next += 1;
        // A connection that was free in time sends when its timer fires, a fraction of a millisecond late: our own delay.
        const since = await until(started + due);
        if (!(await line.exchange())) failures += 1;
        latencies.push(performance.now() - since);
      }
    }),
  );
  for (const line of lines) line.close();
  return { failures, latencies: latencies.sort((a, b) => a - b) };
}

/** Waits for a moment, and returns the time from which the request counts: the moment itself if it has already passed. */
async function until(moment: number): Promise<number> {
  const wait = moment - performance.now();
  if (wait <= 0) return moment;
  await new Promise((resolve) => setTimeout(resolve, Math.ceil(wait)));
  return performance.now();
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function openLines({ port, request, connections }: Aim): Promise<readonly Line[]> {
  return Promise.all(Array.from({ length: connections }, () => Line.open(port, request)));
}

/** One kept connection with at most one request in flight. */
class Line {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #settle: { resolve: (ok: boolean) => void; reject: (error: Error) => void } | undefined;
  #head = '';
  #missing = -1;
  #ok = false;

  static open(port: number, request: Buffer): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Line(socket, request)));
      socket.once('error', reject);
    });
  }

  private constructor(socket: Socket, request: Buffer) {
    this.#socket = socket.setNoDelay(true);
    this.#request = request;
    const fail = (error: Error): void => this.#settle?.reject(error);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed a connection')));
  }

  get isOpen(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded;
  }

  /** Sends the request; resolves once the whole reply has arrived, to whether it is a 200. */
  exchange(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(this.#request);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.end();
  }

  #take(chunk: Buffer): void {
    let size = chunk.length;
    if (this.#missing < 0) {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#ok = this.#head.startsWith('HTTP/1.1 200');
      this.#missing = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
      size = this.#head.length - end - 4;
      this.#head = '';
    }
    this.#missing -= size;
    if (this.#missing > 0) return;
    this.#missing = -1;
    this.#settle?.resolve(this.#ok);
  }
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
