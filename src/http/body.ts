import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { TextDecoder } from 'node:util';
import { GatewayError } from '../core/errors.js';
import { copyBytes } from '../core/memory.js';
import { bufferWithRoom, joiningWithRoom, joinWithRoom } from '../core/json/room.js';
import { inSteps, type Steps } from '../core/steps.js';
import { Inflation, readEncodings, type Encodings } from '../gateway/inflate.js';
import { nextTurn } from '../gateway/scope.js';
import { tooLarge, type Load, type Place } from './load.js';

const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;

/**
 * A body that has arrived. Its receiver empties it when the request is over: what began before the body arrived may
 * have waited for so long that the engine counts it as old, and whatever an old object refers to, dead or not, is not
 * collected with the young.
 */
export interface ReceivedBody {
  bytes: Buffer;
}

export const NO_BYTES = Buffer.alloc(0);

/**
 * The body of a JSON request as UTF-8 bytes, without a byte-order mark: decompressed, decoded, and at most `limitBytes`
 * after that. The place is charged for the bytes as they come, and as they grow. `withinMs` bounds how long the body may take;
 * without it, the server's own time-out does.
 * @throws GatewayError 400, 408, 413, 415, 499 or 503.
 */
export function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
  withinMs?: number,
): Promise<ReceivedBody> {
  const charset = jsonCharset(req.headers['content-type']);
  const encodings = contentEncodings(req.headers['content-encoding']);
  const asUtf8 = (plain: Buffer): Buffer | Promise<Buffer> => utf8Of(plain, charset);
  const collecting = { req, limitBytes, load, place, withinMs };
  if (encodings === undefined) return collect(collecting, asUtf8);
  return collect(collecting, (raw) => raw).then(async (received) => {
    const raw = received.bytes;
    received.bytes = NO_BYTES;
    const plain = raw.length === 0 ? raw : await inflateBody(collecting, raw, encodings);
    return { bytes: await asUtf8(plain) };
  });
}

/** A body in UTF-8, without a byte-order mark. */
function utf8Of(plain: Buffer, charset: string | undefined): Buffer | Promise<Buffer> {
  const body = charset === undefined ? plain : recode(plain, charset);
  return Buffer.isBuffer(body) ? checkedUtf8(body) : body.then(checkedUtf8);
}

function checkedUtf8(body: Buffer): Buffer {
  if (!isUtf8(body)) {
    throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  }
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return hasMark ? body.subarray(3) : body;
}

/** The charset to decode from, `undefined` for UTF-8. A body without a content type is assumed to be JSON. */
function jsonCharset(contentType: string | undefined): string | undefined {
  if (contentType === undefined || contentType === 'application/json') return undefined;
  const [type = '', ...parameters] = contentType.split(';');
  if (!JSON_TYPE.test(type.trim().toLowerCase())) {
    throw new GatewayError(
      'unsupported_media_type',
      'The body must be JSON: send the header Content-Type: application/json.',
    );
  }
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1]?.toLowerCase())
    .find((value) => value !== undefined);
  return charset === undefined || /^(utf-?8|us-ascii|ascii)$/.test(charset) ? undefined : charset;
}

function contentEncodings(header: string | undefined): Encodings | undefined {
  const encodings = readEncodings(header?.trim().toLowerCase());
  if (encodings !== 'unknown') return encodings;
  throw new GatewayError(
    'unsupported_media_type',
    'The compression of the body is not supported: use gzip, deflate or br.',
    { headers: { 'Accept-Encoding': 'gzip, deflate, br' } },
  );
}

/** Bodies from this size on are read in turn and assembled piece by piece. */
const LARGE_BYTES = 262_144;

/** A body on its way: what bounds it, and whose bytes they are. */
interface Collecting {
  readonly req: IncomingMessage;
  readonly limitBytes: number;
  readonly load: Load;
  readonly place: Place;
  readonly withinMs: number | undefined;
}

