import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import aws4 from 'aws4';
import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { TokenCache } from '../../src/gateway/token-cache.js';
import {
  allowAnonymous,
  callerOf,
  createAuthenticate,
  createReadSigned,
  type Authenticate,
} from '../../src/http/authentication.js';
import { AddressList } from '../../src/http/client-address.js';
import { hashSecret } from '../../src/management/secrets.js';
import type { Credential } from '../../src/store/store.js';
import { credential } from '../support/credential.js';

const KEY = 'sk-the-key_1.2~3+4/5=';
const OTHER_KEY = 'sk-another-key';
const NOW = Date.UTC(2027, 0, 15, 8);

function setUp(keys: readonly string[] = [KEY]) {
  const known = new Map<string, Credential>(keys.map((key) => [hashSecret(key), credential()]));
  const asked: string[] = [];
  const cache = new TokenCache({
    store: {
      findToken: (hash) => {
        asked.push(hash);
        return Promise.resolve(known.get(hash));
      },
    },
    isEmptied: () => false,
    now: () => NOW,
  });
  return { known, asked, cache, authenticate: createAuthenticate(cache) };
}

/** A request as the server hands it over, from an address. */
function request(
  headers: Record<string, string>,
  from = '192.0.2.7',
  socket = new Socket(),
): IncomingMessage {
  Object.defineProperty(socket, 'remoteAddress', { value: from, configurable: true });
  return Object.assign(new IncomingMessage(socket), { headers, method: 'POST', url: '/' });
}

