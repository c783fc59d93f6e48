import type { IncomingMessage } from 'node:http';

/** What a caller will put up with. */
export interface Patience {
  /** How long the caller waits at most. */
  readonly timeoutMs: number | undefined;
  /** How old a cached ranking may be; `undefined`: as old as the model's rule says. */
  readonly mayBeOldMs: number | undefined;
  readonly mistake: string | undefined;
}

const PATIENT: Patience = { timeoutMs: undefined, mayBeOldMs: undefined, mistake: undefined };

/** What the headers say about the caller's patience: `X-Request-Timeout-Ms`, and `Cache-Control` as in RFC 9111. */
export function patienceOf(headers: IncomingMessage['headers']): Patience {
  const timeout = headers['x-request-timeout-ms'];
  const cache = headers['cache-control'];
  if (timeout === undefined && cache === undefined) return PATIENT;
  const timeoutMs = timeout === undefined ? undefined : Number(timeout);
  const isWrong = timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs >= 1);
  return {
    timeoutMs: isWrong ? undefined : timeoutMs,
    mayBeOldMs: cache === undefined ? undefined : maxAgeMs(cache),
    mistake: isWrong
      ? 'X-Request-Timeout-Ms must be a whole number of milliseconds, at least 1.'
      : undefined,
  };
}

function maxAgeMs(cacheControl: string): number | undefined {
  if (/(?:^|[\s,])no-(?:cache|store)(?:$|[\s,;=])/i.test(cacheControl)) return 0;
  const age = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl)?.[1];
  return age === undefined ? undefined : Number(age) * 1000;
}
