import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify, TextDecoder } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { GatewayError, systemCode } from '../core/errors.js';
import type { Load, Place } from './load.js';

const decompress = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;

/**
 * The body of a JSON request as UTF-8 bytes, without a byte-order mark: decompressed, decoded, and at most `limitBytes`
 * after that. The place is charged for the bytes as they come.
 * @throws GatewayError 400, 408, 413, 415, 499 or 503.
 */
export async function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
): Promise<Buffer> {
  const charset = jsonCharset(req.headers['content-type']);
  const encoding = contentEncoding(req.headers['content-encoding']);
  const raw = await collect(req, limitBytes, load, place);
  const plain = encoding === undefined ? raw : await inflateBody(raw, encoding, limitBytes);
  const grown = plain.length - raw.length;
  if (grown > 0 && !load.charge(place, grown)) throw load.refusal();
  const body = charset === undefined ? plain : recode(plain, charset);
  if (!isUtf8(body)) {
    throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  }
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return hasMark ? body.subarray(3) : body;
}

/** The charset to decode from, `undefined` for UTF-8. A body without a content type is taken for JSON. */
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

function contentEncoding(header: string | undefined): keyof typeof decompress | undefined {
  const name = header?.trim().toLowerCase();
  if (name === undefined || name === '' || name === 'identity') return undefined;
  if (name === 'gzip' || name === 'x-gzip' || name === 'deflate' || name === 'br') return name;
  throw new GatewayError(
    'unsupported_media_type',
    'The body is compressed in a way that is not read here: use gzip, deflate or br.',
    { headers: { 'Accept-Encoding': 'gzip, deflate, br' } },
  );
}

function collect(
  req: IncomingMessage,
  limitBytes: number,
  load: Load,
  place: Place,
): Promise<Buffer> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes));
  // A caller that left while its key was looked up: none of the events below would come any more.
  if (req.destroyed) return Promise.reject(callerGone());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Listeners stay until the request goes: taking four off again costs more than asking whether they still count.
    let done = false;
    const fail = (errorOf: () => GatewayError) => {
      if (done) return;
      done = true;
      chunks.length = 0;
      reject(errorOf());
    };
    const gone = () => {
      fail(callerGone);
    };
    req
      .on('data', (chunk: Buffer) => {
        if (done) return;
        bytes += chunk.length;
        if (bytes > limitBytes) fail(() => tooLarge(limitBytes));
        else if (!load.charge(place, chunk.length)) fail(() => load.refusal());
        else chunks.push(chunk);
      })
      .on('end', () => {
        // What came too late has had its answer, the last of its connection: nothing must be done for it any more.
        if (!req.socket.writable) fail(tooLate);
        if (done) return;
        done = true;
        const [first] = chunks;
        resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes));
        chunks.length = 0;
      })
      .on('error', gone)
      .on('close', gone);
  });
}

async function inflateBody(
  raw: Buffer,
  encoding: keyof typeof decompress,
  limitBytes: number,
): Promise<Buffer> {
  try {
    return await decompress[encoding](raw, { maxOutputLength: limitBytes });
  } catch (error) {
    if (systemCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limitBytes);
    throw new GatewayError('invalid_request', `The body is not valid ${encoding}.`, {
      cause: error,
    });
  }
}

function recode(body: Buffer, charset: string): Buffer {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw new GatewayError(
      'unsupported_media_type',
      'The charset of the body is not known: send UTF-8.',
      { cause: error },
    );
  }
  try {
    return Buffer.from(decoder.decode(body));
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid in its charset.', {
      cause: error,
    });
  }
}

function callerGone(): GatewayError {
  return new GatewayError('client_closed_request', 'The client closed the connection.');
}

function tooLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request did not arrive in time.');
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The body is larger than ${limitBytes} bytes, the limit after decompression.`,
  );
}
