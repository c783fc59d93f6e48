import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { workWithin } from './nodes-inside.js';

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
        workWithin(socket);
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
