import { systemCode } from '../core/errors.js';

/** What the parser of a connection of HTTP/1 has left of what came, if it has stopped with this code. */
export function unparsed(error: Error, code: string): Buffer | undefined {
  if (systemCode(error) !== code) return undefined;
  const { rawPacket, bytesParsed } = error as { rawPacket?: Buffer; bytesParsed?: number };
  return rawPacket?.subarray(bytesParsed);
}
