import { createHash, createHmac } from 'node:crypto';

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A signature with a chain of keys: each key is the HMAC-SHA256 of the next text under the previous key. */
export function chainedHmacHex(secret: string, steps: readonly string[], text: string): string {
  const key = steps.reduce<string | Buffer>(
    (before, step) => createHmac('sha256', before).update(step).digest(),
    secret,
  );
  return createHmac('sha256', key).update(text).digest('hex');
}

/** `20261101T120000Z` */
export function compactTimestamp(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
}

/** The `content-type` with which a request is sent; header names are in lower case. */
export function contentTypeOf(headers: Readonly<Record<string, string>>): string {
  return headers['content-type'] ?? 'application/json';
}
