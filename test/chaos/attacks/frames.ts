/** Frames of HTTP/2 as bytes, right or wrong: whoever sends them decides. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export type Bytes = Buffer | string;
type Field = readonly [name: string, value: string];

export type Frames = readonly (Bytes | readonly Bytes[])[];

export const MAX_WINDOW = 2 ** 31 - 1;
const END_STREAM = 1;
const END_HEADERS = 4;

export function join(...parts: readonly (Bytes | readonly Bytes[])[]): Buffer {
  return Buffer.concat(parts.flat().map((part) => Buffer.from(part as string, 'latin1')));
}

export function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** `length` is what the frame says of itself, which may be wrong. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Bytes = '',
  length?: number,
): Buffer {
  const body = Buffer.from(payload as string, 'latin1');
  const head = Buffer.alloc(9);
  head.writeUIntBE(length ?? body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, body]);
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** A string of HPACK, without Huffman's code. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  const size: number[] = [];
  if (bytes.length < 127) size.push(bytes.length);
  else {
    size.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) size.push((rest % 128) + 128);
    size.push(rest);
  }
  return Buffer.concat([Buffer.from(size), bytes]);
}

/** Headers in HPACK, not indexed. */
export function fields(list: readonly Field[]): Buffer {
  return Buffer.concat(
    list.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  );
}

/** A header that the table keeps: each 0xbe after it stands for all of it. */
export function indexed(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

export function headers(
  stream: number,
  block: Buffer | readonly Field[],
  { end = true, whole = true } = {},
): Buffer {
  const flags = (end ? END_STREAM : 0) | (whole ? END_HEADERS : 0);
  return frame(1, flags, stream, Buffer.isBuffer(block) ? block : fields(block));
}

export const data = (stream: number, bytes: Bytes, end = false): Buffer =>
  frame(0, end ? END_STREAM : 0, stream, bytes);
export const priority = (stream: number, on: number, weight = 1): Buffer =>
  frame(2, 0, stream, join(number(on), Buffer.from([weight])));
export const reset = (stream: number, code = 8): Buffer => frame(3, 0, stream, number(code));
export const settings = (...list: readonly (readonly [id: number, value: number])[]): Buffer =>
  frame(
    4,
    0,
    0,
    Buffer.concat(
      list.map(([id, value]) => Buffer.concat([number(id).subarray(2), number(value)])),
    ),
  );
export const ACK = frame(4, 1, 0);
export const ping = (flags = 0, size = 8): Buffer => frame(6, flags, 0, Buffer.alloc(size));
export const goaway = (code = 0, last = 0, words = ''): Buffer =>
  frame(7, 0, 0, join(number(last), number(code), words));
export const window = (stream: number, more: number): Buffer => frame(8, 0, stream, number(more));
export const continuation = (stream: number, block: Bytes = '', flags = 0): Buffer =>
  frame(9, flags, stream, block);

export const get = (path = '/healthz'): readonly Field[] => [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', path],
];

export const post = (key: string, path = '/v1/rerank', more: readonly Field[] = []): Field[] => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', path],
  ['authorization', `Bearer ${key}`],
  ['content-type', 'application/json'],
  ...more,
];
