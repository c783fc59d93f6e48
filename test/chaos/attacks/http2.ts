import { setTimeout as sleep } from 'node:timers/promises';
import * as h2 from './frames.js';
import { join, times, type Bytes, type Frames } from './frames.js';
import { hold, Line, lotOf, type Field } from './line.js';

const BODY = JSON.stringify({ model: 'plain', query: 'attack', documents: ['a', 'b'] });
const BIG_REPLY = '/openapi.json';

/** Streams from a number on: every other one is the client's. */
const ids = (from: number) => (at: number) => from + 2 * at;
/** A request whose body is still to come, and the beginning of one. */
const open = (id: number, key: string): Buffer => h2.headers(id, h2.post(key), { end: false });
const ranking = (id: number, key: string): Buffer => join(open(id, key), h2.data(id, BODY, true));

/** By attack, lots of frames of which a round sends one; streams from `at` on are free. */
const LOTS: Readonly<Record<string, (field: Field, at: number) => readonly Frames[]>> = {
  'requests taken back': ({ key, chance }, at) => {
    const id = ids(at);
    const count = chance.whole(20, 1_000);
    return [
      times(count, (n) => [h2.headers(id(n), h2.get('/v1/models')), h2.reset(id(n))]).map((pair) =>
        join(pair),
      ),
      times(count, (n) =>
        join(open(id(n), key), h2.data(id(n), '{'), h2.reset(id(n)), h2.data(id(n), 'x')),
      ),
      times(Math.min(count, 90), (n) => join(ranking(id(n), key), h2.reset(id(n), n))),
      [times(90, (n) => h2.headers(id(n), h2.get(BIG_REPLY))), times(90, (n) => h2.reset(id(n)))],
      times(count, (n) => join(h2.headers(id(n), h2.get()), h2.window(id(n), 0))),
    ];
  },
  'small frames': ({ key, chance }, at) => {
    const count = chance.whole(1, 4_000);
    return [
      times(count, () => h2.ping()),
      times(count, () => h2.settings()),
      times(Math.min(count, 2_000), () =>
        h2.settings([1, chance.whole(0, 2 ** 32 - 1)], [4, chance.whole(0, 2 ** 31)]),
      ),
      times(count, (n) => h2.priority(1 + 2 * (n % 5_000), 1 + 2 * ((n * 7) % 5_000), n % 256)),
      times(count, (n) => h2.frame(11 + (n % 240), n & 255, n, 'x'.repeat(n % 50))),
      [open(at, key), times(count, () => h2.data(at, ''))],
      [
        open(at, key),
        times(Math.min(count, 3_000), () => h2.frame(0, 8, at, `\xff${'\0'.repeat(255)}`)),
      ],
      [open(at, key), times(count, () => h2.data(at, ' '))],
      times(count, () => h2.window(0, 1)),
      [open(at, key), times(count, () => h2.window(at, 1))],
      times(count, () => h2.goaway(0)),
      times(count, () => h2.ping(1)),
      times(count, () => h2.ACK),
    ];
  },
  'headers without end': ({ chance }, at) => {
    const begun = h2.headers(at, h2.get(), { whole: false });
    return [
      [begun, times(chance.whole(1, 4_000), () => h2.continuation(at))],
      [begun, times(chance.whole(1, 3_000), () => h2.continuation(at, h2.fields([['a', 'b']])))],
      [
        begun,
        times(chance.whole(1, 60), () =>
          h2.continuation(at, h2.fields([['a', 'b'.repeat(16_000)]])),
        ),
      ],
      [begun, h2.ping(), h2.headers(at + 2, h2.get())],
      [h2.continuation(at, h2.fields([['a', 'b']]), 4), h2.headers(at, h2.get())],
    ];
  },
  compression: ({ chance }, at) => {
    const table = (size: Buffer): Buffer => join(size, h2.fields(h2.get()));
    return [
      [h2.headers(at, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7f])), h2.headers(at + 2, h2.get())],
      [h2.headers(at, table(Buffer.from([0x3f, 0xe1, 0xff, 0xff, 0xff, 0x0f])))],
      [
        h2.headers(at, join(h2.fields(h2.get()), h2.indexed('a', 'b'.repeat(3_900)))),
        times(chance.whole(1, 150), (n) =>
          h2.headers(
            ids(at + 2)(n),
            join(h2.fields(h2.get()), Buffer.alloc(chance.whole(1, 16_000), 0xbe)),
          ),
        ),
      ],
      times(200, (n) =>
        join(h2.settings([1, n % 2 ? 0 : 2 ** 32 - 1]), h2.headers(ids(at)(n), h2.get())),
      ),
      [h2.headers(at, [...h2.get(), ...times(900, () => ['cookie', 'a'] as const)])],
      [
        h2.headers(at, Buffer.from(times(chance.whole(1, 16_000), () => chance.whole(0, 255)))),
        h2.headers(at + 2, h2.get()),
      ],
    ];
  },
  'frames that break the protocol': ({ key, chance }, at) => {
    const id = ids(at + 2);
    const bad: readonly Bytes[] = [
      ...[1, 2, 11, 0xffffffff].map((code) =>
        h2.goaway(code, at, 'z'.repeat(chance.whole(0, 16_000))),
      ),
      h2.ping(1),
      h2.ping(0, 7),
      join(h2.ACK, h2.ACK),
      h2.frame(4, 1, 0, '123456'),
      h2.frame(4, 0, 0, '12345'),
      h2.frame(4, 0, 1),
      h2.settings([2, 2]),
      h2.settings([4, 2 ** 31]),
      h2.settings([5, 1]),
      h2.settings([8, 1], [8, 0]),
      h2.settings([3, 0], [6, 0]),
      h2.reset(0),
      h2.reset(9_999_999),
      h2.frame(3, 0, at, '12'),
      h2.window(0, 0),
      h2.window(at, 0),
      join(h2.window(0, h2.MAX_WINDOW), h2.window(0, h2.MAX_WINDOW)),
      join(h2.window(at, h2.MAX_WINDOW), h2.window(at, h2.MAX_WINDOW)),
      h2.data(0, 'x'),
      h2.data(id(500), 'x'),
      h2.frame(0, 8, at, '\xffx'),
      h2.priority(at, at),
      h2.frame(1, 0x25, id(0), join(h2.number(id(0)), Buffer.from([5]), h2.fields(h2.get()))),
      h2.frame(5, 4, at, join(h2.number(2), h2.fields(h2.get()))),
      h2.headers(2, h2.get()),
      h2.headers(0, h2.get()),
      h2.headers(h2.MAX_WINDOW, h2.get()),
      h2.headers(at, h2.get()),
      h2.frame(0, 0, at, '', 2 ** 24 - 1),
      h2.frame(99, 0, 0, Buffer.alloc(16_385)),
      h2.frame(7, 0, 0, '123'),
      h2.frame(10, 0, 0, '\0\x01ah2=":1"'),
      h2.frame(16, 0, 0, '\0\0\0\x01u=1'),
      join(times(chance.whole(90, 400), (n) => h2.headers(id(n), [...h2.get(), ['UPPER', 'x']]))),
      join(
        times(chance.whole(90, 400), (n) =>
          join(
            h2.headers(id(n), [...h2.get(), ['connection', 'x']], { end: false }),
            h2.data(id(n), 'x'),
          ),
        ),
      ),
      join(
        times(chance.whole(90, 400), (n) =>
          join(
            h2.headers(id(n), h2.post(key, '/v1/rerank', [['content-length', '3']]), {
              end: false,
            }),
            h2.data(id(n), '{}}}}', true),
          ),
        ),
      ),
      join(times(300, (n) => h2.data(id(n), 'x'))),
    ];
    return bad.map((one) => [
      open(at, key),
      one,
      times(30, () => h2.data(at, 'x')),
      times(30, (n) => join(open(id(500 + n), key), h2.data(id(500 + n), 'x'))),
    ]);
  },
  'odd requests': ({ key, chance }, at) => {
    const id = ids(at);
    return [
      [
        h2.headers(
          at,
          [
            [':method', 'CONNECT'],
            [':authority', 'a:1'],
          ],
          { end: false },
        ),
        times(20, () => h2.data(at, 'x')),
      ],
      [
        h2.headers(
          at,
          [
            [':method', 'CONNECT'],
            [':protocol', 'websocket'],
            [':scheme', 'http'],
            [':path', '/'],
            [':authority', 'a'],
          ],
          { end: false },
        ),
        h2.data(at, 'x'),
      ],
      times(30, (n) =>
        join(
          h2.headers(
            id(n),
            h2.post(key, '/v1/rerank', [['expect', chance.pick(['100-continue', '200-maybe'])]]),
            { end: false },
          ),
          h2.data(id(n), BODY, true),
        ),
      ),
      [
        open(at, key),
        h2.data(at, BODY),
        h2.headers(at, [
          ['a', 'b'],
          ['__proto__', 'c'],
        ]),
        h2.headers(at, [['a', 'b']]),
      ],
      [open(at, key), h2.data(at, '{}'), h2.headers(at, h2.get())],
      [open(at, key), times(50, () => h2.headers(at, [['a', 'b']], { end: false }))],
      [
        h2.headers(at, [...h2.get(), [':path', '/x']]),
        h2.headers(id(1), h2.get().slice(0, 3)),
        h2.headers(id(2), []),
      ],
      ['', '*', 'http://x/y', '/%zz', '/\xff\0', '//', '?'].map((path, n) =>
        h2.headers(id(n), h2.get(path)),
      ),
      [
        h2.headers(at, [...h2.get(), ['host', 'b'], ['host', 'c']]),
        h2.headers(id(1), [...h2.get(), ['transfer-encoding', 'chunked']]),
        h2.headers(id(2), [...h2.get(), ['te', 'gzip']]),
      ],
      [h2.headers(at, [...h2.get(), ...times(15, () => ['a', 'b'.repeat(1_000)] as const)])],
      [h2.headers(at, [[':status', '100']]), h2.headers(id(1), [[':status', '200'], ...h2.get()])],
      [h2.headers(at, h2.get()), times(20, () => h2.data(at, 'x')), h2.headers(at, h2.get())],
      times(chance.whole(100, 1_000), (n) => h2.headers(id(n), h2.get())),
      times(chance.whole(100, 400), (n) => open(id(n), key)),
      [open(at, key), times(40, () => h2.data(at, ' '.repeat(16_384)))],
      times(50, (n) => ranking(id(n), key)),
    ];
  },
};

