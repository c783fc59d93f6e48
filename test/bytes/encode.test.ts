import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { JsonFragment, JsonText, MadeList, type JsonBody } from '../../src/bytes/fragment.js';
import {
  encodeEnclosed,
  encodeJson,
  encodeJsonInSteps,
  encodeReply,
  joinInSteps,
} from '../../src/bytes/encode.js';
import { bufferWithRoom, joinWithRoom } from '../../src/bytes/room.js';
import { Owned } from '../../src/bytes/memory.js';
import { sentDocuments } from '../../src/bytes/documents.js';
import { scanBody } from '../../src/bytes/scan.js';
import { documentsIn } from '../support/documents.js';

describe('encodeJsonInSteps', () => {
  const text = 'é"\n汉'.repeat(300_000);
  const strings = documentsIn(JSON.stringify([text, 'b', text]));
  const objects = documentsIn(JSON.stringify([{ text }, 'b', { text, id: 1 }]));

  it.each<[string, JsonBody]>([
    ['a list as it was sent', { query: 'é', documents: strings.texts() }],
    ['texts of objects', { documents: objects.texts(), top_n: 1 }],
    ['objects with texts', [objects.objects('content')]],
    ['sources', { documents: objects.sources() }],
    ['several lists', [strings.texts(), objects.sources()]],
    ['no fragment', { a: [1, 'b', null] }],
    ['a long query', { query: text, documents: strings.texts(), n: [{ a: 1 }] }],
    ['a long query further in', { input: { query: `${text}🪐`, documents: strings.texts() } }],
  ])('writes the same bytes as in one go, and pauses on the way: %s', async (_name, body) => {
    let pauses = 0;
    const { bytes } = await encodeJsonInSteps(body, () => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(bytes.equals(encodeJson(body))).toBe(true);
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(bytes.length / 2_100_000));
  });
});

describe('joinInSteps', () => {
  it('takes much memory between two pauses', async () => {
    const done: string[] = [];
    const piece = Buffer.alloc(600_000, 'x');
    function* pieces(): Generator<Buffer> {
      done.push('piece');
      yield piece;
      yield piece;
    }

    await joinInSteps(pieces(), 1_200_000, () => {
      done.push('pause');
      return Promise.resolve();
    });

    expect(done).toEqual(['pause', 'pause', 'piece', 'pause', 'pause', 'pause', 'pause']);
  });
});

describe('texts in lists', () => {
  const text = 'é"\n汉🪐'.repeat(6_000);

  it.each<[string, JsonBody, number]>([
    ['many', { input: Array.from({ length: 100 }, (_, at) => `${at}${text}`) }, 3_000_000],
    ['a long one', { input: ['a', { content: text.repeat(100) }, 'b'] }, 3_600_000],
    ['many in objects', Array.from({ length: 90 }, (_, at) => ({ at, text })), 3_000_000],
  ])('are written in steps: %s', async (_name, body, units) => {
    let pauses = 0;
    const { bytes } = await encodeJsonInSteps(body, () => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(bytes.equals(encodeJson(body))).toBe(true);
    const joins = bytes.length / 1_048_576;
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(units / 300_000 + joins / 2));
  });
});

