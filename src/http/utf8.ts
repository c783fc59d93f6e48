import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { GatewayError } from '../core/errors.js';
import { joinedWithRoom } from '../bytes/room.js';
import { Owned } from '../bytes/memory.js';
import { inSteps, type Steps } from '../bytes/steps.js';
import { nextTurn } from '../bytes/turns.js';

/** More is judged in steps. */
const AT_ONCE_BYTES = 1_048_576;
/** How much is judged, or decoded, in one step. */
const STEP_BYTES = 262_144;

/** A body in UTF-8, without a byte-order mark; what is large is looked at in steps. */
export function utf8Of(plain: Owned, charset: string | undefined): Owned | Promise<Owned> {
  const body = charset === undefined ? plain : recode(plain, charset);
  return body instanceof Owned ? checkedUtf8(body) : body.then(checkedUtf8);
}

function checkedUtf8(body: Owned): Owned | Promise<Owned> {
  const { bytes } = body;
  if (bytes.length <= AT_ONCE_BYTES) return judgedUtf8(body, isUtf8(bytes));
  return inSteps(judgingUtf8(bytes), nextTurn).then((isValid) => judgedUtf8(body, isValid));
}

function judgedUtf8(body: Owned, isValid: boolean): Owned {
  if (!isValid) {
    body.giveBack();
    throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  }
  const { bytes } = body;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? body.narrowed(3) : body;
}

/** Whether all of it is valid UTF-8, a step at a time. */
export function* judgingUtf8(body: Buffer): Steps<boolean> {
  for (let at = 0; at < body.length;) {
    let end = Math.min(body.length, at + STEP_BYTES);
    // Not inside of a character, which has at most three bytes more.
    for (let more = 0; more < 3 && ((body[end] ?? 0) & 0xc0) === 0x80; more += 1) end += 1;
    if (!isUtf8(body.subarray(at, end))) return false;
    at = end;
    if (at < body.length) yield;
  }
  return true;
}

function recode(body: Owned, charset: string): Owned | Promise<Owned> {
  const decode = decoderOf(charset);
  const { bytes } = body;
  if (bytes.length <= STEP_BYTES) return Owned.lent(Buffer.from(decode(bytes, false)));
  return inSteps(recodedPieces(bytes, decode), nextTurn)
    .finally(() => body.giveBack())
    .then((pieces) =>
      joinedWithRoom(
        pieces,
        pieces.reduce((size, { length }) => size + length, 0),
      ),
    );
}

function* recodedPieces(body: Buffer, decode: Decode): Steps<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    const end = at + STEP_BYTES;
    pieces.push(Buffer.from(decode(body.subarray(at, end), end < body.length)));
    yield;
  }
  return pieces;
}

/** @param isMore whether the text goes on, so that a character may be cut. */
type Decode = (bytes: Buffer, isMore: boolean) => string;

function decoderOf(charset: string): Decode {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw new GatewayError(
      'unsupported_media_type',
      'The charset of the body is not supported: send UTF-8.',
      { cause: error },
    );
  }
  return (bytes, stream) => {
    try {
      return decoder.decode(bytes, { stream });
    } catch (error) {
      throw new GatewayError('invalid_json', 'The body is not valid in its charset.', {
        cause: error,
      });
    }
  };
}
