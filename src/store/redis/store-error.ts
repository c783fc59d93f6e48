import { StoreUnavailableError } from '../store.js';

/** Just one promise and one timer: every request of the gateway passes through here. */
export function within<T>(
  reply: Promise<T>,
  timeoutMs: number,
  errorOf: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a command failed with is passed on
      reject(errorOf(error));
    };
    const timer = setTimeout(() => {
      // If this process was busy all that time, the answer may have arrived and is read next: it counts.
      setImmediate(() => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    }, timeoutMs);
    reply.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, fail);
  });
}

/** A refused login, which waiting does not fix. */
export const REFUSED_LOGIN = /^(WRONGPASS|NOAUTH|ERR invalid password)\b/;

/** Replies that mean that Redis cannot serve now, as opposed to a wrong command. */
const UNAVAILABLE_REPLY =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS)\b/;

/** A script of a release that did not name all its keys touched one that had been moved: it has stopped halfway. */
const STOPPED_REPLY = /^ERR .*attempted to access a non local key/;

/** The client's error if a Cluster answered only with redirections: each of them means that nothing was done. */
const REDIRECTED = 'Too many Cluster redirections';

/** The client's error for a command that it did not send: there is no connection, and it does not wait for one. */
const NOT_SENT =
  /^(Stream isn't writeable|Cluster isn't ready) and enableOfflineQueue options is false/;

/** Why Redis cannot serve, in words, by the beginning of its reply. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^OOM/, 'Redis is full: it accepts no writes until memory is free (maxmemory).'],
  [/^READONLY/, 'Redis is read-only: this is a replica, not the master.'],
  [/^MISCONF/, 'Redis accepts no writes because it cannot save to its disk.'],
  [/^NOREPLICAS/, 'Redis accepts no writes because too few replicas follow it.'],
  [/^LOADING/, 'Redis is still loading its data.'],
  [/^MASTERDOWN/, 'Redis is a replica that has lost its master.'],
  [/^CLUSTERDOWN/, 'The Redis Cluster is down: some of its slots are not served.'],
  [/^BUSY/, 'Redis is busy with a script that does not end.'],
  [REFUSED_LOGIN, 'Redis refuses the login: check user and password in REDIS_URL.'],
  [/^NOPERM/, 'The Redis user may not do everything that a gateway needs: check its rights (ACL).'],
  [
    /^(TRYAGAIN|MOVED|ASK|ERR|Too many Cluster redirections)/,
    'The Redis Cluster is moving the requested keys.',
  ],
  [/^Redis did not answer/, 'Redis did not answer in time.'],
];

function wordsOf(message: string): string {
  return WORDS.find(([beginning]) => beginning.test(message))?.[1] ?? 'Redis cannot be reached.';
}

/**
 * What a failed command means: anything but a refusal of the command itself means that Redis is unavailable. `whyAway` is
 * why there is no connection, if that is known.
 */
export function storeError(error: unknown, whyAway?: string): unknown {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const isReply = error.name === 'ReplyError';
  const hasStopped = isReply && STOPPED_REPLY.test(message);
  if (isReply && !hasStopped && !UNAVAILABLE_REPLY.test(message)) return error;
  const why = NOT_SENT.test(message) ? (whyAway ?? message) : message;
  return new StoreUnavailableError(wordsOf(why), {
    cause: error,
    didNothing:
      !hasStopped && (isReply || message.startsWith(REDIRECTED) || NOT_SENT.test(message)),
  });
}
