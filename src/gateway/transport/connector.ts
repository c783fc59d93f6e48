import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { readDespiteFailedWrites } from './failed-writes.js';
import { readWhileNotHeld } from './holding.js';
import { watchWrites } from './outlet.js';

/** Why an address must not be connected to, as the end of a sentence; `undefined` if it may. */
export type JudgeAddress = (address: string) => string | undefined;

/** Finds every address of a name. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found?: readonly LookupAddress[]) => void,
) => void;

/** The connection was refused before it was made. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
  readonly code = 'ERR_ADDRESS_FORBIDDEN';
}

/** What broke connections that had been made. */
const breaks = new WeakSet<Error>();

/** Whether a connection had been made, and broke by this error. */
export function hasBroken(error: Error): boolean {
  return breaks.has(error);
}

/**
 * Makes connections to addresses that `judge` allows. It judges the address that is really connected to, whatever URL,
 * setting or stored record named it: a literal address as well as every address that a name resolves to.
 */
export function createConnector(
  judge: JudgeAddress,
  resolve: ResolveAll = lookup,
): buildConnector.connector {
  // One for all connections: it remembers the sessions of encrypted ones.
  const connect = buildConnector({ allowH2: false, lookup: guardedLookup(judge, resolve) });
  return (options, callback) => {
    // A literal address is connected to without a look-up.
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const wrong = isIP(host) === 0 ? undefined : judge(host);
    if (wrong !== undefined) {
      callback(new ForbiddenAddressError(`the address ${wrong}`), null);
      return;
    }
    connect(options, (...made) => {
      const [error, socket] = made;
      if (error === null) {
        // Before the client, which asks.
        socket.on('error', (broken: Error) => breaks.add(broken));
        skipInterimReplies(socket);
        readWhileNotHeld(socket);
        readDespiteFailedWrites(socket);
        watchWrites(socket);
      }
      callback(...made);
    });
  };
}

/** Resolves names as usual, and refuses one that leads to a forbidden address. */
function guardedLookup(judge: JudgeAddress, resolve: ResolveAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      // On an error there are no addresses either.
      const addresses = error === null ? (found ?? []) : [];
      const [first] = addresses;
      const wrong = addresses.map(({ address }) => judge(address)).find((why) => why !== undefined);
      if (error !== null) callback(error, '', 0);
      else if (wrong !== undefined) {
        callback(new ForbiddenAddressError(`the name leads to an address that ${wrong}`), '', 0);
      } else if (first === undefined) callback(new Error('the name has no address'), '', 0);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

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
 * time, and the client would take one for a broken reply.
 */
function skipInterimReplies(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
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
