import { createHash, type Hash } from 'node:crypto';
import { nextTurn } from '../../bytes/turns.js';

/** More is hashed in steps: thirty megabytes take fifteen milliseconds. */
const AT_ONCE_BYTES = 1_048_576;
const STEP_BYTES = 262_144;

/** The SHA-256 of a body, which a signature covers. */
export function sha256Of(
  body: Buffer,
  pause: () => Promise<void> = nextTurn,
): Buffer | Promise<Buffer> {
  const hash = createHash('sha256');
  return body.length > AT_ONCE_BYTES ? inSteps(hash, body, pause) : hash.update(body).digest();
}

async function inSteps(hash: Hash, body: Buffer, pause: () => Promise<void>): Promise<Buffer> {
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    await pause();
    hash.update(body.subarray(at, at + STEP_BYTES));
  }
  return hash.digest();
}
