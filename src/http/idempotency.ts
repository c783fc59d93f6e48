import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { GatewayError } from '../core/errors.js';
import type { Store } from '../store/store.js';

/** A reply as it was sent, to be repeated. */
export interface KeptReply {
  readonly status: number;
  readonly body: string;
}

export interface IdempotentRequest {
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
  /** Whose key it is, and for which operation it is used. */
  readonly scope: string;
  /** The request itself: a different one under the same key is refused. */
  readonly request: string;
  /** The caller's login secret. Replies may contain keys, so they are kept encrypted under it. */
  readonly secret: string;
}

const CLAIM_MS = 60_000;
const KEEP_MS = 24 * 60 * 60 * 1000;
const MAX_KEY_CHARACTERS = 255;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Does the work once per key, and answers a repetition with the first reply. */
export async function onlyOnce(
  store: Store,
  now: () => number,
  { key, scope, request, secret }: IdempotentRequest,
  work: () => Promise<KeptReply>,
): Promise<KeptReply> {
  if (key.trim() === '' || key.length > MAX_KEY_CHARACTERS) {
    throw new GatewayError(
      'invalid_request',
      `Idempotency-Key must have 1 to ${MAX_KEY_CHARACTERS} characters.`,
      { param: 'Idempotency-Key' },
    );
  }
  const name = digest(`${scope}\n${key}`);
  const fingerprint = digest(request);
  const claim = await store.claimIdempotent(name, fingerprint, now(), CLAIM_MS);
  switch (claim.kind) {
    case 'done':
      return { status: claim.status, body: open(claim.body, secret, name) };
    case 'running':
      throw new GatewayError(
        'conflict',
        'A request with this Idempotency-Key is still in progress.',
        { retryAfterMs: 1_000 },
      );
    case 'mismatch':
      throw new GatewayError(
        'conflict',
        'This Idempotency-Key was used for another request; use a new one.',
        { param: 'Idempotency-Key' },
      );
    case 'fresh':
  }
  let reply: KeptReply;
  try {
    reply = await work();
  } catch (error) {
    // A refusal has changed nothing. After any other failure the outcome is unknown: the claim expires.
    if (error instanceof GatewayError && error.status < 500) {
      await store.releaseIdempotent(name, fingerprint);
    }
    throw error;
  }
  const kept = { status: reply.status, body: seal(reply.body, secret, name) };
  await store.completeIdempotent(name, fingerprint, kept, now(), KEEP_MS);
  return reply;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function seal(text: string, secret: string, name: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFrom(secret, name), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

function open(text: string, secret: string, name: string): string {
  const bytes = Buffer.from(text, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keyFrom(secret, name), nonce);
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]).toString('utf8');
  } catch (error) {
    throw new GatewayError(
      'conflict',
      'This was already done under another login; only that login can get the reply.',
      { param: 'Idempotency-Key', cause: error },
    );
  }
}

/** The secret is random and only its hash is in the store, so reading the store does not reveal the replies. */
function keyFrom(secret: string, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, name, 'idempotent reply', 32));
}
