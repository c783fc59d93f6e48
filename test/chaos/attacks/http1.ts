import { join, times, type Bytes } from './frames.js';
import { deliver, lotOf, type Field } from './line.js';

const BODY = JSON.stringify({ model: 'plain', query: 'attack', documents: ['a', 'b'] });

export function postWith(
  key: string,
  more: string,
  body: Bytes = BODY,
  path = '/v1/rerank',
): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...(/content-length|transfer-encoding/i.test(more) ? [] : [`Content-Length: ${body.length}`]),
  ];
  return join(`${head.join('\r\n')}\r\n${more}\r\n`, body);
}

export function getWith(path: string, more = '', method = 'GET'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const ONE_CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n`;

type Messages = (field: Field) => readonly Bytes[];

/** By attack, messages of which a round sends one. */
const MESSAGES: Readonly<Record<string, Messages>> = {
  'odd chunks': ({ key, chance }) => [
    postWith(key, CHUNKED, `${'1\r\n{\r\n'.repeat(chance.whole(1, 20_000))}0\r\n\r\n`),
    postWith(key, CHUNKED, `1;${'e'.repeat(chance.whole(1, 400_000))}\r\n{\r\n0\r\n\r\n`),
    postWith(
      key,
      CHUNKED,
      `${`1;${'e'.repeat(1_000)}\r\n{\r\n`.repeat(chance.whole(1, 500))}0\r\n\r\n`,
    ),
    postWith(key, CHUNKED, `${BODY.length.toString(16)};a="b\\"";c\r\n${BODY}\r\n0;x\r\n\r\n`),
    ...['-1', 'ffffffffffffffff', '7fffffffffffffff', 'g', '', '0x1', ' 1', '1 ', '\t'].map(
      (size) => postWith(key, CHUNKED, `${size}\r\nabc\r\n0\r\n\r\n`),
    ),
    postWith(key, CHUNKED, `${'0'.repeat(10_000)}1\r\n{\r\n0\r\n\r\n`),
    postWith(key, CHUNKED, ONE_CHUNK.replaceAll('\r\n', '\n')),
  ],
  trailers: ({ key, chance }) => [
    postWith(
      key,
      `${CHUNKED}Trailer: Authorization\r\n`,
      `${ONE_CHUNK}0\r\nAuthorization: Bearer no\r\nContent-Length: 7\r\n__proto__: a\r\n\r\n`,
    ),
    postWith(key, CHUNKED, `${ONE_CHUNK}0\r\n${'a: b\r\n'.repeat(chance.whole(1, 30_000))}\r\n`),
    postWith(key, CHUNKED, `${ONE_CHUNK}0\r\na: ${'b'.repeat(chance.whole(1, 400_000))}\r\n\r\n`),
    postWith(
      key,
      CHUNKED,
      `${ONE_CHUNK}0\r\nTransfer-Encoding: chunked\r\n\r\n${ONE_CHUNK}0\r\n\r\n`,
    ),
  ],
  pipelining: ({ key, chance }) => {
    const kinds = [
      postWith(key, ''),
      postWith(key, '', '{'),
      postWith(key, CHUNKED, `${ONE_CHUNK}0\r\n\r\n`),
      postWith(key, 'Expect: 100-continue\r\n'),
      getWith('/healthz'),
      getWith('/v1/models', `Authorization: Bearer ${key}\r\n`),
      getWith('/openapi.json'),
      getWith('/healthz', '', 'HEAD'),
      getWith('/v1/rerank', '', 'OPTIONS'),
      getWith('/', '', 'PROPFIND'),
      getWith('/api/user/self', '', 'DELETE'),
      'PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx',
    ];
    const few = times(3, () => chance.pick(kinds));
    return [
      join(times(chance.whole(2, 400), () => chance.pick(few))),
      join(
        times(chance.whole(2, 60), () => chance.pick(kinds)),
        chance.pick(['\0\0', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']),
      ),
      getWith('/healthz').repeat(chance.whole(1_000, 5_000)),
    ];
  },
  expectations: ({ key, chance }) => [
    postWith(key, 'Expect: 100-continue\r\n'),
    postWith(key, 'Expect: 100-continue\r\n', ''),
    postWith(key, 'Expect: 200-maybe\r\nExpect: 100-continue\r\n'),
    postWith(key, 'Expect: 100-continue\r\nContent-Length: 99\r\n'),
    getWith('/healthz', 'Expect: 100-continue\r\n'),
    join(times(chance.whole(1, 200), () => postWith(key, 'Expect: 100-continue\r\n'))),
  ],
  upgrades: ({ key, chance }) => {
    const h2c =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    const socket =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n';
    const garbage = 'x\0\xff'.repeat(chance.whole(0, 30_000));
    return [
      ...[h2c, socket].flatMap((upgrade) => [
        getWith('/api/about', upgrade) + garbage,
        join(postWith(key, upgrade), garbage),
        join(postWith(key, upgrade), postWith(key, '')),
      ]),
      getWith('example.com:443', '', 'CONNECT') + garbage,
      getWith('a:1', '', 'CONNECT').repeat(chance.whole(1, 100)),
      join(postWith(key, ''), getWith('/', '', 'CONNECT'), postWith(key, '')),
      join(
        getWith('/v1/rerank', `Authorization: Bearer ${key}\r\nContent-Length: 10\r\n`, 'CONNECT'),
        garbage,
      ),
      'PRI * HTTP/2.0\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.repeat(chance.whole(1, 3)),
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${garbage}`,
      join(postWith(key, ''), 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    ];
  },
  'lengths that differ': ({ key }) => [
    postWith(key, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    postWith(key, 'Content-Length: 5\r\nContent-Length: 6\r\n'),
    postWith(key, `Content-Length: ${BODY.length}, ${BODY.length}\r\n`),
    ...[
      '-1',
      '+5',
      '0x5',
      '9007199254740993',
      '99999999999999999999999',
      '1e3',
      '',
      '5 5',
      '33554433',
    ].map((length) => postWith(key, `Content-Length: ${length}\r\n`)),
    ...[
      'chunked, chunked',
      'gzip, chunked',
      'identity',
      'chunked, identity',
      '\x0bchunked',
      'CHUNKED',
    ].map((coding) => postWith(key, `Transfer-Encoding: ${coding}\r\n`, `${ONE_CHUNK}0\r\n\r\n`)),
    postWith(key, 'Content-Length: 1000\r\n'),
    postWith(key, '', `${BODY}${BODY}`),
  ],
  'odd headers': ({ key, chance }) => [
    getWith('/', `A: ${'b'.repeat(chance.whole(1, 200_000))}\r\n`),
    getWith('/', 'a: b\r\n'.repeat(chance.whole(1, 20_000))),
    getWith('/', 'A: b\r\n c\r\n'),
    getWith('/', 'A : b\r\n'),
    getWith('/', ': b\r\n\0: c\r\n'),
    postWith(
      key,
      `Authorization: Bearer ${key}\r\nX-Api-Key: a\r\nContent-Type: text/plain\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nCookie: a\r\nCookie: b\r\n`,
    ),
    postWith(
      key,
      '__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\ntoString: d\r\nx-gateway-tag: __proto__\r\n',
    ),
    postWith(
      key,
      `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_000)}\r\nForwarded: for="[${'['.repeat(100)}\r\nX-Forwarded-Host: \xff\r\nX-Real-Ip: ::\r\n`,
    ),
    postWith(key, 'X-Request-Timeout-Ms: 1\r\nCache-Control: max-age=99999999999999999999\r\n'),
    postWith(
      key,
      `Traceparent: 00-${'0'.repeat(32)}-${'0'.repeat(16)}-ff\r\nTracestate: ${'a=b,'.repeat(1_000)}\r\n`,
    ),
    postWith(key, `Cookie: ${'=;'.repeat(6_000)}\r\nIdempotency-Key: ${'a'.repeat(8_000)}\r\n`),
    postWith(
      `x\r\nAuthorization: AWS4-HMAC-SHA256 Credential=${'/'.repeat(5_000)}, SignedHeaders=${';'.repeat(3_000)}, Signature=${'a'.repeat(64)}`,
      '',
    ),
    getWith(
      '/docs',
      `Accept: ${'a/b;q=0.1,'.repeat(1_000)}\r\nAccept-Encoding: ${'gzip;q=0.1,'.repeat(300)}\r\nIf-None-Match: ${'"a",'.repeat(500)}\r\nRange: bytes=${'0-1,'.repeat(100)}\r\n`,
    ),
    'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET /healthz HTTP/1.1\r\n\r\n',
    '\r\n\r\n\0\r\nQUIT\n\x16\x03\x01\x00\xa5\x01',
    '\r\n'.repeat(chance.whole(1, 50_000)),
  ],
  'odd targets': ({ key, chance }) => [
    ...[
      'http://evil/v1/rerank',
      'http://[::1',
      'ftp://x/y',
      '*',
      '//evil/..//x',
      '',
      '?',
      'http://a?b',
      '/v1/rerank#a',
      'HTTPS://A:99999/v1/rerank',
    ].map((path) => postWith(key, '', BODY, path)),
    ...[
      '/%E0%A4%A',
      '/a%00b',
      '/console/%2e%2e/%2e%2e/etc/passwd',
      '/console/%00',
      '/console/%ff',
      '/console/assets/__proto__',
      '/\xff\xfe?\xff',
      '/api/__proto__',
      '/v1/models/%2f%2f',
    ].map((path) => getWith(path)),
    getWith(`/${'%25'.repeat(chance.whole(1, 5_000))}`),
    getWith(`/console/${'/'.repeat(chance.whole(1, 7_000))}`),
    getWith(`/api/log?${'a[b][c]=1&'.repeat(1_000)}`),
    getWith('/api/about?__proto__=1&constructor=2&a[__proto__][b]=c'),
    ...['SOURCE', 'PROPFIND', 'M-SEARCH', 'QUERY', 'TRACE', 'BREW', 'get', 'PRI'].map((method) =>
      getWith('/v1/rerank', '', method),
    ),
    ...['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.', ''].map((version) =>
      getWith('/healthz').replace('HTTP/1.1', version),
    ),
  ],
};

export const HTTP1_ATTACKS: Readonly<Record<string, (field: Field) => Promise<void>>> =
  Object.fromEntries(
    Object.entries(MESSAGES).map(([name, messages]) => [
      name,
      (field: Field) =>
        deliver(
          field,
          lotOf(name, field, () => messages(field).map((message) => [message])),
        ),
    ]),
  );