describe('a body whose texts have half a character', () => {
  const body = { id: 'a\ud800', texts: ['b', '\udc00', 'long \ud800'.repeat(60_000)], n: 1 };
  const whole = { ...body, id: 'a\ufffd', texts: body.texts.map((text) => text.toWellFormed()) };

  it('is written with another character in its place, at once and in steps', async () => {
    const { bytes: inSteps } = await encodeJsonInSteps(body, () => Promise.resolve());

    expect(JSON.parse(encodeJson(body).toString())).toEqual(whole);
    expect(JSON.parse(inSteps.toString())).toEqual(whole);
  });

  it('pauses on the way through many fragments', async () => {
    let pauses = 0;
    const fragments = Array.from({ length: 10_000 }, () => new JsonFragment(Buffer.from('1')));

    const { bytes } = await encodeJsonInSteps(fragments, () => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(bytes.length).toBe(20_001);
    expect(pauses).toBeGreaterThanOrEqual(20);
  });
});

describe('a body of values', () => {
  it('is written as the plain writer does it, at once and in steps', async () => {
    const value: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 3 });
    const number = fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN, Infinity, 1e21, 5e-324));
    const row = fc.record({ value, number, text: fc.string(), none: fc.constant(undefined) });
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.dictionary(fc.string(), value), async (rows, others) => {
        // A prototype is not a member of its own.
        const body = { rows, others: { ...others } } as JsonBody;

        expect(encodeJson(body).toString()).toBe(JSON.stringify(body));
        expect(
          (await encodeJsonInSteps(body, () => Promise.resolve())).bytes.equals(encodeJson(body)),
        ).toBe(true);
      }),
    );
  });

  it('has texts that are known to be JSON as they are', async () => {
    const body = { a: [new JsonText('1.0'), new JsonText('-2.0')], b: new JsonText('3.0') };

    expect(encodeJson(body).toString()).toBe('{"a":[1.0,-2.0],"b":3.0}');
    expect((await encodeJsonInSteps(body, () => Promise.resolve())).bytes.toString()).toBe(
      '{"a":[1.0,-2.0],"b":3.0}',
    );
  });
});

