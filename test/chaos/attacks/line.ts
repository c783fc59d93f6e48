import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { join, type Frames } from './frames.js';
import type { Chance } from '../random.js';

/** What attackers have done and seen. */
export interface Tally {
  connections: number;
  /** Rankings that arrived, each of which was to be paid for. */
  rankings: number;
  readonly statuses: Record<string, number>;
}

/** Where an attack takes place, and by whom. */
export interface Field {
  readonly port: number;
  /** A key that is served, or one that is not. */
  readonly key: string;
  readonly chance: Chance;
  /** Files of the console, by their paths. */
  readonly assets: readonly string[];
  readonly tally: Tally;
  /** When rounds that are under way should end. */
  readonly endsMs: number;
}

/** Attackers come from another address than everybody else, as strangers do. */
const FROM = '127.0.0.2';
const PATIENCE_MS = 1_500;

/** One connection of an attacker, who never minds what becomes of it. */
export class Line {
  readonly socket: Socket;
  readonly #tally: Tally;
  #heard = 0;

  constructor({ port, tally }: Field) {
    this.#tally = tally;
    tally.connections += 1;
    this.socket = connect({ port, host: '127.0.0.1', localAddress: FROM, allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk: Buffer) => this.#hear(chunk));
  }

  get isOver(): boolean {
    return this.socket.destroyed;
  }

  get heardBytes(): number {
    return this.#heard;
  }

  /** Resolves when the bytes are on their way, when it is over, or when nobody takes them. */
  async write(bytes: Buffer | string): Promise<void> {
    if (this.isOver || this.socket.writableEnded) return;
    const isTaken = this.socket.write(
      typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
    );
    if (!isTaken) await this.#until('drain');
  }

  /** Until something more has been answered. */
  async answered(): Promise<void> {
    if (!this.isOver) await this.#until('data');
  }

  async connected(): Promise<void> {
    if (this.socket.connecting) await this.#until('connect');
  }

  /** Reads nothing of what is answered. */
  stopReading(): void {
    this.socket.pause();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  #until(event: string): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.socket.off(event, done).off('close', done);
        resolve();
      };
      const timer = setTimeout(done, PATIENCE_MS);
      this.socket.once(event, done).once('close', done);
    });
  }

  #hear(chunk: Buffer): void {
    this.#heard += chunk.length;
    const text = chunk.toString('latin1', 0, 65_536);
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      this.#tally.statuses[status] = (this.#tally.statuses[status] ?? 0) + 1;
    }
    this.#tally.rankings += text.split('"relevance_score":').length > 1 ? 1 : 0;
  }
}

const made = new Map<string, readonly Buffer[]>();
/** So many times each lot is made, with other numbers. */
const VARIANTS = 2;

/** One of an attack's lots, made beforehand: an attacker that makes its bytes as it sends them is slow. */
export function lotOf(
  name: string,
  field: Field,
  make: (field: Field) => readonly Frames[],
): Buffer {
  const { chance, key } = field;
  const id = `${name}/${key}/${chance.whole(1, VARIANTS)}`;
  let lots = made.get(id);
  if (lots === undefined) {
    lots = make(field).map((frames) => join(...frames));
    made.set(id, lots);
  }
  return chance.pick(lots);
}

/** Sends bytes in one of many ways, and leaves in one. */
export async function deliver(field: Field, bytes: Buffer): Promise<void> {
  const { chance } = field;
  const line = new Line(field);
  if (chance.hits(0.15)) line.stopReading();
  await line.connected();
  const part = chance.hits(0.2) ? bytes.subarray(0, chance.whole(0, bytes.length)) : bytes;
  const way = chance.next();
  if (way < 0.5) await line.write(part);
  else if (way < 0.8) await inPieces(line, part, chance);
  else await bytewise(line, part);
  if (chance.hits(0.3)) line.socket.end();
  else if (chance.hits(0.6)) await line.answered();
  await sleep(chance.whole(0, 60));
  if (chance.hits(0.4)) line.reset();
  else line.close();
}

async function inPieces(line: Line, bytes: Buffer, chance: Chance): Promise<void> {
  const pieces = chance.whole(2, 5);
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length && !line.isOver; at += size) {
    await line.write(bytes.subarray(at, at + size));
    await sleep(chance.whole(0, 10));
  }
}

/** Each of the first bytes alone. */
async function bytewise(line: Line, bytes: Buffer): Promise<void> {
  const alone = Math.min(bytes.length, 300);
  line.socket.setNoDelay(true);
  for (let at = 0; at < alone && !line.isOver; at += 1) {
    await line.write(bytes.subarray(at, at + 1));
    if (at % 16 === 0) await sleep(0);
  }
  await line.write(bytes.subarray(alone));
}

/** Keeps a connection with something going on until the attack ends, or it is closed. */
export async function hold(
  { endsMs }: Field,
  line: Line,
  everyMs: number,
  act: () => Promise<void>,
): Promise<void> {
  while (!line.isOver && Date.now() < endsMs) {
    await act();
    await sleep(everyMs);
  }
  line.close();
}
