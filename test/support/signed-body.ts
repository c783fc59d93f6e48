import { createHash } from 'node:crypto';
import type { SignableRequest } from '../../src/providers/provider.js';

/** What a signature covers of a body. */
export function signedBody(body: string | Buffer): Pick<SignableRequest, 'bytes' | 'sha256'> {
  return { bytes: Buffer.byteLength(body), sha256: createHash('sha256').update(body).digest() };
}
