import type { Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';

export type Encoding = 'gzip' | 'deflate' | 'br';

/** Encodings of one body, in the order in which they were applied. */
export type Encodings = readonly [Encoding, ...Encoding[]];

/** Nobody needs more than two; each one multiplies what a few bytes may expand to. */
const MAX_ENCODINGS = 3;

/** Larger pieces than zlib's own 16 KiB: each one costs a turn of the event loop. */
const PIECE_BYTES = 64 * 1024;

/** Reads a `Content-Encoding` header: `undefined` for a plain body, `unknown` for an encoding that is not supported. */
export function readEncodings(header: string | undefined): Encodings | 'unknown' | undefined {
  if (header === undefined || header === '' || header === 'identity') return undefined;
  const encodings: Encoding[] = [];
  for (const part of header.split(',')) {
    const name = part.trim().toLowerCase().replace(/^x-/, '');
    if (name === '' || name === 'identity') continue;
    if (name !== 'gzip' && name !== 'deflate' && name !== 'br') return 'unknown';
    encodings.push(name);
  }
  const [first, ...others] = encodings;
  if (first === undefined) return undefined;
  return others.length < MAX_ENCODINGS ? [first, ...others] : 'unknown';
}

/** Receives the output. Nothing is called after `onEnd`, `onError` or `destroy`. */
export interface InflationReader {
  readonly onData: (piece: Buffer) => void;
  readonly onEnd: () => void;
  readonly onError: (error: Error) => void;
}

/**
 * Decompresses a body as it arrives. The reader counts the pieces and may stop at any of them, so that a few bytes that
 * expand to gigabytes cost no more than the limit they exceed.
 */
export class Inflation {
  readonly #stages: readonly Transform[];
  readonly #first: Transform;
  #over = false;

  /** `beginning` is the first piece of the body, not yet written. */
  constructor(encodings: Encodings, beginning: Buffer, reader: InflationReader) {
    const stages = encodings
      .toReversed()
      .map((encoding, at) => decompressor(encoding, at === 0 ? beginning[0] : undefined));
    this.#stages = stages;
    const [first, ...others] = stages as [Transform, ...Transform[]];
    this.#first = first;
    const last = others.reduce((stage, next) => stage.pipe(next), first);
    const end = (tell: () => void) => (): void => {
      if (this.#over) return;
      this.destroy();
      tell();
    };
    for (const stage of stages) {
      stage.on('error', (error: Error) => {
        end(() => {
          reader.onError(error);
        })();
      });
    }
    last.on('data', (piece: Buffer) => {
      if (!this.#over) reader.onData(piece);
    });
    last.on('end', end(reader.onEnd));
  }

  /** Takes the next bytes; false if the sender should wait until `onDrain`'s listener is called. */
  write(bytes: Buffer): boolean {
    return this.#over || this.#first.write(bytes);
  }

  /** Calls `resume` once there is room again. */
  onDrain(resume: () => void): void {
    this.#first.once('drain', resume);
  }

  /** All bytes have been written. */
  end(): void {
    if (!this.#over) this.#first.end();
  }

  /** Stops at once, whatever is still to come. */
  destroy(): void {
    this.#over = true;
    for (const stage of this.#stages) stage.destroy();
  }
}

/** What is small before and after: a fraction of a millisecond's work. */
const SMALL_BYTES = 16_384;
const MOST_SMALL_BYTES = 131_072;

/**
 * Decompresses a whole body at once if it is small: to make a stream, and to work on another thread, takes longer than that.
 * `undefined` if it is large or invalid; which of the two, an inflation tells.
 */
export function inflateSmall(encodings: Encodings, body: Buffer): Buffer | undefined {
  if (body.length > SMALL_BYTES) return undefined;
  try {
    return encodings
      .toReversed()
      .reduce((bytes, encoding, at) => inflateAtOnce(encoding, bytes, at === 0), body);
  } catch {
    return undefined;
  }
}

function inflateAtOnce(encoding: Encoding, bytes: Buffer, isFirst: boolean): Buffer {
  const options = { maxOutputLength: MOST_SMALL_BYTES };
  if (encoding === 'gzip') return gunzipSync(bytes, options);
  if (encoding === 'br') return brotliDecompressSync(bytes, options);
  const mayBeRaw = isFirst && isRaw(bytes[0]);
  return mayBeRaw ? inflateRawSync(bytes, options) : inflateSync(bytes, options);
}

function decompressor(encoding: Encoding, firstByte: number | undefined): Transform {
  const options = { chunkSize: PIECE_BYTES };
  if (encoding === 'gzip') return createGunzip(options);
  if (encoding === 'br') return createBrotliDecompress(options);
  return isRaw(firstByte) ? createInflateRaw(options) : createInflate(options);
}

/** Some servers send deflate without the zlib header: the first byte tells. */
function isRaw(firstByte: number | undefined): boolean {
  return firstByte !== undefined && (firstByte & 0x0f) !== 8;
}
