import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Why an address must not be connected to, as the end of a sentence; `undefined` where it may. */
export type JudgeAddress = (address: string) => string | undefined;

/** Where a connection was refused before it was made. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
  readonly code = 'ERR_ADDRESS_FORBIDDEN';
}

/**
 * Makes connections to addresses that `judge` lets through. It judges what is really connected to, whatever URL, setting or
 * stored record named it: an address that is written as such, and every address that a name resolves to.
 */
export function createConnector(judge: JudgeAddress): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, lookup: guardedLookup(judge) });
  return (options, callback) => {
    // A number is connected to without a look-up.
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const wrong = isIP(host) === 0 ? undefined : judge(host);
    if (wrong !== undefined) {
      callback(new ForbiddenAddressError(`the address ${wrong}`), null);
      return;
    }
    connect(options, (...made) => {
      const [error, socket] = made;
      if (error === null) skipInterimReplies(socket);
      callback(...made);
    });
  };
}

/** Resolves names as usual, and refuses one that leads to an address that must not be connected to. */
function guardedLookup(judge: JudgeAddress): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found?: readonly LookupAddress[]) => {
      // Without an answer there are no addresses either.
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

/** Called for a connection when the next thing to come on it is the head of a reply. */
const awaiting = new WeakMap<object, () => void>();

/** Tells a connection that a request goes out on it: replies in between may come ahead of the one that counts. */
export function awaitReply(socket: object): void {
  awaiting.get(socket)?.();
}

const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
/** As much as it takes to tell an interim reply. */
const STATUS_LINE_BYTES = 'HTTP/1.1 100 '.length;
const SPACE = 0x20;
const ONE = 0x31;
/** A server that never comes to the point is one that cannot be read. */
const MAX_INTERIM_BYTES = 64 * 1024;

/**
 * Takes `100 Continue` and the like out of what a connection reads. Nobody asked for them, but servers may send them at any
 * time, and the client takes one for a broken reply.
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
      // As nearly every reply begins, seen without making a text of it.
      const isFinal = bytes.length > 9 && bytes[8] === SPACE && bytes[9] !== ONE;
      const rest = isFinal ? bytes : afterInterim(bytes);
      skipped += bytes.length - rest.length;
      // Left to the client, which breaks it off.
      const isEndless = skipped > MAX_INTERIM_BYTES;
      if (isFinal || isEndless || (rest.length > 0 && mustBeFinal(rest))) {
        atHead = false;
        return isEndless ? bytes : rest;
      }
      if (rest.length > 0) held = rest;
    }
  };
}

/** What follows the interim replies that are there as a whole. */
function afterInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (INTERIM.test(rest.toString('latin1', 0, STATUS_LINE_BYTES))) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return rest;
    rest = rest.subarray(end + 4);
  }
  return rest;
}

/** Whether bytes can no longer turn out to be an interim reply, or are too many for one. */
function mustBeFinal(bytes: Buffer): boolean {
  if (bytes.length > MAX_INTERIM_BYTES) return true;
  const line = bytes.toString('latin1', 0, STATUS_LINE_BYTES);
  return bytes.length < STATUS_LINE_BYTES
    ? !'HTTP/1.0 1'.startsWith(line.slice(0, 10).replace('/1.1', '/1.0'))
    : !INTERIM.test(line);
}
