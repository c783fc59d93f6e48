import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { Gathering } from '../bytes/gathering.js';
import { copyBytes, Owned } from '../bytes/memory.js';
import { bufferWithRoom } from '../bytes/room.js';
import { arriveInTurns } from '../bytes/turns.js';
import {
  Inflation,
  inflateSmall,
  readEncodings,
  type Encodings,
} from '../gateway/transport/inflate.js';
import { tooLarge, type Load, type Place } from './load.js';
import { utf8Of } from './utf8.js';

const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;

/**
 * The body of a JSON request as UTF-8 bytes, without a byte-order mark: decompressed, decoded, and at most `limitBytes`
 * after that. The place is charged for the bytes as they come, and as they grow. `withinMs` bounds how long the body may take;
 * without it, the server's own time-out does.
 *
 * Whoever gets it gives it back when the request is over, whatever became of it: what began before the body arrived may have
 * waited for so long that the engine counts it as old, and whatever an old object refers to, dead or not, is not collected with
 * the young.
 * @throws GatewayError 400, 408, 413, 415, 499 or 503.
 */
export function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
  withinMs?: number,
): Promise<Owned> {
  const charset = jsonCharset(req.headers['content-type']);
  const encodings = contentEncodings(req.headers['content-encoding']);
  const asUtf8 = (plain: Owned) => utf8Of(plain, charset);
  const collecting = { req, limitBytes, load, place, withinMs };
  if (encodings === undefined) return collect(collecting, asUtf8);
  return collect(collecting, (raw) => raw)
    .then((raw) => decompressed(collecting, raw, encodings))
    .then(asUtf8);
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

/** What comes after so many bytes of one body waits where enough has been done in a turn. */
const AT_ONCE_BYTES = 1_048_576;
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
  read: (body: Owned) => Owned | Promise<Owned>,
): Promise<Owned> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes));
  // A caller that left while its key was looked up: none of the events below would come any more.
  if (req.destroyed) return Promise.reject(callerGone());
  return new Promise((resolve, reject) => {
    const gathering = new Gathering(LARGE_BYTES);
    const isLarge = declared > LARGE_BYTES;
    let whole: Owned | undefined;
    let bytes = 0;
    // Listeners stay until the request is gone: removing four costs more than asking whether they still count.
    let done = false;
    const fail = (errorOf: () => GatewayError) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      place.endTurn?.();
      gathering.giveBack();
      whole?.giveBack();
      whole = undefined;
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
      else if (whole !== undefined) copyBytes(chunk, whole.bytes, bytes - chunk.length);
      else gathering.add(chunk);
      // What its caller sends meanwhile waits in the connection.
      if (bytes > AT_ONCE_BYTES) arriveInTurns(req);
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
        // A body that came too late has had its answer, the last of its connection: it must not get any more work. Nor must one
        // that was behind another when its connection broke.
        if (!req.socket.writable) fail(req.socket.destroyed ? callerGone : tooLate);
        if (done) return;
        done = true;
        clearTimeout(timer);
        const body = whole?.narrowed(0, bytes) ?? gathering.joined();
        whole = undefined;
        try {
          resolve(body instanceof Owned ? read(body) : body.then(read));
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

function decompressed(
  collecting: Collecting,
  raw: Owned,
  encodings: Encodings,
): Owned | Promise<Owned> {
  const { bytes } = raw;
  const small = bytes.length === 0 ? bytes : inflateSmall(encodings, bytes);
  if (small === undefined) return inflateBody(collecting, raw, encodings);
  raw.giveBack();
  return Owned.lent(counted(collecting, bytes, small));
}

/** A body that was decompressed in one go, within what its caller may send and there is room for. */
function counted({ limitBytes, load, place }: Collecting, raw: Buffer, plain: Buffer): Buffer {
  if (plain.length > limitBytes) throw tooLarge(limitBytes);
  // As many as it had when it came are counted already.
  if (!load.charge(place, Math.max(0, plain.length - raw.length))) throw load.refusalOf(place);
  return plain;
}

/** Decompresses a body piece by piece: the output is counted as it comes, and abandoned when the caller leaves. */
function inflateBody(
  { req, limitBytes, load, place }: Collecting,
  raw: Owned,
  encodings: Encodings,
): Promise<Owned> {
  return new Promise((resolve, reject) => {
    const gathering = new Gathering(LARGE_BYTES);
    let bytes = 0;
    const { socket } = req;
    const gone = (): void => {
      fail(callerGone());
    };
    const fail = (error: GatewayError): void => {
      inflation.destroy();
      socket.off('close', gone);
      gathering.giveBack();
      reject(error);
    };
    const compressed = raw.bytes;
    const inflation = new Inflation(encodings, compressed, {
      onData: (piece) => {
        bytes += piece.length;
        // As many as it had when it came are counted already.
        const more = Math.min(piece.length, Math.max(0, bytes - compressed.length));
        if (bytes > limitBytes) fail(tooLarge(limitBytes));
        else if (!load.charge(place, more)) fail(load.refusalOf(place));
        else gathering.add(piece);
      },
      onEnd: () => {
        socket.off('close', gone);
        resolve(gathering.joined());
      },
      onError: (error) => {
        const name = encodings.join(', ');
        const message = `The body is not valid ${name}.`;
        fail(new GatewayError('invalid_request', message, { cause: error }));
      },
    });
    socket.on('close', gone);
    // Another thread reads it until all of it has been taken; who stops before that does not know whether it still does.
    raw.hold();
    inflation.write(compressed, (error) => {
      if (error == null) raw.release();
      raw.giveBack();
    });
    inflation.end();
  });
}

function callerGone(): GatewayError {
  return new GatewayError('client_closed_request', 'The client closed the connection.');
}

export function tooLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request did not arrive in time.');
}
