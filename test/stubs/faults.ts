import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { isObject } from './checks.js';
import { NOT_A_NUMBER, type ScoredRow } from './score.js';
import type { StubReply } from './stub.js';

/** What every stub can do wrong, by the name that switches it on. */
export const FAULTS = {
  shuffle: 'rows in an order that says nothing',
  'duplicate-index': 'the first row twice',
  'index-out-of-range': 'a row for a document that was not sent',
  'missing-row': 'one row too few',
  'null-scores': 'null for every score',
  nan: 'the bare word NaN for a score',
  'extra-keys': 'members that nobody knows, in every object',
  gzip: 'a compressed reply, asked for or not',
  bom: 'a byte order mark before the reply',
  'truncated-json': 'a reply that ends in the middle, its length told as if it were whole',
  'html-200': 'a login page with status 200',
  'html-403': 'a page of the edge in front',
  'html-502': 'a page of the edge in front',
  'text-503': 'the words of a proxy without upstream',
  'busy-seconds': '429 with Retry-After in seconds',
  'busy-date': '429 with Retry-After as a date',
  'busy-silent': '429 without Retry-After',
  'empty-500': '500 without a body',
  delay: 'no byte until the caller has gone',
  'slow-headers': 'headers at once, the body never',
  dribble: 'a byte every now and then',
  'reset-before-headers': 'the connection breaks before the first byte',
  'reset-mid-body': 'the connection breaks inside the body',
  'truncated-chunked': 'a chunked body without its last chunk',
} as const;

export type FaultName = keyof typeof FAULTS;

const DRIBBLE_MS = 25;

/** Faults of rows, before the provider writes them in its way. */
export function alterRows(
  rows: readonly ScoredRow[],
  modes: ReadonlySet<string>,
  indexed: boolean,
): readonly ScoredRow[] {
  const [first] = rows;
  if (first === undefined) return rows;
  if (modes.has('shuffle') && indexed) return [...rows.slice(1).reverse(), first];
  if (modes.has('duplicate-index')) return [first, first, ...rows.slice(2)];
  if (modes.has('index-out-of-range')) {
    return indexed ? [{ ...first, index: rows.length + 7 }, ...rows.slice(1)] : [...rows, first];
  }
  if (modes.has('missing-row')) return rows.slice(1);
  if (modes.has('null-scores')) return rows.map((row) => ({ ...row, score: null }));
  if (modes.has('nan')) return [{ ...first, score: NOT_A_NUMBER }, ...rows.slice(1)];
  return rows;
}

const HTML = '<!doctype html><html><head><title>Edge</title></head><body>Edge</body></html>';

/** Faults in place of the provider's reply; `undefined` where there is none in force. */
export function edgeReply(modes: ReadonlySet<string>, nowMs: number): StubReply | undefined {
  const html = (status: number): StubReply => ({
    status,
    headers: { 'content-type': 'text/html' },
    text: HTML,
  });
  const busy = (headers: Readonly<Record<string, string>>): StubReply => ({
    status: 429,
    headers,
    json: { message: 'slow down' },
  });
  const replies: Readonly<Record<string, () => StubReply>> = {
    'html-200': () => html(200),
    'html-403': () => html(403),
    'html-502': () => html(502),
    'text-503': () => ({
      status: 503,
      text: 'upstream connect error or disconnect/reset before headers. reset reason: connection failure',
    }),
    'busy-seconds': () => busy({ 'retry-after': '7' }),
    'busy-date': () => busy({ 'retry-after': new Date(nowMs + 7_000).toUTCString() }),
    'busy-silent': () => busy({}),
    'empty-500': () => ({ status: 500 }),
  };
  for (const [name, reply] of Object.entries(replies)) if (modes.has(name)) return reply();
  return undefined;
}

/** Writes a reply, with the faults of transport that are in force. */
export function writeReply(
  res: ServerResponse,
  reply: StubReply,
  modes: ReadonlySet<string>,
): void {
  if (modes.has('delay')) return;
  if (modes.has('reset-before-headers')) {
    res.destroy();
    return;
  }
  const body = bytesOf(reply, modes);
  const headers: Record<string, string> = { ...typeOf(reply), ...reply.headers };
  if (modes.has('gzip')) headers['content-encoding'] = 'gzip';
  const half = body.subarray(0, body.length >> 1);
  if (modes.has('slow-headers')) {
    res.writeHead(reply.status, { ...headers, 'content-length': String(body.length) });
    res.flushHeaders();
  } else if (modes.has('dribble')) {
    dribble(res.writeHead(reply.status, headers), body);
  } else if (modes.has('reset-mid-body')) {
    res.writeHead(reply.status, { ...headers, 'content-length': String(body.length) });
    res.write(half, () => res.destroy());
  } else if (modes.has('truncated-chunked')) {
    res.writeHead(reply.status, headers).write(half, () => res.socket?.end());
  } else {
    res.writeHead(reply.status, { ...headers, 'content-length': String(body.length) }).end(body);
  }
}

function typeOf({ json, text }: StubReply): Record<string, string> {
  if (json !== undefined) return { 'content-type': 'application/json' };
  return text === undefined ? {} : { 'content-type': 'text/plain; charset=utf-8' };
}

function bytesOf({ json, text }: StubReply, modes: ReadonlySet<string>): Buffer {
  const value = modes.has('extra-keys') ? withStrangers(json) : json;
  const plain = json === undefined ? (text ?? '') : JSON.stringify(value);
  const written = plain.replaceAll(JSON.stringify(NOT_A_NUMBER), 'NaN');
  const whole = Buffer.from(modes.has('bom') ? `\uFEFF${written}` : written);
  const cut = modes.has('truncated-json') ? whole.subarray(0, whole.length >> 1) : whole;
  return modes.has('gzip') ? gzipSync(cut) : cut;
}

/** The same with a member in every object that nobody knows. */
function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withStrangers(member)]);
  return {
    x_stranger: { of: ['another', 'version'] },
    ...(Object.fromEntries(members) as object),
  };
}

function dribble(res: ServerResponse, body: Buffer): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at >= body.length) {
      clearInterval(timer);
      res.end();
      return;
    }
    res.write(body.subarray(at, at + 1));
    at += 1;
  }, DRIBBLE_MS);
  res.on('close', () => {
    clearInterval(timer);
  });
}
