import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { join, times, type Bytes } from './frames.js';
import { getWith, postWith } from './http1.js';
import { deliver, hold, Line, lotOf, type Field } from './line.js';

const BODY = JSON.stringify({ model: 'plain', query: 'attack', documents: ['a', 'b'] });

async function slowHead(field: Field): Promise<void> {
  const line = new Line(field);
  await line.write(`${field.chance.pick(['GET /', 'POST /v1/rerank'])} HTTP/1.1\r\nHost: a\r\n`);
  await hold(field, line, field.chance.whole(50, 500), () => line.write('a: b\r\n'));
}

async function slowBody(field: Field): Promise<void> {
  const { key, chance } = field;
  const line = new Line(field);
  const isChunked = chance.hits(0.5);
  const length = chance.pick([100, 100_000, 30_000_000]);
  await line.write(
    postWith(
      key,
      isChunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${length}\r\n`,
      '',
    ),
  );
  await hold(field, line, chance.whole(20, 300), () => line.write(isChunked ? '1\r\n{\r\n' : '{'));
}

const ECHOED = JSON.stringify({
  ...{ model: 'plain', query: 'attack', return_documents: true },
  documents: times(400, () => 'word '.repeat(500)),
});

/** Asks for much and takes it slowly, or not at all. */
async function slowReader(field: Field): Promise<void> {
  const { key, chance, assets } = field;
  const asked = lotOf('slow readers', field, () =>
    [
      getWith('/openapi.json'),
      getWith('/docs'),
      getWith(chance.pick(assets)),
      getWith('/console/'),
      getWith('/metrics'),
      postWith(key, '', ECHOED),
    ].map((each) => [each]),
  );
  const line = new Line(field);
  line.stopReading();
  await line.write(join(times(chance.whole(1, 20), () => asked)));
  const takes = chance.hits(0.5);
  await hold(field, line, 50, () => {
    if (takes) line.socket.read(1_000);
    return Promise.resolve();
  });
}

/** Connections by the dozen, with nothing or little on them. */
async function churn(field: Field): Promise<void> {
  const { chance, key } = field;
  const bytes: readonly Bytes[] = [
    '',
    'G',
    getWith('/healthz'),
    postWith(key, ''),
    '\r\n',
    '\x16\x03\x01',
  ];
  const lines = times(chance.whole(10, 100), () => new Line(field));
  const how = chance.next();
  await Promise.all(
    lines.map(async (line) => {
      if (how < 0.3) return;
      await line.connected();
      await line.write(join(chance.pick(bytes)));
      if (how < 0.6) await line.answered();
      if (how < 0.7) line.socket.end();
    }),
  );
  for (const line of lines) {
    if (chance.hits(0.5)) line.reset();
    else line.close();
  }
}

/** A request that is paid for, reset at every stage of its life. */
async function resets(field: Field): Promise<void> {
  const { chance, key } = field;
  const line = new Line(field);
  const request = postWith(key, '');
  const stage = chance.next();
  await line.connected();
  await line.write(request.subarray(0, stage < 0.3 ? chance.whole(1, request.length) : undefined));
  if (stage < 0.5) await sleep(0);
  else if (stage < 0.8) await sleep(chance.whole(0, 20));
  else await line.answered();
  line.reset();
}

/** What a compressed body may be: much more than it seems, or nothing right. */
const BOMB = Buffer.alloc(64 * 1_048_576, ' ');
const GZIP_BOMB = gzipSync(BOMB, { level: 1 });
const COMPRESSED: readonly (readonly [encoding: string, body: Buffer])[] = [
  ['gzip', GZIP_BOMB],
  [
    'gzip',
    gzipSync(
      JSON.stringify({
        model: 'plain',
        query: 'attack',
        documents: times(2_000, () => ' '.repeat(10_000)),
      }),
    ),
  ],
  ['gzip, gzip, gzip', gzipSync(gzipSync(GZIP_BOMB))],
  ['br', brotliCompressSync(BOMB, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['deflate', deflateSync(BOMB, { level: 1 })],
  ['gzip', gzipSync(BODY).subarray(0, 20)],
  ['br', brotliCompressSync(BODY).subarray(0, 5)],
  ['gzip', join(gzipSync(BODY), '\x01'.repeat(100_000))],
  ['gzip', join(times(20_000, () => gzipSync('')))],
  ['gzip', join(gzipSync(BODY.slice(0, 10)), gzipSync(BODY.slice(10)))],
  ['gzip', Buffer.alloc(0)],
  ['br', Buffer.from('110000000000ffffffffffff', 'hex')],
  ['zstd', Buffer.from('28b52ffd', 'hex')],
  [times(100, () => 'gzip').join(','), GZIP_BOMB],
  ['__proto__', Buffer.from(BODY)],
];

function compressed(field: Field): Promise<void> {
  const [encoding, body] = field.chance.pick(COMPRESSED);
  const path = field.chance.pick(['/v1/rerank', '/v1/rerank', '/api/user/login', '/rerank']);
  return deliver(field, postWith(field.key, `Content-Encoding: ${encoding}\r\n`, body, path));
}

function oddBodies(field: Field): Promise<void> {
  const { chance } = field;
  const deep = chance.whole(1, 200_000);
  const body = lotOf('odd bodies', field, () => [
    ['['.repeat(deep)],
    [`{"query":"q","documents":${'['.repeat(deep)}${']'.repeat(deep)}}`],
    [`{"query":"q","documents":[${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}]}`],
    [`{${times(deep, (at) => `"k${at}":1`).join()},"query":"q","documents":["a"]}`],
    [`{${'"query":"q",'.repeat(deep)}"documents":["a"]}`],
    [`{"query":"q","documents":["a"],"top_n":1${'0'.repeat(deep)}}`],
    [`{"query":"q","documents":[${'"",'.repeat(deep)}""]}`],
    [`{"model":"${'m'.repeat(deep)}","query":"q","documents":["a"]}`],
    [`{"query":"${'\\ud83d'.repeat(deep)}","documents":["${'\\u0000'.repeat(deep)}"]}`],
    ['{"query":"\xff\xfe","documents":["\xc3","\xed\xa0\x80","\xf8\x88"]}'],
    ['\0'.repeat(deep)],
    [BODY.replace('plain', '__proto__')],
  ]);
  const path = chance.pick(['/v1/rerank', '/rerank', '/v2/rerank', '/api/user/login', '/v1/score']);
  return deliver(field, postWith(field.key, '', body, path));
}

/** What the management API and the console answer without a login. */
function strangers(field: Field): Promise<void> {
  const { chance, assets } = field;
  const name = chance.hits(0.3) ? 'root' : `u${chance.whole(1, 1e6)}`;
  const secret = 'x'.repeat(chance.pick([8, 64, 256, 100_000]));
  const sent = (path: string, body: unknown): Buffer =>
    postWith(chance.pick(['no', field.key]), '', JSON.stringify(body), path);
  const cookie = `Cookie: session=${secret.slice(0, 64)}; __Host-session=%E0%A4%A\r\n`;
  return deliver(
    field,
    join(
      chance.pick<Bytes>([
        sent('/api/user/login', { username: name, password: secret }),
        sent('/api/user/login', { username: { $gt: '' }, password: [] }),
        sent('/api/user/register', { username: name, password: `${secret}!` }),
        sent('/api/user/topup', { key: secret.slice(0, 32) }),
        sent('/api/user/reset', { email: `${name}@a.example`, token: secret }),
        getWith(`/api/reset_password?email=${name}@a.example`),
        getWith('/api/user/oidc/login'),
        getWith(`/api/user/oidc/callback?code=${secret.slice(0, 64)}&state=${name}`, cookie),
        sent('/api/user/oidc/logout', { logout_token: 'a.b.c' }),
        getWith('/metrics'),
        getWith('/docs'),
        getWith('/openapi.json'),
        getWith('/readyz'),
        getWith(`/api/log/self?p=0&size=100&format=csv`, cookie),
        getWith('/api/user/self', cookie),
        getWith(chance.pick(assets)),
        getWith(`/console/${name}/${name}`),
        getWith('/v1/models'),
        getWith('/api/usage/token', `Authorization: Bearer ${field.key}\r\n`),
      ]),
    ),
  );
}

export const SLOW_ATTACKS: Readonly<Record<string, (field: Field) => Promise<void>>> = {
  'slow heads': slowHead,
  'slow bodies': slowBody,
  'slow readers': slowReader,
  churn,
  resets,
  'compressed bodies': compressed,
  'odd bodies': oddBodies,
  'pages and logins': strangers,
};
