import { describe, expect, it, jest } from '@jest/globals';
import { fc } from '../support/property.js';
import {
  PiecewiseParser,
  type Keeps,
  type Kept,
  type PiecewiseResult,
} from '../../src/bytes/pieces.js';
import type { ParseLimits } from '../../src/bytes/scan.js';
import { isRecord } from '../../src/core/records.js';

const NO_LIMITS = { depth: 1_000, values: 1_000_000 };
/** Small ones, so that short texts have many. */
const PIECE_BYTES = 24;

function parse(
  text: Buffer,
  pieceBytes = PIECE_BYTES,
  limits: ParseLimits = NO_LIMITS,
  keeps: Keeps = 'all',
): PiecewiseResult {
  const parser = new PiecewiseParser(text, limits, pieceBytes, undefined, keeps);
  for (let steps = 0; steps <= text.length * 4 + 4; steps += 1) {
    const result = parser.step();
    if (result !== undefined) return result;
  }
  throw new Error('the parser does not come to an end');
}

function isObject(result: PiecewiseResult | undefined): boolean {
  return result?.kind === 'value' && isRecord(result.value);
}

/** What the plain parser says. */
function oracle(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function expectLikePlain(text: string, pieceBytes?: number): void {
  const bytes = Buffer.from(text);
  const plain = oracle(bytes.toString());
  const result = parse(bytes, pieceBytes);
  if (plain === undefined) expect(result.kind).toBe('invalid');
  else {
    expect(result).toEqual({ kind: 'value', value: plain.value });
    // Equality does not see the order of members.
    expect(JSON.stringify('value' in result ? result.value : undefined)).toBe(
      JSON.stringify(plain.value),
    );
  }
}

describe('PiecewiseParser', () => {
  it.each([
    ['nothing', ''],
    ['blanks', ' \n '],
    ['a number', ' 12 '],
    ['a short string', '"a"'],
    ['a long string', `"${'a'.repeat(200)}"`],
    ['a long string with escapes at every place', `"${'\\u00e4\\n\\\\'.repeat(50)}"`],
    ['a long string of backslashes', `"${'\\\\'.repeat(100)}"`],
    ['a long string with quotes', `"${'\\"'.repeat(100)}"`],
    ['a long string of other scripts', `["${'签名ключ😀'.repeat(30)}"]`],
    ['escaped pairs and lone halves', `["${'\\ud83d\\ude00\\ud83dx\\ude00'.repeat(20)}"]`],
    ['a long string with a bad escape', `"${'a'.repeat(100)}\\x${'a'.repeat(100)}"`],
    ['a long string with a control character', `["${'a'.repeat(100)}\u0001${'a'.repeat(100)}"]`],
    ['a string that does not end', `["${'a'.repeat(100)}`],
    ['a long key', `{"${'k'.repeat(100)}":1}`],
    ['a list of much', JSON.stringify(Array.from({ length: 100 }, (_, index) => index))],
    ['a list in a list in a list', JSON.stringify([[[Array.from({ length: 50 }, () => 'abc')]]])],
    ['members twice', `{"a":1,"b":"${'x'.repeat(60)}","a":2,"c":[${'1,'.repeat(30)}1],"c":3}`],
    ['a member called __proto__', `{"__proto__":[${'1,'.repeat(30)}1],"a":1}`],
    ['a short member called __proto__', `{"__proto__":{"a":1},"a":"${'x'.repeat(60)}"}`],
    ['numbers as keys', `{"b":"${'x'.repeat(60)}","2":1,"1":"${'x'.repeat(60)}"}`],
    ['a blank list', `[${' '.repeat(60)}]`],
    ['blanks around everything', ` [ "${'x'.repeat(60)}" , { "a" : [ ${'1 , '.repeat(30)}1 ] } ] `],
    ['blanks before all', `${' '.repeat(200)}[1]`],
    ['blanks behind all', `[1]${'\n'.repeat(200)}`],
    ['blanks around a number', `${' '.repeat(99)}12${' '.repeat(99)}`],
    ['blanks in a list', `[1,${' '.repeat(99)}2${' '.repeat(99)},3,4${' '.repeat(99)}]`],
    [
      'blanks in an object',
      `{"a"${' '.repeat(99)}:${' '.repeat(99)}1,${' '.repeat(99)}"b":2${' '.repeat(99)}}`,
    ],
    ['blanks and a comma too many', `[1,${' '.repeat(99)}]`],
    ['blanks and no comma', `[1${' '.repeat(99)}2]`],
    ['blanks in a number', `[1${' '.repeat(99)}.5]`],
    ['blanks and something behind all', `[1]${' '.repeat(99)}x`],
    ['a number of many digits', `[${'7'.repeat(300)},0.${'3'.repeat(300)}]`],
    ['a comma too many', `["${'x'.repeat(60)}",]`],
    ['a comma too many in an object', `{"a":"${'x'.repeat(60)}",}`],
    ['a comma too early', `[,"${'x'.repeat(60)}"]`],
    ['two commas', `["${'x'.repeat(60)}",,1]`],
    ['two commas around blanks', `[1,${' '.repeat(60)},2]`],
    ['no comma', `["${'x'.repeat(60)}" "${'x'.repeat(60)}"]`],
    ['no comma before a list', `["${'x'.repeat(60)}" [${'1,'.repeat(30)}1]]`],
    ['something behind a part', `["${'x'.repeat(60)}" 5]`],
    ['something before a part', `[5 "${'x'.repeat(60)}"]`],
    ['a minus before a part', `{"a":-"${'x'.repeat(60)}"}`],
    ['a member without a key', `{"${'x'.repeat(60)}"}`],
    ['a part without a key', `{[${'1,'.repeat(30)}1]}`],
    ['a part with two keys', `{"a":"b":[${'1,'.repeat(30)}1]}`],
    ['a key in a list', `["a":"${'x'.repeat(60)}"]`],
    ['a list that is closed as an object', `[${'1,'.repeat(30)}1}`],
    ['a list that is not closed', `[${'1,'.repeat(30)}1`],
    ['a list that is closed twice', `[${'1,'.repeat(30)}1]]`],
    ['two values', `[${'1,'.repeat(30)}1] [1]`],
    ['two values with a comma', `[${'1,'.repeat(30)}1],1`],
    ['a value and a comma', `[${'1,'.repeat(30)}1],`],
    ['words', `[${'true,false,null,'.repeat(20)}nul]`],
  ])('reads %s as the plain parser does', (_name, text) => {
    expectLikePlain(text);
    expectLikePlain(text, 1_000);
  });

  it('reads blanks anywhere as the plain parser does', () => {
    const spaced = fc
      .tuple(fc.json({ maxDepth: 4 }), fc.array(fc.nat(90), { minLength: 1, maxLength: 5 }))
      .map(([text, blanks]) =>
        text.replace(/[[\]{},:]/g, (token, at: number) => {
          const blank = (side: number) => ' '.repeat(blanks[(at + side) % blanks.length] ?? 0);
          return blank(0) + token + blank(1);
        }),
      );
    fc.assert(fc.property(spaced, fc.integer({ min: 16, max: 60 }), expectLikePlain), {
      numRuns: 500,
    });
  });

  it('judges text of which it keeps nothing as any other', () => {
    const json = fc.oneof(
      fc.json({ maxDepth: 6 }),
      fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    );
    const mutated = fc
      .tuple(json, fc.nat(), fc.constantFrom('', '"', ',', '[', '}', ':', '\\', '0', ' '))
      .map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      });
    const limits = { depth: 5, values: 40, members: 6, keyBytes: 30 };
    const sizes = fc.integer({ min: 16, max: 60 });
    fc.assert(
      fc.property(fc.oneof(json, mutated), sizes, (text, pieceBytes) => {
        const [bare, whole] = (['nothing', 'all'] as const).map((keeps) =>
          parse(Buffer.from(text), pieceBytes, limits, keeps),
        );

        if (whole?.kind !== 'value') expect(bare).toEqual(whole);
        else expect(isObject(bare)).toBe(isObject(whole));
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps of an object what it is told to', () => {
    const member = fc.tuple(fc.constantFrom('a', 'b', '\\u0061', 'c', '__proto__'), fc.json());
    const body = fc
      .array(member, { maxLength: 8 })
      .map((members) => `{${members.map(([name, json]) => `"${name}" : ${json}`).join()}}`);
    const keeps = (name: string, textBytes?: number): Kept => {
      if (name === 'a') return 'whole';
      if (name === 'b') return textBytes === undefined ? 'whole' : 'length';
      return 'little';
    };
    fc.assert(
      fc.property(body, fc.integer({ min: 16, max: 60 }), (text, pieceBytes) => {
        const plain = JSON.parse(text) as Record<string, unknown>;
        const result = parse(Buffer.from(text), pieceBytes, NO_LIMITS, keeps);
        const kept = ('value' in result ? result.value : undefined) as Record<string, unknown>;

        expect(Object.keys(kept)).toEqual(Object.keys(plain));
        for (const [name, value] of Object.entries(plain)) {
          const how = keeps(name, typeof value === 'string' ? value.length : undefined);
          if (how === 'whole') expect(kept[name]).toEqual(value);
          else if (typeof value !== 'string') expect(typeof kept[name]).toBe(typeof value);
          else if (how === 'length') expect(kept[name]).toHaveLength(value.length);
          else expect(value.startsWith(kept[name] as string)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    const long = `{"b":"${'x'.repeat(200)}","c":[${'1,'.repeat(99)}1],"a":"${'y'.repeat(200)}"}`;
    expect(parse(Buffer.from(long), PIECE_BYTES, NO_LIMITS, keeps)).toEqual({
      kind: 'value',
      value: { b: ' '.repeat(200), c: [], a: 'y'.repeat(200) },
    });
    const list = Buffer.from(`[${'"a",'.repeat(99)}1]`);
    expect(parse(list, PIECE_BYTES, NO_LIMITS, keeps)).toEqual({ kind: 'value', value: [] });
  });

  it('passes what is long and blank once', () => {
    const blank = ' '.repeat(300_000);
    const text = Buffer.from(`${blank}[1,${blank}2${blank}]${blank}`);
    const parser = new PiecewiseParser(text, NO_LIMITS);
    const read = jest.spyOn(text, 'toString');
    let result: PiecewiseResult | undefined;
    while (result === undefined) result = parser.step();

    expect(result).toEqual({ kind: 'value', value: [1, 2] });
    const lengths = read.mock.calls.map(([, start = 0, end = 0]) => end - start);
    expect(Math.max(...lengths)).toBeLessThan(140_000);
  });

  it('refuses a number of megabytes', () => {
    const text = Buffer.from(`[${'7'.repeat(2_000_000)}]`);
    expect(parse(text, 65_536)).toMatchObject({ kind: 'invalid' });
  });

  it.each([
    ['quotes', '"'.repeat(5_000_000)],
    ['words', 'neither quote nor bracket '.repeat(200_000)],
    ['a page', '<p>Words</p> '.repeat(400_000)],
    ['zeros', '\0'.repeat(5_000_000)],
    ['words for a member', `{"a":1,"b":${'neither quote nor bracket '.repeat(200_000)}}`],
    ['words for a key', `{"a":1,${'neither quote nor bracket '.repeat(200_000)}:1}`],
    ['two colons', `{"a":1,"b":2 ${':'.repeat(5_000_000)}}`],
  ])('finds out early that it is no JSON: %s', (_name, text) => {
    const bytes = Buffer.from(text);
    const read = jest.spyOn(bytes, 'toString');
    const parser = new PiecewiseParser(bytes, NO_LIMITS);
    let result: PiecewiseResult | undefined;
    while (result === undefined) result = parser.step();

    expect(result).toMatchObject({ kind: 'invalid' });
    const lengths = read.mock.calls.map(([, start = 0, end = 0]) => end - start);
    expect(Math.max(...lengths)).toBeLessThan(200_000);
  });

  it('keeps of long texts their beginnings, if that is wanted', () => {
    const beginning = 'x'.repeat(PIECE_BYTES);
    const value = { a: ['x'.repeat(200), { b: 'x'.repeat(200) }, 'short', 1], c: 'x'.repeat(99) };
    const text = Buffer.from(JSON.stringify(value));

    expect(parse(text, PIECE_BYTES, NO_LIMITS, 'beginnings')).toEqual({
      kind: 'value',
      value: { a: [beginning, { b: beginning }, 'short', 1], c: beginning },
    });
  });

  it('reads any value as the plain parser does, however it is cut', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 16, max: 200 }), expectLikePlain),
      { numRuns: 300 },
    );
  });

  it('refuses and reads mutated text as the plain parser does', () => {
    const mutated = fc
      .tuple(
        fc.json({ maxDepth: 5, noUnicodeString: false }),
        fc.nat(),
        fc.constantFrom(
          '',
          ',',
          '"',
          '\\',
          '[',
          ']',
          '{',
          '}',
          ':',
          ' ',
          '1',
          '\\u12',
          'null',
          '-',
        ),
        fc.integer({ min: 0, max: 2 }),
      )
      .map(([text, place, put, dropped]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + put + text.slice(at + dropped);
      });
    fc.assert(
      fc.property(mutated, fc.integer({ min: 16, max: 60 }), (text, pieceBytes) =>
        expectLikePlain(text.toWellFormed(), pieceBytes),
      ),
      { numRuns: 1_000 },
    );
  });

  it('tells where a text is wrong', () => {
    const text = `["ä${'x'.repeat(60)}",${'1,'.repeat(20)}nul]`;

    const result = parse(Buffer.from(text));

    // Behind the word that is cut short.
    const byte = Buffer.byteLength(text) - 1;
    expect(result).toEqual({ kind: 'invalid', byte });
  });

  it.each([
    ['depth', `${'['.repeat(4)}${']'.repeat(4)}`],
    ['values', '[1,2,3,4,5,6,7,8,9,10,11]'],
  ])('tells that there is too much of %s', (excess, text) => {
    const limits = { depth: 3, values: 10 };

    expect(parse(Buffer.from(text), PIECE_BYTES, limits)).toEqual({ kind: 'excess', excess });
  });

  it.each([
    ['members', '{"a":1,"b":2,"c":[1,2,3,4],"d":3}'],
    ['keyBytes', `{"a":1,"${'k'.repeat(40)}":2}`],
  ])('tells that an object has too much: %s', (excess, text) => {
    const limits = { ...NO_LIMITS, members: 3, keyBytes: 30 };
    const fits = text.replace(',"d":3', '').replace(/k+/, 'k'.repeat(25));

    expect(parse(Buffer.from(text), 16, limits)).toEqual({ kind: 'excess', excess });
    expect(parse(Buffer.from(fits), 16, limits)).toEqual({
      kind: 'value',
      value: JSON.parse(fits) as unknown,
    });
  });

  it('does a piece of work at a time', () => {
    const text = Buffer.from(JSON.stringify({ a: 'x\\"\n'.repeat(500_000), b: [['y'.repeat(9)]] }));
    const parser = new PiecewiseParser(text, NO_LIMITS);
    let steps = 1;
    while (parser.step() === undefined) steps += 1;

    expect(steps).toBeGreaterThan(text.length / 524_288);
  });
});
