import { Socket } from 'node:net';
import { systemCode } from '../../core/errors.js';

/**
 * What calls to upstreams rely on that neither Node nor undici documents: undici writes a request by one `write`, between
 * `cork` and `uncork` if there is a body, and reads by `read` when a connection is readable. None of it is for speed, except the
 * pieces of a body. `npm run test:nodes` tries it on each version of Node that is supported.
 */
export function workWithin(socket: Socket): void {
  readWithoutInterim(socket);
  readWhileNotHeld(socket);
  if (canWriteBelow()) readDespiteFailedWrites(socket);
  watchWrites(socket);
}

type Read = (size?: number) => Buffer | null;

/** Called for a connection when the next thing to arrive on it is the head of a reply. */
const awaiting = new WeakMap<object, () => void>();

/** Tells a connection that a request is being sent on it: interim replies may precede the one that counts. */
export function awaitReply(socket: object): void {
  awaiting.get(socket)?.();
}

const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
/** Enough bytes to recognise an interim reply. */
const STATUS_LINE_BYTES = 'HTTP/1.1 100 '.length;
const SPACE = 0x20;
const ONE = 0x31;
/** A server that sends more interim replies than this cannot be read. */
const MAX_INTERIM_BYTES = 64 * 1024;

/**
 * Removes `100 Continue` and the like from what a connection reads. Nobody asked for them, but servers may send them at any
 * time, and undici would take one for a broken reply.
 */
function readWithoutInterim(socket: Socket): void {
  const read = socket.read.bind(socket) as Read;
  let atHead = true;
  let held: Buffer | undefined;
  let skipped = 0;
  awaiting.set(socket, () => {
    atHead = true;
    skipped = 0;
  });
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (!atHead || chunk === null) return chunk;
      const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
      held = undefined;
      // The beginning of nearly every reply, recognised without decoding it.
      const isFinal = bytes.length > 9 && bytes[8] === SPACE && bytes[9] !== ONE;
      const rest = isFinal ? bytes : afterInterim(bytes);
      skipped += bytes.length - rest.length;
      // Left to the client, which aborts it.
      const isEndless = skipped > MAX_INTERIM_BYTES;
      if (isFinal || isEndless || (rest.length > 0 && mustBeFinal(rest))) {
        atHead = false;
        return isEndless ? bytes : rest;
      }
      if (rest.length > 0) held = rest;
    }
  };
}

/** What follows the complete interim replies. */
function afterInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (INTERIM.test(rest.toString('latin1', 0, STATUS_LINE_BYTES))) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return rest;
    rest = rest.subarray(end + 4);
  }
  return rest;
}

/** Whether the bytes can no longer become an interim reply, or are too many for one. */
function mustBeFinal(bytes: Buffer): boolean {
  if (bytes.length > MAX_INTERIM_BYTES) return true;
  const line = bytes.toString('latin1', 0, STATUS_LINE_BYTES);
  return bytes.length < STATUS_LINE_BYTES
    ? !'HTTP/1.0 1'.startsWith(line.slice(0, 10).replace('/1.1', '/1.0'))
    : !INTERIM.test(line);
}

/** What a connection to an upstream brings, which can be made to wait. */
export interface Flow {
  readonly isHeld: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  /** The same from within a read, which must end first. */
  readonly resumeSoon: () => void;
}

const flows = new WeakMap<Socket, Flow>();

/**
 * Makes it possible to hold back what a connection brings. undici's own pause cannot be relied on: it has no answer to a
 * connection whose other side ends it meanwhile, which is how a reply without a length ends. Here undici knows nothing of it:
 * there is nothing to read, and no end either, until reading goes on.
 */
function readWhileNotHeld(socket: Socket): void {
  const read = socket.read.bind(socket) as Read;
  let isHeld = false;
  socket.read = (size?: number): Buffer | null => (isHeld ? null : read(size));
  const flow: Flow = {
    get isHeld() {
      return isHeld;
    },
    pause() {
      isHeld = true;
    },
    resume() {
      if (!isHeld) return;
      isHeld = false;
      socket.emit('readable');
    },
    resumeSoon() {
      if (isHeld) process.nextTick(flow.resume);
    },
  };
  flows.set(socket, flow);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error): Socket => {
    // What breaks a connection has come behind what is held back.
    if (isOfReading(error) && socket.readableLength > 0) flow.resume();
    return destroy(error);
  };
}

function isOfReading(error: Error | undefined): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.syscall === 'read';
}

export function flowOf(socket: Socket): Flow | undefined {
  return flows.get(socket);
}

