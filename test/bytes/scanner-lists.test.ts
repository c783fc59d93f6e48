import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { ROW, Walk } from '../../src/bytes/scanner.js';

/** Lists of short strings and of numbers, of which the walk judges many at once: held to the plain parser. */

const NAMES = [{ name: 'documents' }];
const WINDOW = 65_536;

/** What the plain parser makes of a text; `undefined` if it is not JSON. */
function parsed(json: string): { readonly documents: unknown } | undefined {
  try {
    return JSON.parse(json) as { readonly documents: unknown };
  } catch {
    return undefined;
  }
}

function areStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Commas, arrays and objects. */
function valuesIn(json: string): number {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/[,[{]/g)?.length ?? 0;
}

function walkOver(body: Buffer, names = NAMES): Walk {
  const walk = new Walk(body, names);
  walk.go();
  return walk;
}

/** Holds a walk over the text to the plain parser, with as many bytes of it in the first window. */
function compare(json: string, inFirst: number): void {
  const before = Math.max(0, WINDOW - inFirst);
  const body = Buffer.from(' '.repeat(before) + json);
  const plain = parsed(json);
  const judged = walkOver(body, []);
  if (plain === undefined) {
    expect(judged.isValid).toBe(false);
    return;
  }
  expect([judged.isValid, judged.values]).toEqual([true, valuesIn(json)]);
  const { list } = walkOver(body);
  const { documents } = plain;
  if (!areStrings(documents)) return;
  if (list === undefined) throw new Error('a list of strings is not found');
  const { rows, count, blanks } = list;
  const places = documents.map((_, index) => rows.subarray(index * ROW, (index + 1) * ROW));
  const texts = places.map(([start, end]): unknown =>
    JSON.parse(body.toString('utf8', start, end)),
  );
  expect({
    ...{ texts, count, blanks },
    lengths: places.map((row) => row[4]),
    areWhole: places.every(([start, end, text, behind]) => start === text && end === behind),
  }).toEqual({
    texts: documents,
    count: documents.length,
    blanks: documents.flatMap((text, index) => (text.trim() === '' ? [index] : [])),
    lengths: documents.map((text) => Buffer.byteLength(text)),
    areWhole: true,
  });
}

/** As it is; or with something put in the place of a few characters. */
function mutated(json: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const put = fc.constantFrom(
    ...['', '', '"', '\\', ',', ' ', '\n', '\t', '\0', '[', ']', '{', '}', ':', '0', '-', '+', '.'],
    ...['e', 'E', 'x', '汉', ',,', '""', '" "', '","', '0.', '1e', '\\u', 'null', ' ,', '\u00a0'],
  );
  const change = fc.tuple(fc.nat(), fc.nat(2), put);
  return fc.oneof(
    json,
    fc.tuple(json, change).map(([text, [at, size, other]]) => {
      const place = at % (text.length + 1);
      return (text.slice(0, place) + other + text.slice(place + size)).toWellFormed();
    }),
  );
}

const separator = fc.oneof(
  { weight: 4, arbitrary: fc.constant(',') },
  { weight: 3, arbitrary: fc.constant(', ') },
  { weight: 1, arbitrary: fc.constantFrom(',\n    ', ' , ', ' ,', ',\r\n\t', ',  ') },
);

/** A list of these, mostly with the same between them. */
function listOf(one: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  const between = fc.oneof(
    separator.map((same) => [same]),
    fc.array(separator, { minLength: 1, maxLength: 4 }),
  );
  return fc
    .tuple(fc.array(one, { maxLength }), between, fc.constantFrom('', '', ' ', '\n  '))
    .map(([ones, some, edge]) => {
      const text = ones.reduce(
        (list, next, at) => (at === 0 ? next : list + (some[at % some.length] ?? ',') + next),
        '',
      );
      return `[${edge}${text}${edge}]`;
    });
}

const part = fc.constantFrom(
  ...[
    'a',
    'of',
    'usb-c',
    ' ',
    'red shoes',
    '汉字',
    'カナ',
    'é',
    '🪐',
    '\u00a0',
    '\u3000',
    '\ufeff',
    '“q”',
  ],
  ...['\\n', '\\"', '\\\\', '\\/', '\\b', '\\\\\\"', '\\u0020', '\\u00e9', '\\ud83d\\ude00', ','],
  ...['", "'.replaceAll('"', '\\"'), '[', ']', 'twenty bytes and more', 'x'.repeat(61)],
);
const text = fc
  .oneof(
    { weight: 8, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(part, { maxLength: 40 }) },
  )
  .map((parts) => `"${parts.join('')}"`);
const number = fc.oneof(
  { weight: 4, arbitrary: fc.nat(99).map(String) },
  { weight: 2, arbitrary: fc.integer().map(String) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['0', '-0', '0.0', '-0.5', '1e5', '1E-5', '2.5e+10', '0e0', '9'.repeat(70), '1.0E+00'],
    ),
  },
);
const wrong = fc.constantFrom(
  ...['00', '01', '-01', '-', '+1', '.5', '1.', '1.e5', '1e', '1e+', '1.2.3', '1e5e5', '1e5.5'],
  ...['1-2', '1e--5', '--1', '1 2', '0x1', '1_000', 'Infinity', 'e5', '-e5', '-.5', '1e+-5', ''],
);

