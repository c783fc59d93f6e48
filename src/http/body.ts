import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import {
  Inflation,
  inflateSmall,
  readEncodings,
  type Encodings,
} from '../gateway/transport/inflate.js';
import { tooLarge, type Load, type Place } from './load.js';
import { recoded } from './charset.js';
import { Arriving, LARGE_BYTES } from './arriving.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;

/** The body of a JSON request, as `withJsonBody` has it. */
export function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
  withinMs?: number,
): Promise<Buffer> {
  return withJsonBody(req, { limitBytes, load, place, withinMs }, (body) => body);
}

/** The body of a form, at most `limitBytes`, which arrives as it is. */
export function readFormBody(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
  withinMs?: number,
): Promise<Buffer> {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() === FORM_TYPE) {
    return collect(req, { limitBytes, load, place, withinMs }, (body) => body);
  }
  throw new GatewayError(
    'unsupported_media_type',
    `The body must be a form: send the header Content-Type: ${FORM_TYPE}.`,
  );
}

/**
 * Hands the body of a JSON request to `use`, and resolves to what that returns: decompressed, in UTF-8 for all that its charset says,
 * and at most `limitBytes` after that. Memory is taken for what has come, whatever is announced, and the place is charged for it.
 * Nothing that was there before the body refers to it: what has waited for its turn is old, and what the old refers to is freed only
 * when the whole heap is marked.
 * @throws GatewayError 400, 408, 413, 415, 499 or 503.
 */
export function withJsonBody<T>(
  req: IncomingMessage,
  bounds: Bounds,
  use: (body: Buffer) => T | Promise<T>,
): Promise<T> {
  const charset = jsonCharset(req.headers['content-type']);
  const encodings = contentEncodings(req.headers['content-encoding']);
  const read = (plain: Buffer) => use(charset === undefined ? plain : recoded(plain, charset));
  if (encodings === undefined) return collect(req, bounds, read);
  return collect(req, bounds, (raw) => {
    const plain = decompressed(req, bounds, raw, encodings);
    return plain instanceof Promise ? plain.then(read) : read(plain);
  });
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

/** What bounds a body on its way, and whose bytes they are. */
interface Bounds {
  readonly limitBytes: number;
  readonly load: Load;
  readonly place: Place;
  /** How long it may take; without it, the server's own time-out decides. */
  readonly withinMs: number | undefined;
}

/** Collects a body, and resolves to what `read` makes of it. */
function collect<T>(
  req: IncomingMessage,
  { limitBytes, load, place, withinMs }: Bounds,
  read: (body: Buffer) => T | Promise<T>,
): Promise<T> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes));
  // A caller that left while its key was looked up: none of the events below would come any more.
  if (req.destroyed) return Promise.reject(callerGone());
  return new Promise((resolve, reject) => {
    const arriving = new Arriving(declared);
    // Listeners stay until the request is gone: removing four costs more than asking whether they still count.
    let done = false;
    const end = (): void => {
      done = true;
      clearTimeout(timer);
    };
    const fail = (errorOf: () => GatewayError): void => {
      if (done) return;
      end();
      arriving.giveUp();
      reject(errorOf());
    };
    const gone = (): void => {
      fail(callerGone);
    };
    const timer =
      withinMs === undefined ? undefined : setTimeout(() => fail(() => tooLate()), withinMs);
    const take = (chunk: Buffer): void => {
      if (done) return;
      const reserved = arriving.add(chunk);
      if (arriving.bytes > limitBytes) fail(() => tooLarge(limitBytes));
      else if (!load.charge(place, reserved)) fail(() => load.refusalOf(place));
    };
    const begin = (): void => {
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
        end();
        try {
          resolve(read(arriving.taken()));
        } catch (error) {
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what reading failed with is passed on
          reject(error);
        }
      })
      .on('error', gone)
      .on('close', gone);
    if (declared > LARGE_BYTES) place.endTurn = load.reading.take(begin, () => arriving.bytes);
    else begin();
  });
}

function decompressed(
  req: IncomingMessage,
  bounds: Bounds,
  raw: Buffer,
  encodings: Encodings,
): Buffer | Promise<Buffer> {
  const small = raw.length === 0 ? raw : inflateSmall(encodings, raw);
  return small === undefined
    ? inflateBody(req, bounds, raw, encodings)
    : counted(bounds, raw, small);
}

/** A body that was decompressed at once, within what its caller may send and there is room for. */
function counted({ limitBytes, load, place }: Bounds, raw: Buffer, plain: Buffer): Buffer {
  if (plain.length > limitBytes) throw tooLarge(limitBytes);
  // As many as it had when it came are counted already.
  if (!load.charge(place, Math.max(0, plain.length - raw.length))) throw load.refusalOf(place);
  return plain;
}

/** Decompresses a body piece by piece: the output is counted as it comes, and abandoned when the caller leaves. */
function inflateBody(
  req: IncomingMessage,
  { limitBytes, load, place }: Bounds,
  raw: Buffer,
  encodings: Encodings,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const arriving = new Arriving(0);
    const { socket } = req;
    const gone = (): void => {
      fail(callerGone());
    };
    const fail = (error: GatewayError): void => {
      inflation.destroy();
      socket.off('close', gone);
      arriving.giveUp();
      reject(error);
    };
    const inflation = new Inflation(encodings, raw, {
      onData: (piece) => {
        arriving.add(piece);
        // As many as it had when it came are counted already.
        const more = Math.min(piece.length, Math.max(0, arriving.bytes - raw.length));
        if (arriving.bytes > limitBytes) fail(tooLarge(limitBytes));
        else if (!load.charge(place, more)) fail(load.refusalOf(place));
      },
      onEnd: () => {
        socket.off('close', gone);
        resolve(arriving.taken());
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

function callerGone(): GatewayError {
  return new GatewayError('client_closed_request', 'The client closed the connection.');
}

export function tooLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request did not arrive in time.');
}
