import type { EnclosedJson } from '../../bytes/enclosed.js';
import { MOST_ENCLOSED_BYTES } from '../../bytes/encode.js';

/** The client asks for one buffer. It gets one of the right length, whose memory nobody reads and the system never fills. */
const blank = Buffer.alloc(MOST_ENCLOSED_BYTES);

const BODY = Symbol('body');

interface StandIn extends Buffer {
  [BODY]?: EnclosedJson;
}

/** What the client is given in place of a body that is not joined. */
export function standInFor(body: EnclosedJson): Buffer {
  const standIn: StandIn = blank.subarray(0, body.size);
  standIn[BODY] = body;
  return standIn;
}

/** What has to be written in place of a chunk, if it stands for a body. */
export function bodyBehind(chunk: Uint8Array): EnclosedJson | undefined {
  return (chunk as StandIn)[BODY];
}