/** What authentication says: the key's hash, or the code of the refusal. */
async function outcome(authenticate: Authenticate, req: IncomingMessage): Promise<string> {
  try {
    const { keyHash } = await authenticate(req);
    return keyHash;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

describe('a key', () => {
  it('is looked up again on a connection that sent it before, once nothing is remembered of it', async () => {
    const { authenticate, asked, cache } = setUp();
    const socket = new Socket();
    const ask = () =>
      outcome(authenticate, request({ authorization: `Bearer ${KEY}` }, '192.0.2.7', socket));
    const before = [await ask(), await ask(), asked.length];
    cache.clear();

    expect([...before, await ask(), asked.length]).toEqual([
      ...[hashSecret(KEY), hashSecret(KEY), 1],
      ...[hashSecret(KEY), 2],
    ]);
  });

  it('is another one where another header comes on the same connection, however alike', async () => {
    const keys = ['sk-one', 'sk-two'];
    const { authenticate } = setUp(keys);
    const socket = new Socket();
    const found: string[] = [];
    for (const key of [...keys, ...keys]) {
      const req = request({ authorization: `Bearer ${key}` }, '192.0.2.7', socket);
      found.push(await outcome(authenticate, req));
    }

    expect(found).toEqual([...keys, ...keys].map(hashSecret));
  });

  it.each([
    ['a bearer token', { authorization: `Bearer ${KEY}` }],
    ['a bearer token in small letters, with blanks', { authorization: `bearer   ${KEY} ` }],
    ['the scheme of Elasticsearch', { authorization: `ApiKey ${KEY}` }],
    ['the scheme "Token"', { authorization: `Token ${KEY}` }],
    ['the scheme of IBM’s Cloud Pak', { authorization: `ZenApiKey ${KEY}` }],
    ['the bare header', { authorization: KEY }],
    ['X-Api-Key', { 'x-api-key': KEY }],
    ['Api-Key', { 'api-key': KEY }],
    ['the header of Azure’s gateways', { 'ocp-apim-subscription-key': KEY }],
    ['the header of Google', { 'x-goog-api-key': KEY }],
    ['a header of its own beside an empty scheme', { authorization: 'Bearer', 'x-api-key': KEY }],
  ])('is taken from %s', async (_, headers) => {
    expect(await outcome(setUp().authenticate, request(headers))).toBe(hashSecret(KEY));
  });

  it.each([
    ['no header', {}, 'missing_api_key'],
    ['an empty header', { authorization: ' ' }, 'missing_api_key'],
    ['a scheme alone', { authorization: 'Bearer ' }, 'missing_api_key'],
    ['a key that nobody has', { authorization: `Bearer ${OTHER_KEY}` }, 'invalid_api_key'],
    ['two words', { authorization: `Bearer ${KEY} more` }, 'invalid_api_key'],
    ['another scheme', { authorization: `Basic ${KEY}` }, 'invalid_api_key'],
  ])('is refused for %s', async (_, headers, code) => {
    const given: Record<string, string> = { ...headers };
    expect(await outcome(setUp().authenticate, request(given))).toBe(code);
  });

  it.each([
    ['too long', 'x'.repeat(513), 0],
    ['as long as may be', 'x'.repeat(512), 1],
    ['made of several words', 'two words', 0],
  ])('that is %s asks the store as often as it should', async (_, key, times) => {
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      const { authenticate, asked } = setUp();

      expect(await outcome(authenticate, request(headers))).toBe('invalid_api_key');
      expect(asked).toHaveLength(times);
    }
  });

  it('is not taken from a query or from a body', async () => {
    const { authenticate } = setUp();
    const req = Object.assign(request({}), {
      url: `/v1/rerank?access_token=${KEY}`,
      query: { access_token: KEY },
      body: { access_token: KEY },
    });

    expect(await outcome(authenticate, req)).toBe('missing_api_key');
  });
});

describe('a connection that sends a key again', () => {
  it('is recognized by the header, for as long as the node knows the key', async () => {
    const { authenticate, known, asked, cache } = setUp([KEY, OTHER_KEY]);
    const socket = new Socket();
    const send = (key: string) =>
      outcome(authenticate, request({ authorization: `Bearer ${key}` }, '192.0.2.7', socket));
    // The store is asked the first time; from then on the header alone decides.
    for (let times = 0; times < 3; times += 1) expect(await send(KEY)).toBe(hashSecret(KEY));
    expect(asked).toHaveLength(1);

    expect(await send(OTHER_KEY)).toBe(hashSecret(OTHER_KEY));
    expect(await send(KEY)).toBe(hashSecret(KEY));

    known.clear();
    cache.clear();
    expect(await send(KEY)).toBe('invalid_api_key');
  });
});

describe('callers without a key', () => {
  const addresses = new AddressList(['10.0.0.0/8', '127.0.0.0/8']);
  const proxies = new AddressList(['192.0.2.1']);
  const anonymous = (authenticate: Authenticate) =>
    allowAnonymous(authenticate, { addresses, key: new Secret(KEY) }, proxies);

  it.each([
    ['from an address that is bound', {}, '10.1.2.3', hashSecret(KEY)],
    ['from elsewhere', {}, '192.0.2.7', 'missing_api_key'],
    ['by a proxy', { 'x-forwarded-for': '10.1.2.3' }, '192.0.2.1', hashSecret(KEY)],
    [
      'by a proxy, from elsewhere',
      { 'x-forwarded-for': '8.8.8.8' },
      '192.0.2.1',
      'missing_api_key',
    ],
    ['by nobody’s proxy', { 'x-forwarded-for': '10.1.2.3' }, '192.0.2.7', 'missing_api_key'],
    ['with a wrong key', { authorization: 'Bearer wrong' }, '10.1.2.3', 'invalid_api_key'],
    ['on this machine', { host: 'localhost:3000' }, '127.0.0.1', hashSecret(KEY)],
    ['on this machine, by a page', { host: 'evil.example' }, '127.0.0.1', 'missing_api_key'],
    [
      'on this machine, by a page and a proxy',
      { host: 'evil.example', 'x-forwarded-for': '127.0.0.1' },
      '192.0.2.1',
      'missing_api_key',
    ],
  ])('%s', async (_, headers, from, expected) => {
    const given: Record<string, string> = { ...headers };
    expect(await outcome(anonymous(setUp().authenticate), request(given, from))).toBe(expected);
  });
});

describe('the address that a key’s list is held against', () => {
  it.each([
    ['the peer', {}, '10.1.2.3', true],
    ['the caller behind a proxy', { 'x-forwarded-for': '10.1.2.3' }, '192.0.2.1', true],
    ['not what others say', { 'x-forwarded-for': '10.1.2.3' }, '192.0.2.7', false],
  ])('is %s', (_, headers, from, expected) => {
    const given: Record<string, string> = { ...headers };
    const identity = { keyHash: hashSecret(KEY), credential: credential() };
    const caller = callerOf(request(given, from), identity, new AddressList(['192.0.2.1']));

    expect(caller.addressAllowed(['10.0.0.0/8'])).toBe(expected);
  });
});

describe('a signed request', () => {
  const BODY = '{"query":"q"}';

  function signed(service: string, accessKeyId = 'AKIDGATEWAY', secretAccessKey = KEY) {
    const at = new Date(NOW).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
    const { headers = {} } = aws4.sign(
      {
        ...{ service, region: 'eu-west-1', host: 'localhost', path: '/', method: 'POST' },
        ...{ body: BODY, headers: { 'X-Amz-Date': at, 'Content-Type': 'application/json' } },
      },
      { accessKeyId, secretAccessKey },
    );
    return request(
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
    );
  }

  async function judged(req: IncomingMessage, body = BODY): Promise<string> {
    const { authenticate } = setUp();
    const keys = { AKIDGATEWAY: new Secret(KEY) };
    const call = createReadSigned(authenticate, keys, () => NOW)(req);
    if (call === undefined) return 'unsigned';
    try {
      const { keyHash } = await call.identity();
      await call.prove(Buffer.from(body));
      return keyHash;
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
  }

  it.each([
    ['for Bedrock', signed('bedrock'), hashSecret(KEY)],
    ['for SageMaker', signed('sagemaker'), hashSecret(KEY)],
    ['for another service', signed('s3'), 'invalid_signature'],
    ['by an id that nobody has', signed('bedrock', 'AKIDOTHER'), 'invalid_api_key'],
    ['by an id that every object has', signed('bedrock', 'constructor'), 'invalid_api_key'],
    ['with another secret', signed('bedrock', 'AKIDGATEWAY', OTHER_KEY), 'invalid_signature'],
    [
      'incompletely',
      request({ authorization: 'AWS4-HMAC-SHA256 Credential=x' }),
      'invalid_signature',
    ],
    ['not at all', request({ authorization: `Bearer ${KEY}` }), 'unsigned'],
  ])('%s is judged by its signature', async (_, req, expected) => {
    expect(await judged(req)).toBe(expected);
  });

  it('proves no other body', async () => {
    expect(await judged(signed('bedrock'), `${BODY} `)).toBe('invalid_signature');
  });
});
