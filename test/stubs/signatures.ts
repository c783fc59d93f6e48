import { createHash, createHmac, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { Refusal } from './checks.js';
import type { StubCall } from './stub.js';

/** Signatures as the providers check them, computed from the request as it came and from nothing of the gateway's. */

const SKEW_MS = 300_000;

export const ACCESS_KEY_ID = 'AKIDSTUBEXAMPLE';
export const SECRET_KEY = 'c3R1Yi1zZWNyZXQ+a2V5/1==';

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

function headerOf({ headers }: StubCall, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

interface Parsed {
  readonly id: string;
  readonly scope: readonly string[];
  readonly signed: readonly string[];
  readonly signature: string;
}

function parseAuthorization(call: StubCall, algorithm: string): Parsed {
  const value = headerOf(call, 'authorization');
  if (value === '') throw new Refusal('no-key', 'authorization', 'Missing Authentication Token');
  const match =
    /^(\S+) Credential=([^/,]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      value,
    );
  if (match?.[1] !== algorithm) {
    throw new Refusal(
      'key',
      'authorization',
      'the signature header is not well formed',
      'malformed',
    );
  }
  const [, , id = '', scope = '', signed = '', signature = ''] = match;
  if (id !== ACCESS_KEY_ID) {
    throw new Refusal('key', 'authorization', 'the access key is not known', 'unknown-key');
  }
  return { id, scope: scope.split('/'), signed: signed.split(';'), signature };
}

function mustBe(actual: string | undefined, expected: string, what: string): void {
  if (actual !== expected) {
    throw new Refusal(
      'key',
      'authorization',
      `${what} is ${actual ?? 'missing'}, not ${expected}`,
      'scope',
    );
  }
}

function mustSign(signed: readonly string[], ...names: readonly string[]): void {
  for (const name of names) {
    if (!signed.includes(name)) {
      throw new Refusal('key', 'authorization', `${name} must be signed`, 'scope');
    }
  }
}

function mustMatch(actual: string, expected: string): void {
  if (actual !== expected) {
    throw new Refusal('key', 'authorization', 'the signature does not match', 'signature');
  }
}

function mustBeFresh(timeMs: number, nowMs: number): void {
  if (Number.isNaN(timeMs) || Math.abs(timeMs - nowMs) > SKEW_MS) {
    throw new Refusal('key', 'date', 'the signature has expired', 'expired');
  }
}

/** `20261101T120000Z` as a time. */
function compactTime(text: string): number {
  return Date.parse(
    text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
}

const strictly = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function splitTarget({ target }: StubCall): { path: string; query: string } {
  const [path = '', query = ''] = target.split('?', 2);
  const pairs = [...new URLSearchParams(query)].map(
    ([name, value]) => `${strictly(name)}=${strictly(value)}`,
  );
  return { path, query: pairs.sort().join('&') };
}

/** Each segment of the path as it came, encoded once more. */
function encodedAgain(path: string): string {
  return path.split('/').map(strictly).join('/');
}

function canonicalHeaders(call: StubCall, names: readonly string[]): string {
  return names
    .map((name) => `${name}:${headerOf(call, name).trim().replace(/ +/g, ' ')}\n`)
    .join('');
}

/** AWS Signature Version 4, for Bedrock in a region. */
export function checkAws(call: StubCall, region: string): void {
  const parsed = parseAuthorization(call, 'AWS4-HMAC-SHA256');
  const date = headerOf(call, 'x-amz-date');
  const day = date.slice(0, 8);
  mustBeFresh(compactTime(date), call.nowMs);
  mustBe(parsed.scope[0], day, 'the day of the scope');
  mustBe(parsed.scope[1], region, 'the region of the scope');
  mustBe(parsed.scope[2], 'bedrock', 'the service of the scope');
  mustBe(parsed.scope[3], 'aws4_request', 'the end of the scope');
  mustSign(parsed.signed, 'host', 'x-amz-date');
  if (call.headers['x-amz-security-token'] !== undefined) {
    mustSign(parsed.signed, 'x-amz-security-token');
  }
  const { path, query } = splitTarget(call);
  const canonical = [
    call.method,
    encodedAgain(path),
    query,
    canonicalHeaders(call, parsed.signed),
    parsed.signed.join(';'),
    sha256(call.body),
  ].join('\n');
  const scope = parsed.scope.join('/');
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`;
  const k1 = hmac(`AWS4${SECRET_KEY}`, day);
  const k4 = hmac(hmac(hmac(k1, region), 'bedrock'), 'aws4_request');
  mustMatch(parsed.signature, hmac(k4, text).toString('hex'));
}

/** Tencent's TC3-HMAC-SHA256; the path that is signed is always `/`. */
export function checkTencent(call: StubCall, service: string): void {
  const parsed = parseAuthorization(call, 'TC3-HMAC-SHA256');
  const timestamp = headerOf(call, 'x-tc-timestamp');
  mustBeFresh(Number(timestamp) * 1000, call.nowMs);
  const day = new Date(Number(timestamp) * 1000).toISOString().slice(0, 10);
  mustBe(parsed.scope[0], day, 'the day of the scope');
  mustBe(parsed.scope[1], service, 'the service of the scope');
  mustBe(parsed.scope[2], 'tc3_request', 'the end of the scope');
  mustSign(parsed.signed, 'content-type', 'host');
  const canonical = [
    'POST',
    '/',
    '',
    canonicalHeaders(call, parsed.signed),
    parsed.signed.join(';'),
    sha256(call.body),
  ].join('\n');
  const scope = parsed.scope.join('/');
  const text = `TC3-HMAC-SHA256\n${timestamp}\n${scope}\n${sha256(canonical)}`;
  const key = hmac(hmac(hmac(`TC3${SECRET_KEY}`, day), service), 'tc3_request');
  mustMatch(parsed.signature, hmac(key, text).toString('hex'));
}

/** Volcengine's HMAC-SHA256: as AWS, from the bare secret, and with the hash of the body in a header. */
export function checkVolcengine(call: StubCall, region: string, service: string): void {
  const parsed = parseAuthorization(call, 'HMAC-SHA256');
  const date = headerOf(call, 'x-date');
  const day = date.slice(0, 8);
  mustBeFresh(compactTime(date), call.nowMs);
  mustBe(parsed.scope.join('/'), `${day}/${region}/${service}/request`, 'the scope');
  mustSign(parsed.signed, 'content-type', 'host', 'x-content-sha256', 'x-date');
  const hash = sha256(call.body);
  mustMatch(headerOf(call, 'x-content-sha256'), hash);
  const { path, query } = splitTarget(call);
  const canonical = [
    call.method,
    encodedAgain(decodeURIComponent(path)),
    query,
    canonicalHeaders(call, parsed.signed),
    parsed.signed.join(';'),
    hash,
  ].join('\n');
  const text = `HMAC-SHA256\n${date}\n${parsed.scope.join('/')}\n${sha256(canonical)}`;
  const key = hmac(hmac(hmac(hmac(SECRET_KEY, day), region), service), 'request');
  mustMatch(parsed.signature, hmac(key, text).toString('hex'));
}

interface KeyPair {
  readonly privatePem: string;
  readonly publicKey: KeyObject;
}

function keyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), publicKey };
}

let registered: KeyPair | undefined;
let stranger: KeyPair | undefined;

/** The key whose public half the stubs know; made when it is first needed. */
export function registeredKey(): KeyPair {
  return (registered ??= keyPair());
}

/** A key that nobody knows. */
export function strangersKey(): KeyPair {
  return (stranger ??= keyPair());
}

const OCI_HEADERS = 'date (request-target) host content-length content-type x-content-sha256';

/** OCI's request signature: RSA over the named headers in their order. */
export function checkOci(call: StubCall, keyId: string): void {
  const value = headerOf(call, 'authorization');
  if (value === '') throw new Refusal('no-key', 'authorization', 'the signature is missing');
  const fields = new Map(
    [...value.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', field = '']) => [name, field]),
  );
  const good =
    value.startsWith('Signature ') &&
    fields.get('version') === '1' &&
    fields.get('algorithm') === 'rsa-sha256' &&
    fields.get('keyId') === keyId &&
    fields.get('headers') === OCI_HEADERS;
  if (!good) throw new Refusal('key', 'authorization', 'the signature is not well formed');
  mustBeFresh(Date.parse(headerOf(call, 'date')), call.nowMs);
  mustMatch(
    headerOf(call, 'x-content-sha256'),
    createHash('sha256').update(call.body).digest('base64'),
  );
  const text = OCI_HEADERS.split(' ')
    .map((name) =>
      name === '(request-target)'
        ? `${name}: ${call.method.toLowerCase()} ${call.target}`
        : `${name}: ${headerOf(call, name)}`,
    )
    .join('\n');
  const signature = Buffer.from(fields.get('signature') ?? '', 'base64');
  if (!verify('sha256', Buffer.from(text), registeredKey().publicKey, signature)) {
    throw new Refusal('key', 'authorization', 'the signature does not match', 'signature');
  }
}

/** Whether a JWT is signed by the registered key; its claims, where it is. */
export function verifiedClaims(jwt: string): Readonly<Record<string, unknown>> | undefined {
  const [head = '', payload = '', signature = ''] = jwt.split('.');
  const decode = (part: string): Readonly<Record<string, unknown>> =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;
  if (decode(head).alg !== 'RS256') return undefined;
  const good = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    registeredKey().publicKey,
    Buffer.from(signature, 'base64url'),
  );
  return good ? decode(payload) : undefined;
}
