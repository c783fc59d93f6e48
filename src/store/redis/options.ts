import type { RedisOptions } from 'ioredis';
import type { Login } from './url.js';

export interface ConnectOptions {
  /** Time limit of one command, from sending to the answer. */
  readonly commandTimeoutMs: number;
  /** Time limit of the first connection, which may be none (`Infinity`); later ones are tried forever. */
  readonly connectTimeoutMs: number;
  /** Whose clock decides: the server's own, or, for tests that set it, the time given with each call. */
  readonly clock?: 'server' | 'caller' | undefined;
  /** Called once, with a message, if the first connection takes a while: what is tried, and why it fails. */
  readonly onWaiting?: ((why: string) => void) | undefined;
}

/**
 * How long a connection may take to end before it is cut. A connection that has ended already keeps the process alive for as
 * long, since the client waits for it to end once more.
 */
const DISCONNECT_MS = 100;

/** The subscriber is silent as long as nothing changes, and code below makes it subscribe again. */
export const SUBSCRIBER_OPTIONS = {
  autoResubscribe: false,
  enableOfflineQueue: true,
} satisfies RedisOptions;

export function commonOptions(
  { username, password, tls }: Login,
  { commandTimeoutMs }: ConnectOptions,
) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: commandTimeoutMs * 5,
    disconnectTimeout: DISCONNECT_MS,
    // A command that was sent may have been executed. Whether to send it again is the caller's decision.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
}
