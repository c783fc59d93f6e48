import type { Socket } from 'node:net';
import { unparsed } from './unparsed.js';

/** What an HTTP/2 connection begins with. To HTTP/1 it is a request that can never be made. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

const HEADERS_FRAME = 1;
const FRAME_HEADER_BYTES = 9;

/**
 * What an HTTP/1 connection has brought after the preface, if that is why its parser gave up and if nothing came before it.
 * Looking at the error costs HTTP/1 nothing.
 */
export function afterPreface(error: Error, socket: Socket): Buffer | undefined {
  const rest = unparsed(error, 'HPE_PAUSED_H2_UPGRADE');
  return rest !== undefined && socket.bytesRead === PREFACE.length + rest.length ? rest : undefined;
}

/** How many requests these frames begin. */
export function requestsIn(frames: Buffer): number {
  let count = 0;
  for (let at = 0; at + FRAME_HEADER_BYTES <= frames.length;) {
    if (frames[at + 3] === HEADERS_FRAME) count += 1;
    at += FRAME_HEADER_BYTES + frames.readUIntBE(at, 3);
  }
  return count;
}