type Done = (error?: Error | null) => void;

/** What is written below a stream's own `write`. */
interface Below {
  readonly _write: (this: Socket, chunk: unknown, encoding: BufferEncoding, done: Done) => void;
  readonly _writev: (this: Socket, chunks: unknown, done: Done) => void;
}

const failed = new WeakSet<Socket>();

/** Whether something written to a connection did not get through. */
export function hasFailedWrites(socket: Socket): boolean {
  return failed.has(socket);
}

/**
 * Reads a connection that the other side has closed to its end, whatever is still being written. A server that does not want
 * all of a request says so and closes; a write that fails then would end the connection, and its answer would be lost, which
 * has arrived. Reading ends it: nothing more can come.
 */
function readDespiteFailedWrites(socket: Socket): void {
  const { _write: one, _writev: many } = socket as unknown as Below;
  // A connection has one write at a time.
  let tell: Done;
  const done: Done = (error) => {
    const code = systemCode(error);
    if (code === 'EPIPE' || code === 'ECONNRESET') failed.add(socket);
    else tell(error);
  };
  const below: Below = {
    _write(chunk, encoding, told) {
      tell = told;
      one.call(socket, chunk, encoding, done);
    },
    _writev(chunks, told) {
      tell = told;
      many.call(socket, chunks, done);
    },
  };
  Object.assign(socket, below);
}

let isBelow: boolean | undefined;

/** Whether this version of Node writes by what a socket has below; if not, a failed write ends its connection. */
function canWriteBelow(): boolean {
  isBelow ??= writesBelow(new Socket());
  return isBelow;
}

/** The same of a socket that goes nowhere. */
export function writesBelow(socket: Socket): boolean {
  let writes = 0;
  const count = (done: Done): void => {
    writes += 1;
    done();
  };
  const below: Below = {
    _write: (_chunk, _encoding, done) => count(done),
    _writev: (_chunks, done) => count(done),
  };
  const hasBoth = Object.keys(below).every((name) => name in socket);
  Object.assign(socket, below);
  socket.write('one');
  socket.cork();
  socket.write('two');
  socket.write('three');
  socket.uncork();
  socket.destroy();
  return hasBoth && writes === 2;
}

/** Who has a request written: it is told where it goes, and when all of it has been handed over. */
export interface Sender {
  writingTo(connection: Socket): void;
  written(): void;
}

/** Whose request is written next: undici names no connection when it begins one, and writes it in the same go. */
let sender: Sender | undefined;

export function writesNext(next: Sender): void {
  sender = next;
}

type Write = (chunk: string | Uint8Array, encoding?: BufferEncoding) => boolean;

/**
 * Tells the sender of what is written to a connection: a request that has not left in full may be sent again when its connection
 * breaks. undici's channels of diagnostics would tell it too, at a multiple of the cost.
 */
function watchWrites(socket: Socket): void {
  const write = socket.write.bind(socket) as Write;
  const uncork = socket.uncork.bind(socket);
  const written = (): void => {
    const told = sender;
    sender = undefined;
    told?.written();
  };
  const writeEach = (pieces: readonly Buffer[]): boolean =>
    pieces.reduce((_taken, piece) => write(piece), true);
  const watched: Write = (chunk, encoding) => {
    sender?.writingTo(socket);
    const pieces = typeof chunk === 'string' ? undefined : (chunk as StandIn)[PIECES];
    const taken = pieces === undefined ? write(chunk, encoding) : writeEach(pieces);
    // A head with a body after it is written between `cork` and `uncork`.
    if (socket.writableCorked === 0) written();
    return taken;
  };
  socket.write = watched as Socket['write'];
  socket.uncork = () => {
    uncork();
    written();
  };
}

const PIECES = Symbol('pieces');

interface StandIn extends Buffer {
  [PIECES]?: readonly Buffer[];
}

/** Memory that nobody reads, and the system never fills. */
let blank = Buffer.alloc(0);
/** It grows by so much. */
const ROUND_BYTES = 1_048_576;

/**
 * What undici is given in place of pieces that are not joined: it asks for one buffer, and gets one of the right length. The
 * documents stay where they lie.
 */
export function standInFor(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const size = pieces.reduce((bytes, { length }) => bytes + length, 0);
  if (size > blank.length) blank = Buffer.alloc(Math.ceil(size / ROUND_BYTES) * ROUND_BYTES);
  const standIn: StandIn = blank.subarray(0, size);
  standIn[PIECES] = pieces;
  return standIn;
}