describe('a body of documents', () => {
  const UNIT = 'a"é\n汉';

  it('is written alike in every size, and says whether its memory is its own', async () => {
    const lengths = fc.array(fc.oneof(fc.nat(50), fc.nat(40_000), fc.nat(160_000)), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(lengths, fc.boolean(), fc.boolean(), async (list, areObjects, hasRoom) => {
        const texts = list.map((length, at) => `${at} ${UNIT.repeat(length)}`);
        const sent = areObjects ? texts.map((text, id) => ({ id, text })) : texts;
        const scanned = () => {
          const text = Buffer.from(JSON.stringify({ documents: sent }));
          const body = hasRoom ? joinWithRoom([text], text.length).bytes : text;
          const found = scanBody(body);
          if (found === undefined) throw new Error('the body is not scanned');
          const documents = sentDocuments(found);
          return { body, json: { query: UNIT, documents: documents.texts(), top_n: 1 } };
        };
        const expected = Buffer.from(JSON.stringify({ query: UNIT, documents: texts, top_n: 1 }));

        const [one, other] = [scanned(), scanned()];
        const written = [
          { body: one.body, encoded: encodeEnclosed(one.json) },
          {
            body: other.body,
            encoded: await encodeJsonInSteps(other.json, () => Promise.resolve()),
          },
        ];

        for (const { body, encoded } of written) {
          if (!(encoded instanceof Owned)) {
            expect(encoded.joined().equals(expected)).toBe(true);
            continue;
          }
          const { bytes } = encoded;
          expect(bytes.equals(expected)).toBe(true);
          if (bytes.length < 524_288) continue;
          expect(encoded.includes(bytes)).toBe(bytes.buffer !== body.buffer);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a list whose elements are made', () => {
  it('is written like one that is there, and few of them in one step', async () => {
    const text = (index: number): JsonBody => (index % 2 === 0 ? `"${index}"\ud83d` : { index });
    let made = 0;
    let most = 0;
    const list = new MadeList(1_000, (index) => {
      made += 1;
      most = Math.max(most, made);
      return text(index);
    });
    const pause = () => {
      made = 0;
      return Promise.resolve();
    };
    const plain = encodeJson({ list: Array.from({ length: 1_000 }, (_, at) => text(at)), n: 1 });

    const written = await encodeJsonInSteps({ list, n: 1 }, pause);
    expect(written.bytes.toString()).toBe(plain.toString());
    expect(most).toBeLessThan(100);
    expect(encodeJson({ list, n: 1 }).toString()).toBe(plain.toString());
    expect(encodeJson(new MadeList(0, text)).toString()).toBe('[]');
    expect((await encodeJsonInSteps(new MadeList(0, text), pause)).bytes.toString()).toBe('[]');
  });
});

describe('encodeReply', () => {
  const documents = documentsIn(JSON.stringify(['a"é\n'.repeat(1_000), { text: 'b', id: 1 }]));
  const bodyOf = (rows: number): JsonBody => ({
    id: 'é',
    results: Array.from({ length: rows }, (_, at) => ({
      document: documents.echo(at % 2),
      text: documents.textJson(at % 2),
    })),
  });

  it.each([1, 4, 100, 300, 600])(
    'says the same of %i rows, in one piece or in several',
    async (rows) => {
      const reply = encodeReply(bodyOf(rows));

      const whole = encodeJson(bodyOf(rows));
      expect(reply instanceof JsonFragment).toBe(whole.length >= 524_288);
      expect(reply.toString()).toBe(whole.toString());
      const joined = await encodeJsonInSteps(new JsonFragment(whole), () => Promise.resolve());
      expect(joined.bytes.equals(whole)).toBe(true);
      if (!(reply instanceof JsonFragment)) return;
      let pauses = 0;
      const { bytes: inSteps } = await encodeJsonInSteps(reply, () => {
        pauses += 1;
        return Promise.resolve();
      });
      expect(inSteps.equals(whole)).toBe(true);
      expect(pauses > 0).toBe(whole.length > 1_048_576);
    },
  );
});

describe('a body that is written around the documents where they lie', () => {
  const LISTS = [
    '{"documents":["a","b"],"query":"q"}',
    '{"query":"q","documents" : [ "a", "b" ] }',
    '{"query":"q","documents":[{"text":"a"},"b"]}',
  ];
  const documentsOf = (body: Buffer) => {
    const scanned = scanBody(body);
    if (scanned === undefined) throw new Error('the body is not scanned');
    return sentDocuments(scanned);
  };
  const roomy = (text: string) => joinWithRoom([Buffer.from(text)], Buffer.byteLength(text)).bytes;

  it('is the same as one that is copied, however long its other members are', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LISTS),
        fc.string({ unit: 'binary', maxLength: 2_000 }),
        fc.array(fc.integer(), { maxLength: 300 }),
        (text, query, rest) => {
          const bodyOf = (body: Buffer) => {
            const documents = documentsOf(body);
            return [documents.texts(), documents.sources()].map((list) =>
              encodeJson({ query, list, rest }),
            );
          };

          expect(bodyOf(roomy(text))).toEqual(bodyOf(Buffer.from(text)));
        },
      ),
    );
  });

  it('takes no memory of its own, and is made once', () => {
    const body = roomy(LISTS[0] ?? '');
    const documents = documentsOf(body);

    const first = encodeJson({ model: 'm', documents: documents.texts(), top_n: 2 });
    const second = encodeJson({ model: 'another', documents: documents.texts(), top_n: 1 });

    expect(first.buffer).toBe(body.buffer);
    expect(second.buffer).not.toBe(body.buffer);
    expect(first.toString()).toBe('{"model":"m","documents":["a","b"],"top_n":2}');
    expect(second.toString()).toBe('{"model":"another","documents":["a","b"],"top_n":1}');
    expect([documents.text(0), encodeJson(documents.echo(1)).toString()]).toEqual([
      'a',
      '{"text":"b"}',
    ]);
  });

  it('never lies over other documents, nor over memory that is not its own', () => {
    const body = roomy(LISTS[2] ?? '');
    const documents = documentsOf(body);
    const pooled = documentsOf(Buffer.from(LISTS[0] ?? ''));

    const reply = encodeJson({ results: [{ document: documents.echo(0) }] });
    const picked = encodeJson({ documents: documents.pick([1]).sources() });
    const other = encodeJson({ documents: pooled.texts() });

    expect(reply.toString()).toBe('{"results":[{"document":{"text":"a"}}]}');
    expect([reply.buffer, picked.buffer]).not.toContain(body.buffer);
    expect(other.toString()).toBe('{"documents":["a","b"]}');
    expect(documents.sources().bytes.toString()).toBe('[{"text":"a"},"b"]');
  });

  it('is copied if there is not enough room', () => {
    const body = bufferWithRoom(0).bytes;
    const long = 'x'.repeat(1_100);
    const list = new JsonFragment(body, true);

    for (const json of [
      { long, list },
      { list, long },
    ]) {
      expect(encodeJson(json).buffer).not.toBe(body.buffer);
    }
    expect(encodeJson({ list }).buffer).toBe(body.buffer);
  });
});