describe('a list of many short elements', () => {
  it('of strings is read as the plain parser reads it', () => {
    const json = fc
      .tuple(mutated(listOf(text, 40)), fc.nat(70))
      .map(([list, before]) => `{"q":"${'q'.repeat(before)}","documents":${list}}`);
    fc.assert(
      fc.property(json, fc.nat(400), (body, inFirst) => {
        compare(body, inFirst);
      }),
      { numRuns: 6_000 },
    );
  });

  it('of numbers is judged as the plain parser does', () => {
    const list = listOf(
      fc.oneof({ weight: 60, arbitrary: number }, { weight: 1, arbitrary: wrong }),
      40,
    );
    const nested = fc.oneof(list, listOf(list, 4));
    const json = fc
      .tuple(mutated(nested), fc.nat(70))
      .map(([vectors, before]) => `{"${'q'.repeat(before)}":${vectors},"documents":[]}`);
    fc.assert(
      fc.property(json, fc.nat(400), (body, inFirst) => {
        compare(body, inFirst);
      }),
      { numRuns: 6_000 },
    );
  });

  it('of whatever kinds is read as the plain parser reads it', () => {
    const other = fc.constantFrom('null', 'true', 'false', '{}', '[]', '{"a":1}', '["b","c"]');
    const element = fc.oneof(
      { weight: 6, arbitrary: text },
      { weight: 6, arbitrary: number },
      { weight: 1, arbitrary: other },
    );
    const json = fc
      .tuple(mutated(listOf(element, 30)), listOf(text, 5))
      .map(([list, texts]) => `{"x":${list},"documents":${texts},"y":${list}}`);
    fc.assert(
      fc.property(json, fc.nat(400), (body, inFirst) => {
        compare(body, inFirst);
      }),
      { numRuns: 4_000 },
    );
  });

  it.each([
    ['strings', Array.from({ length: 24 }, (_, at) => 'x'.repeat((at * 7) % 23) + '\\"é')],
    ['numbers', Array.from({ length: 40 }, (_, at) => (at % 3 === 0 ? -at / 7 : at * at))],
  ])('of %s is read the same wherever a window ends', (_name, list) => {
    for (const space of ['', ' ']) {
      const json = JSON.stringify({ v: list, documents: ['a', 'b', ' ', 'c'], w: [list] });
      const body = json.replaceAll(',', `,${space}`);
      for (let inFirst = 0; inFirst <= Buffer.byteLength(body) + 1; inFirst += 1) {
        compare(body, inFirst);
      }
    }
  });

  it('ends with the text, whatever was in the window before', () => {
    const list = {
      documents: ['a', 'b\\n', '汉字', 'c'],
      v: [1, 2.5, -3e5, 4],
      w: ['d', 'e', 'f'],
    };
    const whole = Buffer.from(JSON.stringify(list));
    for (let cut = 0; cut < whole.length; cut += 1) {
      expect(walkOver(whole).isValid).toBe(true);
      expect(walkOver(whole.subarray(0, cut)).isValid).toBe(false);
    }
  });

  it('notes more of them than there is room for at once', () => {
    const documents = Array.from({ length: 30_000 }, (_, at) => (at % 7 === 0 ? '' : `${at}`));
    compare(JSON.stringify({ documents }), WINDOW);
  });
});