/** Those of the lots, before which there are others, and after which. */
const FIRST_ID = 201;
const LAST_ID = 50_001;

const STARTS: readonly Bytes[] = [
  h2.settings(),
  h2.settings([4, 0]),
  h2.settings([4, 1]),
  h2.settings([4, h2.MAX_WINDOW], [1, 0]),
  h2.settings([1, 2 ** 32 - 1], [5, 2 ** 24 - 1], [6, 1]),
];

/** On a connection of its own, at once or later, alone or beside other requests, and left in one of many ways. */
async function strike(field: Field, frames: Buffer): Promise<void> {
  const { chance, key } = field;
  const line = new Line(field);
  if (chance.hits(0.1)) line.stopReading();
  await line.connected();
  const start = join(h2.PREFACE, chance.hits(0.6) ? h2.settings() : chance.pick(STARTS));
  const beside = chance.hits(0.5) ? chance.whole(1, 95) : 0;
  const opened = times(beside, (n) =>
    chance.hits(0.8)
      ? open(ids(1)(n), chance.hits(0.5) ? key : 'no')
      : h2.headers(ids(1)(n), h2.get(BIG_REPLY)),
  );

  const tail = chance.hits(0.4)
    ? join(
        times(beside, (n) => h2.reset(ids(1)(n))),
        times(chance.whole(0, 900), (n) =>
          join(h2.headers(LAST_ID + 2 * n, h2.get('/v1/models')), h2.reset(LAST_ID + 2 * n)),
        ),
      )
    : '';
  if (chance.hits(0.3)) await line.write(join(start, opened, frames, tail));
  else {
    await line.write(start);
    await (chance.hits(0.5) ? line.answered() : sleep(chance.whole(0, 5)));
    await line.write(join(h2.ACK, opened));
    if (chance.hits(0.7)) await sleep(chance.whole(0, 30));
    if (chance.hits(0.7)) await line.write(join(frames, tail));
    else {
      const cut = chance.whole(0, frames.length);
      await line.write(frames.subarray(0, cut));
      await sleep(chance.whole(0, 20));
      await line.write(join(frames.subarray(cut), tail));
    }
  }
  if (chance.hits(0.1)) line.socket.end();
  await sleep(chance.whole(0, 80));
  if (chance.hits(0.3)) line.reset();
  else line.close();
}