/** Collects a body, and resolves to what `read` makes of it. */
function collect(
  { req, limitBytes, load, place, withinMs }: Collecting,
  read: (body: Buffer) => Buffer | Promise<Buffer>,
): Promise<ReceivedBody> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes));
  // A caller that left while its key was looked up: none of the events below would come any more.
  if (req.destroyed) return Promise.reject(callerGone());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const isLarge = declared > LARGE_BYTES;
    let whole: Buffer | undefined;
    let bytes = 0;
    // Listeners stay until the request is gone: removing four costs more than asking whether they still count.
    let done = false;
    const fail = (errorOf: () => GatewayError) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      place.endTurn?.();
      chunks.length = 0;
      reject(errorOf());
    };
    const gone = () => {
      fail(callerGone);
    };
    const timer =
      withinMs === undefined ? undefined : setTimeout(() => fail(() => tooLate()), withinMs);
    const take = (chunk: Buffer): void => {
      if (done) return;
      bytes += chunk.length;
      if (bytes > limitBytes) fail(() => tooLarge(limitBytes));
      else if (!load.charge(place, chunk.length)) fail(() => load.refusalOf(place));
      else if (whole === undefined) chunks.push(chunk);
      else copyBytes(chunk, whole, bytes - chunk.length);
    };
    const begin = (): void => {
      // Pieces of a large body are joined as they arrive: joining all at once would take twice the memory and hold up
      // others.
      if (isLarge) whole = bufferWithRoom(declared);
      req.on('data', take);
      // Otherwise what comes together with the head is put aside first, and more than 16 kB of it stops and starts the socket.
      req.read(0);
    };
    req
      .on('end', () => {
        // A body that came too late has had its answer, the last of its connection: it must not get any more work.
        if (!req.socket.writable) fail(tooLate);
        if (done) return;
        done = true;
        clearTimeout(timer);
        const [first] = chunks;
        const isOne = first !== undefined && chunks.length === 1;
        const body = whole?.subarray(0, bytes) ?? (isOne ? first : joined(chunks, bytes));
        chunks.length = 0;
        whole = undefined;
        if (!Buffer.isBuffer(body)) {
          body
            .then(read)
            .then((bytes) => resolve({ bytes }))
            .catch(reject);
          return;
        }
        try {
          const bytes = read(body);
          if (Buffer.isBuffer(bytes)) resolve({ bytes });
          else bytes.then((it) => resolve({ bytes: it })).catch(reject);
        } catch (error) {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what reading failed with is passed on
          reject(error);
        }
      })
      .on('error', gone)
      .on('close', gone);
    if (isLarge) place.endTurn = load.reading.take(begin, () => bytes);
    else begin();
  });
}

/** More is joined in steps. */
const JOINED_AT_ONCE_BYTES = 1_048_576;

/** The pieces of a body whose length was not known before. */
function joined(pieces: readonly Buffer[], bytes: number): Buffer | Promise<Buffer> {
  if (bytes <= JOINED_AT_ONCE_BYTES) return joinWithRoom(pieces, bytes);
  return inSteps(joiningWithRoom(pieces.slice(), bytes), nextTurn);
}

/** Decompresses a body piece by piece: the output is counted as it comes, and abandoned when the caller leaves. */
function inflateBody(
  { req, limitBytes, load, place }: Collecting,
  raw: Buffer,
  encodings: Encodings,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const { socket } = req;
    const gone = (): void => {
      fail(callerGone());
    };
    const fail = (error: GatewayError): void => {
      inflation.destroy();
      socket.off('close', gone);
      pieces.length = 0;
      reject(error);
    };
    const inflation = new Inflation(encodings, raw, {
      onData: (piece) => {
        bytes += piece.length;
        // As many as it had when it came are counted already.
        const more = Math.min(piece.length, Math.max(0, bytes - raw.length));
        if (bytes > limitBytes) fail(tooLarge(limitBytes));
        else if (!load.charge(place, more)) fail(load.refusalOf(place));
        else pieces.push(piece);
      },
      onEnd: () => {
        socket.off('close', gone);
        resolve(joined(pieces, bytes));
      },
      onError: (error) => {
        const name = encodings.join(', ');
        const message = `The body is not valid ${name}.`;
        fail(new GatewayError('invalid_request', message, { cause: error }));
      },
    });
    socket.on('close', gone);
    inflation.write(raw);
    inflation.end();
  });
}

/** How much is decoded in one step. */
const RECODED_BYTES = 262_144;

function recode(body: Buffer, charset: string): Buffer | Promise<Buffer> {
  const decode = decoderOf(charset);
  if (body.length <= RECODED_BYTES) return Buffer.from(decode(body, false));
  return inSteps(recodedPieces(body, decode), nextTurn).then((pieces) =>
    joined(
      pieces,
      pieces.reduce((bytes, { length }) => bytes + length, 0),
    ),
  );
}

function* recodedPieces(body: Buffer, decode: Decode): Steps<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += RECODED_BYTES) {
    const end = at + RECODED_BYTES;
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

function callerGone(): GatewayError {
  return new GatewayError('client_closed_request', 'The client closed the connection.');
}

function tooLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request did not arrive in time.');
}
