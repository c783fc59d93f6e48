import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A request signed as AWS's clients do it: Signature Version 4, in the header. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the header says about a signature. */
export interface Signature {
  readonly accessKeyId: string;
  /** `day/region/service/aws4_request`. */
  readonly scope: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export type SignatureFault = 'incomplete' | 'expired' | 'mismatch';

export const SIGV4 = 'AWS4-HMAC-SHA256';
/** How far a caller's clock may differ from this one, as AWS allows it. */
const MAX_SKEW_MS = 5 * 60_000;

/** HTTP/2's counterpart of `Host`, into which a proxy turns it. */
const AUTHORITY = ':authority';

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256\s+Credential=(?<id>[^\s/,]+)\/(?<scope>\d{8}\/[\w-]+\/(?<service>[\w-]+)\/aws4_request)\s*,\s*SignedHeaders=(?<headers>[\w;:.-]+)\s*,\s*Signature=(?<signature>[\da-f]{64})$/;

/** The parts of the header, or `undefined` if it is not a signature. */
export function readSignature(authorization: string | undefined): Signature | undefined {
  const found = AUTHORIZATION.exec(authorization?.trim() ?? '')?.groups;
  if (found === undefined) return undefined;
  const { id = '', scope = '', service = '', headers = '', signature = '' } = found;
  return { accessKeyId: id, scope, service, signedHeaders: headers.split(';'), signature };
}

/**
 * What is wrong with a signature, if anything: whether it was made with `secret`, over this request and a body of this hash, about
 * now. The host and the date must be among the signed headers.
 */
export function signatureFault(
  request: SignedRequest,
  { scope, signedHeaders, signature }: Signature,
  bodyHash: string,
  secret: string,
  nowMs: number,
): SignatureFault | undefined {
  const { 'x-amz-date': date } = request.headers;
  const signedAt = typeof date === 'string' ? readDate(date) : undefined;
  if (typeof date !== 'string' || signedAt === undefined) return 'incomplete';
  if (!signedHeaders.includes('x-amz-date')) return 'incomplete';
  if (!signedHeaders.includes('host') && !signedHeaders.includes(AUTHORITY)) return 'incomplete';
  if (!scope.startsWith(date.slice(0, 8))) return 'incomplete';
  if (Math.abs(nowMs - signedAt) > MAX_SKEW_MS) return 'expired';
  const { 'x-amz-content-sha256': named } = request.headers;
  if (typeof named === 'string' && !isSame(named, bodyHash)) return 'mismatch';
  const canonical = canonicalRequest(request, signedHeaders, bodyHash);
  const toSign = [SIGV4, date, scope, sha256(canonical)].join('\n');
  const expected = hmac(signingKey(secret, scope), toSign).toString('hex');
  return isSame(signature, expected) ? undefined : 'mismatch';
}

/** `20150830T123600Z` as milliseconds. */
function readDate(text: string): number | undefined {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hours, minutes, seconds] = found;
  const at = Date.parse(
    `${year ?? ''}-${month ?? ''}-${day ?? ''}T${hours ?? ''}:${minutes ?? ''}:${seconds ?? ''}Z`,
  );
  return Number.isNaN(at) ? undefined : at;
}

function canonicalRequest(
  { method, target, headers }: SignedRequest,
  signedHeaders: readonly string[],
  bodyHash: string,
): string {
  const [path = '/', query = ''] = splitOnce(target, '?');
  return [
    method,
    canonicalPath(path),
    canonicalQuery(query),
    ...signedHeaders.map(
      (name) => `${name}:${headerValue(headers[name === AUTHORITY ? 'host' : name])}`,
    ),
    '',
    signedHeaders.join(';'),
    bodyHash,
  ].join('\n');
}

/** Dots and double slashes are resolved, and every segment is encoded once more. */
function canonicalPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(encode(segment));
  }
  const isFolder = kept.length > 0 && /\/\.{0,2}$/.test(path);
  return `/${kept.join('/')}${isFolder ? '/' : ''}`;
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .map((pair) => splitOnce(pair, '=').map((part) => encode(decode(part))))
    .map(([name = '', value = '']) => [name, value] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function headerValue(value: string | string[] | undefined): string {
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text.trim().replaceAll(/ +/g, ' ');
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** What cannot be decoded stands for itself: no signature will match it. */
function decode(text: string): string {
  return /%(?![\da-f]{2})/i.test(text) ? text : Buffer.from(unescapeBytes(text)).toString('utf8');
}

function unescapeBytes(text: string): Uint8Array {
  const latin = text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin, 'latin1');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function signingKey(secret: string, scope: string): Buffer {
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of scope.split('/')) key = hmac(key, part);
  return key;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isSame(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
