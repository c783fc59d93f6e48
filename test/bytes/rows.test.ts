import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { Json } from '../../src/core/json.js';
import { NumberRows } from '../../src/bytes/index.js';
import { parseAroundRows } from '../../src/bytes/rows.js';

const read = (text: string) => parseAroundRows(Buffer.from(text), 1_000);

/** The whole value as the plain parser would have it. */
function plain(value: unknown): unknown {
  if (value instanceof NumberRows) return value.objects();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

const NUMBERS = [
  '0',
  '-0',
  '7',
  '-12',
  '0.5',
  '-0.0',
  '0.9990871548652649',
  '0.30000000000000004',
  '9007199254740993',
  '9007199254740991.5',
  '1e-7',
  '1E+3',
  '2.5e-10',
  '5e-324',
  '1.7976931348623157e308',
  '1e400',
  '1e-400',
  '123456789012345678901234567890',
  '0.000000000000000000000000000001',
  '3.14159265358979323846264338327950288',
  '4.35',
  '1e22',
  '1e23',
  '8.5e22',
];

describe('parseAroundRows', () => {
  it('keeps the numbers of one text while others are read', () => {
    const first = read('[{"index":1,"s":0.5},{"index":0,"s":2}]');
    read('[{"index":7,"s":7},{"index":8,"s":8},{"index":9,"s":9}]');
    const cut = read('[{"index":5,"s":5},{"index":');

    expect(first?.rows.values).toEqual([1, 0.5, 0, 2]);
    expect(cut).toBeUndefined();
  });

  it.each([
    ['a list', '[{"index":0,"score":0.5},{"index":1,"score":0.25}]'],
    ['a member', '{"id":"x","results":[{"index":0,"relevance_score":0.5}],"meta":{"a":[1]}}'],
    ['one number a row', '{"results":[{"score":1},{"score":-2.5}]}'],
    ['three numbers a row', '{"r":[{"a":1,"b":2,"c":3},{"a":4,"b":5,"c":6}]}'],
    ['blanks in rows', '{"results": [{"index": 0, "score": 0.5}, {"index": 1, "score": 0.25}]}'],
    ['line breaks', '{\n "results" : [\n {"i":1} ,\n {"i":2}\n ]\n}\n'],
    ['members before', '{"usage":{"total":[{"x":"y"}],"z":["]}"]},"n":null,"results":[{"i":1}]}'],
    [
      'words that are the same in all',
      '[{"o":"rank","document":null,"i":1,"ok":true},{"o":"rank","document":null,"i":2,"ok":true}]',
    ],
    ['rows in members of members', '{"o":{"p":{},"r":[{"i":1},{"i":2}],"n":1},"u":{"t":[5]}}'],
    ['lists before the rows', '{"w":["a",[1]],"e":[],"l":[{"a":"b"}],"r":[{"i":1}]}'],
    ['text beyond ASCII', '{"ü":"ä","r":[{"é":1},{"é":2}]}'],
    ['rows in a member with the name of a prototype', '{"__proto__":{"r":[{"i":1}]}}'],
    ['a string in one row', '{"results":[{"index":0,"text":"a b"}]}'],
    ['a word at the end', '[{"i":1,"d":null} , {"i":2,"d":null}]'],
    ['an earlier member of that name', '{"results":5,"results":[{"i":1}]}'],
  ])('reads %s as the plain parser does', (_name, text) => {
    const parsed = read(text);

    expect(parsed?.rows).toBeInstanceOf(NumberRows);
    expect(plain(parsed?.value)).toEqual(JSON.parse(text));
  });

  it.each([
    ['nothing', ''],
    ['a number', '5'],
    ['no list', '{"results":5}'],
    ['an empty list', '{"results":[]}'],
    ['a list of numbers', '[0.5,0.25]'],
    ['empty rows', '[{},{}]'],
    ['strings that differ', '{"r":[{"index":0,"text":"a"},{"index":1,"text":"b"}]}'],
    ['a string that differs in its end', '{"r":[{"i":0,"text":"a"},{"i":1,"text":"a "}]}'],
    ['returned documents', '[{"d":{"text":"1. a"},"i":1}, {"d":{"text":"x\\u0041"},"i":2}]'],
    ['an escaped string', '[{"a":"x\\n\\"","b":1},{"a":"\\\\","b":2}]'],
    ['a long string', `[{"a":"${'x'.repeat(70)}","b":1}]`],
    [
      'objects and lists in rows',
      '{"r":[{"d":{"text":"]}"},"l":[1,[]],"i":1},{"d":null,"l":7,"i":2}]}',
    ],
    ['numbers in strings', '[{"id":"3","score":0.5},{"id":"10","score":"0.25"}]'],
    ['numbers in objects', '[{"s":1,"m":{"n":2}},{"s":3,"m":{"n":4}}]'],
    ['a number with strings that spell some', '{"r":[{"i":0,"s":" -1.5e3"},{"i":1,"s":"2"}]}'],
    ['rows in too many objects', '{"a":{"b":{"c":{"r":[{"i":1}]}}}}'],
    ['an object that came again', '{"o":{"r":[{"i":1}]},"o":{}}'],
    ['an object that came again as a list', '{"o":{"r":[{"i":1}]},"o":[]}'],
    ['a raw line break in a returned document', '[{"d":{"t":"x\ny"},"i":1}]'],
    ['a word in a later row', '[{"d":"x","i":1},{"d":nul,"i":2}]'],
    ['nothing in a later row', '[{"d":"x","i":1},{"d":,"i":2}]'],
    ['a string that spells a number in another way', '[{"index":"+3","score":0.5}]'],
    ['a string that spells a number and more', '[{"index":"3 ","score":0.5}]'],
    ['a string that spells a number in some rows', '[{"i":"3","s":0.5},{"i":4,"s":0.5}]'],
    ['numbers in objects alone', '[{"a":{"b":1}},{"a":{"b":2}}]'],
    ['a raw line break in a string', '[{"a":"x\ny","b":1}]'],
    ['a string that does not end', '[{"b":1,"a":"x'],
    ['a word that is longer', '[{"a":nulls,"b":1}]'],
    ['nothing but words', '[{"a":null},{"a":null}]'],
    ['the same member twice, once a word', '[{"a":null,"a":1}]'],
    ['null in a later row', '{"results":[{"index":0,"score":1},{"index":1,"score":null}]}'],
    ['another order in a later row', '[{"a":1,"b":2},{"b":1,"a":2}]'],
    ['a longer later row', '[{"a":1},{"a":1,"b":2}]'],
    ['an object in a row, and no number', '[{"a":{"b":1}}]'],
    ['the same member twice in a row', '[{"a":1,"a":2}]'],
    ['an escaped key', '[{"\\u0061":1}]'],
    ['a prototype', '[{"__proto__":1}]'],
    ['rows as a prototype', '{"__proto__":[{"a":1}]}'],
    ['a later member of that name', '{"results":[{"a":1}],"results":5}'],
    ['a later text of that name', '{"results":[{"a":1}],"results":"(the rows)"}'],
    ['a leading zero', '[{"a":01}]'],
    ['a lone sign', '[{"a":-}]'],
    ['a plus sign', '[{"a":+1}]'],
    ['a point without digits', '[{"a":1.}]'],
    ['a point in front', '[{"a":.5}]'],
    ['an exponent without digits', '[{"a":1e}]'],
    ['an exponent of a sign', '[{"a":1e+}]'],
    ['NaN', '[{"a":NaN}]'],
    ['a cut row', '[{"a":1},{"a":'],
    ['a cut list', '{"results":[{"a":1},{"a":2}'],
    ['no comma between rows', '[{"a":1}{"a":2}]'],
    ['a trailing comma', '[{"a":1},]'],
    ['text behind the list', '[{"a":1}] x'],
    ['text behind the object', '{"r":[{"a":1}]} x'],
    ['a bad member', '{"x":tru,"r":[{"a":1}]}'],
    ['a bad member behind', '{"r":[{"a":1}],"x":tru}'],
  ])('leaves %s to the plain parser', (_name, text) => {
    expect(read(text)).toBeUndefined();
  });

  it.each(NUMBERS)('reads %s to the bit', (number) => {
    const text = `[{"a":${number},"b":0},{"a":1,"b":${number}}]`;
    const [first, second] = JSON.parse(text) as { a: number; b: number }[];

    const values = read(text)?.rows.values ?? [];

    expect(Object.is(values[0], first?.a)).toBe(true);
    expect(Object.is(values[3], second?.b)).toBe(true);
  });

  it('agrees with the plain parser on whatever it accepts', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.integer().map(String),
      fc.constantFrom(...NUMBERS),
      fc.tuple(fc.nat(), fc.bigInt({ min: 0n, max: 10n ** 20n })).map(([a, b]) => `${a}.${b}`),
    );
    const rows = fc
      .uniqueArray(fc.stringMatching(/^[a-z_]{1,8}$/), { minLength: 1, maxLength: 4 })
      .chain((keys) =>
        fc
          .array(fc.tuple(...keys.map(() => number)), { minLength: 1, maxLength: 12 })
          .map((list) =>
            list.map(
              (row) => `{${row.map((value, at) => `"${keys[at] ?? ''}": ${value}`).join(', ')}}`,
            ),
          ),
      );
    const members = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
    let taken = 0;
    fc.assert(
      fc.property(members, rows, members, fc.boolean(), (before, list, after, tight) => {
        const comma = tight ? ',' : ' ,\n';
        const inside = (value: object): string => JSON.stringify(value).slice(1, -1);
        const parts = [inside(before), `"rows":[${list.join(comma)}]`, inside(after)];
        const text = `{${parts.filter((part) => part !== '').join(comma)}}`;
        const parsed = read(text);
        if (parsed === undefined) return;
        taken += 1;
        expect(plain(parsed.value)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('reads lists of more than a window, and forms in turn', () => {
    const long = (rows: number, key: string) =>
      `{"r":[${Array.from({ length: rows }, (_, at) => `{"i":${at},"${key}":${at / 7}}`).join(', ')}]}`;
    const texts = [
      long(1_000, 's'),
      long(3, 'score'),
      long(900, 'score'),
      long(2, 's'),
      long(2, 's'),
    ];
    for (const text of [long(9_000, 's'), ...texts]) {
      expect(plain(parseAroundRows(Buffer.from(text), 9_000)?.value)).toEqual(JSON.parse(text));
    }
  });

  it('reads scores of as many digits as a double has to the bit', () => {
    const score = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.nat(60)),
    );
    fc.assert(
      fc.property(fc.array(score, { minLength: 1, maxLength: 20 }), (scores) => {
        const texts = scores.map((one) =>
          typeof one === 'number' ? JSON.stringify(one) : `${one[0]}e-${one[1]}`,
        );
        const { values = [] } =
          read(`[${texts.map((text) => `{"s":${text}}`).join(',')}]`)?.rows ?? {};

        expect(values).toEqual(texts.map(Number));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads numbers of however many digits to the bit, and never what is none', () => {
    const digits = fc
      .tuple(fc.constantFrom('', '0', '000', '9', '1'), fc.nat(23), fc.nat())
      .map(([head, size, seed]) => head + `${seed}4096`.repeat(6).slice(0, size));
    const exponent = fc.constantFrom('', '', '', '', 'e5', 'E-7', 'e+0', 'e', 'e-');
    const number = fc.oneof(
      fc.tuple(fc.constantFrom('0.', '0.', '-0.', '1.', '12.'), digits, exponent),
      fc.tuple(fc.constantFrom('', '', '-', '0'), digits, exponent),
    );
    const change = fc.tuple(fc.nat(30), fc.constantFrom('.', 'e', '-', '0', 'x', '/', ':', '"'));
    const text = fc.oneof(
      { weight: 6, arbitrary: number.map((parts) => parts.join('')) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(number, change)
          .map(([parts, [from, put]]) =>
            parts.join('').replace(new RegExp(`(?<=^.{${from}}).?`), put),
          ),
      },
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (numbers) => {
        const json = `[{"s":0.5,"i":0},${numbers.map((one) => `{"s":${one},"i":1}`).join()}]`;
        const found = read(json);
        let rows: unknown;
        try {
          rows = JSON.parse(json);
        } catch {
          rows = undefined;
        }
        if (rows === undefined) expect(found).toBeUndefined();
        if (found !== undefined) expect(plain(found.value)).toEqual(rows);
        else if (numbers.every((one) => /^-?[0-9.eE+-]+$/.test(one))) expect(rows).toBeUndefined();
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([7, 8, 15, 16, 17])('reads %i places the same wherever a window ends', (places) => {
    const score = `0.${'1234567890123456789'.slice(0, places)}`;
    const rows = Array.from({ length: 3_500 }, (_, index) => `{"i":${index},"s":${score}}`).join();
    for (let before = 0; before < 40; before += 1) {
      const { values = [] } =
        parseAroundRows(Buffer.from(`[${' '.repeat(before)}${rows}]`), 4_000)?.rows ?? {};
      expect(values.length).toBe(7_000);
      expect(values.every((one, at) => one === (at % 2 === 0 ? at / 2 : Number(score)))).toBe(true);
    }
  });

  it.each([
    '{"id":"x","results":[{"o":"r","index":0,"d":null,"score":0.5},{"o":"r","index":10,"d":null,"score":-2e3}],"n":1}',
    '{"o":{"r":[{"i":0,"s":0.5},{"i":10,"s":2}]},"n":[1]}',
  ])('never throws, and never accepts what is not JSON: %s', (valid) => {
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.string({ maxLength: 2 }), (at, put) => {
        const text = valid.slice(0, at) + put + valid.slice(at + 1);
        const parsed = read(text);
        if (parsed !== undefined) expect(plain(parsed.value)).toEqual(JSON.parse(text));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('NumberRows', () => {
  /** The bytes of the ranking by these members. */
  const writtenBy = (text: string, index = 'index', score = 'relevance_score') => {
    const rows = read(text)?.rows;
    return rows?.written(rows.ranked(index, score) ?? [])?.toString();
  };

  it('gives its bytes where they are written as in the contract', () => {
    const text = '[{"index":3,"relevance_score":0.50},{"index":0,"relevance_score":1e-7}]';

    expect(writtenBy(text)).toBe(text.slice(1, -1));
  });

  it.each([
    ['blanks', '[{"index": 3,"relevance_score":0.50}]', '0.50'],
    [
      'blanks between rows',
      '[{"index":3,"relevance_score":0.50}, {"index":1,"relevance_score":0.25}]',
      '0.50},{"index":1,"relevance_score":0.25',
    ],
    [
      'a blank before the comma',
      '[{"index":3,"relevance_score":0.50} ,{"index":1,"relevance_score":0.25}]',
      '0.50},{"index":1,"relevance_score":0.25',
    ],
    ['another order', '[{"relevance_score":0.50,"index":3}]', '0.50'],
    ['a further number', '[{"index":3,"relevance_score":0.50,"x":1}]', '0.50'],
    ['a word', '[{"o":"rank","index":3,"relevance_score":0.50}]', '0.50'],
    ['a score without a fraction', '[{"index":3,"relevance_score":-1}]', '-1.0'],
    ['an exponent', '[{"index": 3, "relevance_score": 1E-7}]', '1E-7'],
  ])('puts the contract’s words around its numbers where there is %s', (_name, text, score) => {
    expect(writtenBy(text)).toBe(`{"index":3,"relevance_score":${score}}`);
  });

  it.each(['0.5', '1.5', '1e0'])('does not write an index such as %s', (index) => {
    const rows = `{"index":3,"relevance_score":0.5},{"index":${index},"relevance_score":0.25}`;

    expect(writtenBy(`[${rows}]`)).toBeUndefined();
    expect(writtenBy(`[${rows.replaceAll(':', ': ')}]`)).toBeUndefined();
  });

  it('does so for other names', () => {
    const text = '[{"id":3,"score":0.50}]';

    expect(writtenBy(text, 'id', 'score')).toBe('{"index":3,"relevance_score":0.50}');
  });

  it.each([
    ['an index with a fraction', '[{"index":3.0,"relevance_score":0.5}]'],
    ['an index of minus zero', '[{"index":-0,"relevance_score":0.5}]'],
    ['a score of minus zero', '[{"index":0,"relevance_score":-0.0}]'],
    ['a score too small for a double', '[{"index":0,"relevance_score":-1.5e-330}]'],
    ['more digits than a double has', `[{"index":0,"relevance_score":0.${'9'.repeat(30)}}]`],
    ['no index', '[{"i":0,"relevance_score":0.5}]'],
    ['no score', '[{"index":0,"s":0.5}]'],
  ])('does not write %s', (_name, text) => {
    expect(read(text)?.rows).toBeInstanceOf(NumberRows);
    expect(writtenBy(text)).toBeUndefined();
  });

  it('does not write more than two thousand', () => {
    const text = `[${Array.from({ length: 2_049 }, () => '{"i": 1,"s":1}').join(',')}]`;
    const { rows } = parseAroundRows(Buffer.from(text), 3_000) ?? {};

    expect(rows?.count).toBe(2_049);
    expect(rows?.written(rows.ranked('i', 's') ?? [])).toBeUndefined();
  });

  it('does not write rows that were made otherwise, nor what is no longer there', () => {
    const { rows } = read('[{"index": 1,"relevance_score":0.5}]') ?? {};
    const ranked = rows?.ranked('index', 'relevance_score') ?? [];
    expect(rows?.written([...ranked])).toBeUndefined();
    read('[{"index": 2,"relevance_score":0.5}]');

    expect(rows?.written(ranked)).toBeUndefined();
  });

  it('writes what it has read, whatever form that had', () => {
    const someRows = fc.array(fc.tuple(fc.nat(9_999), fc.double({ noNaN: true })), {
      minLength: 1,
      maxLength: 40,
    });
    const someForm = fc.tuple(
      fc.constantFrom('', ' ', '\n  '),
      fc.constantFrom(
        ...['{"i":I,"s":S}', '{"s":S,"i":I}', '{"o":"x","s":S,"n":1,"i":I,"d":null}'],
      ),
    );
    fc.assert(
      fc.property(someRows, someForm, (list, [space, form]) => {
        const texts = list.map(([index, score]) =>
          form
            .replaceAll(/[:,]/g, `$&${space}`)
            .replace('I', String(index))
            .replace('S', JSON.stringify(Number.isFinite(score) ? score : 0.5)),
        );
        const { rows } = read(`{"r":[${texts.join(`,${space}`)}]}`) ?? {};
        const ranked = rows?.ranked('i', 's') ?? [];
        const written = rows?.written(ranked);
        if (written === undefined) return;
        const text = `[${written.toString()}]`;

        expect(JSON.parse(text)).toEqual(
          ranked.map(({ index, score }) => ({ index, relevance_score: score })),
        );
        expect(text).not.toMatch(/score":-?\d+}/);
      }),
      { numRuns: 500 },
    );
  });

  const scores = (text: string, ...wanted: (number | undefined)[]) =>
    read(text)?.rows.textsOf(wanted.map((score) => ({ score })));

  it('gives scores as they are written, from whichever column has them', () => {
    const text = '[{"s":0.50,"d":"x","i":1, "t": 2e-1},{"s":0.25,"d":"x","i":0, "t": -1.5E2}]';

    expect(scores(text, 0.5, 0.25)).toEqual(['0.50', '0.25']);
    expect(scores(text, 0.2, -150)).toEqual(['2e-1', '']);
    expect(scores(text, 0.5, 0.125)).toEqual(['0.50', '']);
    expect(scores(text, 1, 0)).toBeUndefined();
    expect(scores(text, 0.75, 0.25)).toBeUndefined();
    expect(scores(text, undefined, undefined)).toBeUndefined();
    expect(scores(text, 0.5)).toBeUndefined();
    expect(scores(`[{"s":0.5${'0'.repeat(30)}},{"s":0.25}]`, 0.5, 0.25)).toEqual(['', '0.25']);
  });

  it('gives no scores as they are written once others have been read', () => {
    const first = read('[{"s":0.50,"t":"a"},{"s":0.25,"t":"a"}]');
    read('[{"index":7,"s":7.5},{"index":8,"s":8.5},{"index":9,"s":9.5}]');

    expect(first?.rows.textsOf([{ score: 0.5 }, { score: 0.25 }])).toBeUndefined();
  });

  it('makes its objects once, however often they are asked for', () => {
    const { rows } = read('[{"a":1},{"a":2}]') ?? {};

    expect(rows?.objects()).toBe(rows?.objects());
  });

  it('reads as a list, and as nothing else', () => {
    const json = new Json(read('{"rows":[{"a":1},{"a":2}]}')?.value).field('rows');

    expect(json.isArray()).toBe(true);
    expect(json.isObject()).toBe(false);
    expect(json.array()).toEqual([{ a: 1 }, { a: 2 }]);
    expect(json.map((row) => row.field('a').number())).toEqual([1, 2]);
    expect(() => json.field('keys')).toThrow('$.rows should be an object and is array');
  });
});