/** Sessions that get no further than their beginning. */
async function halfBegun(field: Field): Promise<void> {
  const { chance } = field;
  const lines = times(chance.whole(10, 60), () => new Line(field));
  const whole = join(h2.PREFACE, h2.settings([4, 1]), h2.headers(1, h2.get()));
  await Promise.all(
    lines.map((line) => line.write(whole.subarray(0, chance.whole(1, whole.length)))),
  );
  await sleep(chance.whole(0, 200));
  for (const line of lines) {
    if (chance.hits(0.5)) line.reset();
    else line.close();
  }
}

/** Many big replies that nobody reads, with a byte of window now and then. */
async function noWindow(field: Field): Promise<void> {
  const { chance } = field;
  const line = new Line(field);
  const paths = [BIG_REPLY, '/docs', ...field.assets];
  await line.write(join(h2.PREFACE, h2.settings([4, chance.pick([0, 1, 1_000])])));
  await line.answered();
  await line.write(
    join(
      h2.ACK,
      times(95, (n) => h2.headers(1 + 2 * n, h2.get(chance.pick(paths)))),
    ),
  );
  await hold(field, line, 100, () =>
    line.write(
      join(
        times(20, (n) => h2.window(1 + 2 * n, 1)),
        h2.window(0, 1),
      ),
    ),
  );
}

export const HTTP2_ATTACKS: Readonly<Record<string, (field: Field) => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(LOTS).map(([name, lots]) => [
      `h2: ${name}`,
      (field: Field) =>
        strike(
          field,
          lotOf(name, field, () => lots(field, FIRST_ID)),
        ),
    ]),
  ),
  'h2: half begun': halfBegun,
  'h2: no window': noWindow,
};
