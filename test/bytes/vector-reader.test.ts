import { describe, expect, it } from '@jest/globals';
import { Json } from '../../src/core/json.js';
import { PiecewiseParser, type PiecewiseResult } from '../../src/bytes/pieces.js';
import { LyingText, VectorReader } from '../../src/bytes/vector-reader.js';
import { Owned } from '../../src/bytes/memory.js';
import { brokenBytes } from '../support/mutated.js';
import { takeUncounted } from '../support/memory.js';
import { fc } from '../support/property.js';

function read(
  text: Buffer,
  pieceBytes?: number,
  values = Infinity,
): PiecewiseResult & { readonly steps: number } {
  const limits = { depth: 64, values };
  const parser = new PiecewiseParser(text, limits, pieceBytes, new VectorReader(text));
  for (let steps = 1; ; steps += 1) {
    const result = parser.step();
    if (result !== undefined) return { ...result, steps };
  }
}

/** The same as the plain parser has it. */
function plainly(value: unknown): unknown {
  if (value instanceof LyingText) return value.toString();
  if (value instanceof Float64Array || Array.isArray(value)) return Array.from(value, plainly);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainly(one)]));
}

/** What is read instead of lists and strings: it must not be nothing at all. */
function kindsIn(value: unknown): string[] {
  if (value instanceof LyingText) return ['text'];
  if (value instanceof Float64Array) return ['numbers'];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(kindsIn);
}

function expectLikePlain(text: string | Buffer, pieceBytes?: number): string[] {
  const bytes = Buffer.from(text);
  let plain: unknown;
  try {
    plain = JSON.parse(bytes.toString());
  } catch {
    expect(read(bytes, pieceBytes).kind).toBe('invalid');
    return [];
  }
  const result = read(bytes, pieceBytes);
  expect(result.kind).toBe('value');
  const value = 'value' in result ? result.value : undefined;
  expect(plainly(value)).toEqual(plain);
  return kindsIn(value);
}

const digits = (maxLength: number) =>
  fc.array(fc.nat(9), { minLength: 1, maxLength, size: 'max' }).map((each) => each.join(''));
/** A number as somebody may write it. */
const written = fc.oneof(
  { weight: 4, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
  { weight: 4, arbitrary: fc.float({ min: -1, max: 1, noNaN: true }).map(String) },
  fc.integer({ min: -128, max: 127 }).map(String),
  fc
    .tuple(fc.constantFrom('', '-'), digits(24), digits(24), fc.integer({ min: -400, max: 400 }))
    .map(([sign, whole, fraction, power]) => `${sign}${BigInt(whole)}.${fraction}e${power}`),
  fc.tuple(fc.nat(30), digits(20)).map(([zeros, rest]) => `0.${'0'.repeat(zeros)}${rest}`),
  digits(40).map((many) => BigInt(many).toString()),
  fc.constantFrom(
    ...['-0', '0', '0.0', '-0.0e5', '1e400', '-1E+400', '1e-400', '5e-324', '2.5e-324', '1E5'],
    ...['9007199254740993', '18446744073709551616', '0.1', '1.7976931348623159e308'],
  ),
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t\r');
const list = fc
  .tuple(fc.array(fc.tuple(space, written, space), { minLength: 1, maxLength: 60, size: 'max' }))
  .map(([numbers]) => `[${numbers.map((parts) => parts.join('')).join(',')}]`);
/** What is nearly such a list. */
const others = fc.oneof(
  list.map((text) => text.replace(/,[^,]*/, ',"0.5"')),
  list.map((text) => text.replace(/,[^,]*,/, ',null,')),
  list.map((text) => text.replace(']', `,${text}]`)),
  list.map((text) => text.replace(',', ',,')),
  list.map((text) => text.replace(']', ',]')),
  list.map((text) => text.replace(/(\d)/, '0$1')),
  list.map((text) => text.replace(',', ' ')),
  list.map((text) => text.replace('.', '.e')),
  fc.constantFrom('[]', '[ ]', '[[[]]]', '{}', 'null'),
);
const base64 = fc
  .uint8Array({ minLength: 700, maxLength: 1_200 })
  .map((bytes) => JSON.stringify(Buffer.from(bytes).toString('base64')));
const text = fc.oneof(
  base64,
  base64.map((one) => one.replace(/(.{100})./, '$1\\n')),
  base64.map((one) => one.replace(/(.{100})./, '$1é')),
  base64.map((one) => one.replace(/(.{100})./, '$1\u0001')),
);
const reply = fc
  .tuple(
    fc.array(fc.tuple(fc.oneof(list, list, list, text, others), space), { maxLength: 4 }),
    fc.constantFrom('{"index":0,"embedding":', '{"a":{"b":', '{', '[', ''),
  )
  .map(([values, before]) => {
    const after = before.replace(/[^{[]/g, '').replaceAll('{', '}').replaceAll('[', ']');
    const rows = values.map(([value, blank]) => `${blank}${before}${value}${after}`);
    return `{"data":[${rows.join(',')}],"usage":{"tokens":3}}`;
  });

describe('VectorReader', () => {
  takeUncounted();

  it('reads numbers and texts as the plain parser does, however they are written and cut', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(reply, fc.constantFrom(undefined, 40, 2_000), (json, pieceBytes) => {
        for (const kind of expectLikePlain(json, pieceBytes)) kinds.add(kind);
      }),
      { numRuns: 600 },
    );
    expect(kinds).toEqual(new Set(['numbers', 'text']));
  });

  it('refuses what the plain parser refuses', () => {
    const good = `{"data":[{"embedding":[${'0.125,-3e-2,'.repeat(10)}1]},{"embedding":"${'Ab0+'.repeat(300)}"}]}`;
    fc.assert(
      fc.property(brokenBytes(good, 0x7f), (bytes) => void expectLikePlain(bytes)),
      { numRuns: 600 },
    );
  });

  it('reads lists that are longer than what is looked at in one go, wherever they lie', () => {
    fc.assert(
      fc.property(
        fc.array(written, { minLength: 50, maxLength: 50 }),
        fc.array(fc.integer({ min: 100, max: 9_000 }), { minLength: 1, maxLength: 6 }),
        (numbers, lengths) => {
          const lists = lengths.map((length) => {
            const each = Array.from({ length }, (_, at) => numbers[at % numbers.length]);
            return `[${each.join(',')}]`;
          });
          expectLikePlain(`[${lists.join(',')}]`);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('reads long texts wherever they lie', () => {
    const texts = Array.from({ length: 300 }, (_, at) => 'x'.repeat(1_000 + 7 * at));
    const kinds = expectLikePlain(JSON.stringify(texts));

    expect(kinds.length).toBeGreaterThan(250);
  });

  it('leaves numbers that are longer than what is looked at to the plain parser', () => {
    expectLikePlain(`[1,${'7'.repeat(100_000)},2]`);
    expectLikePlain(`[1,${'7'.repeat(100_000)}`);
  });

  it('reads in steps, and counts the numbers', () => {
    const numbers = Buffer.from(JSON.stringify([Array.from({ length: 100_000 }, Math.random)]));

    expect(read(numbers).steps).toBeGreaterThan(20);
    expect(read(numbers, undefined, 100_001).kind).toBe('value');
    expect(read(numbers, undefined, 100_000)).toMatchObject({ kind: 'excess', excess: 'values' });
  });

  it('keeps the numbers off the heap, in memory that is left to others', () => {
    const length = 200_000;
    const text = Buffer.from(JSON.stringify(Array.from({ length }, (_, at) => at / length)));
    const vectors = new VectorReader(text);
    const parser = new PiecewiseParser(text, { depth: 64, values: Infinity }, undefined, vectors);
    let result = parser.step();
    while (result === undefined) result = parser.step();
    const numbers = 'value' in result ? (result.value as Float64Array) : new Float64Array();

    expect(numbers).toHaveLength(length);
    expect(numbers.buffer).toBeInstanceOf(SharedArrayBuffer);
    const taken = numbers.buffer.byteLength;
    expect(Owned.uncleared(taken, () => 0).bytes.buffer).not.toBe(numbers.buffer);
    vectors.giveBack();
    expect(Owned.uncleared(taken, () => 0).bytes.buffer).toBe(numbers.buffer);
  });

  it('is read like an array and a string', () => {
    const json = Buffer.from(
      JSON.stringify({ list: new Array(20).fill(0.5), text: 'a'.repeat(2_000) }),
    );
    const result = read(json);
    const root = new Json('value' in result ? result.value : undefined);

    expect(root.field('list').value).toBeInstanceOf(Float64Array);
    expect(root.field('list').isArray()).toBe(true);
    expect(root.field('list').isObject()).toBe(false);
    expect(root.field('list').item(3).number()).toBe(0.5);
    expect(root.field('list').map((one) => one.number())).toHaveLength(20);
    expect(root.field('text').string()).toBe('a'.repeat(2_000));
    expect(() => root.field('list').string()).toThrow('$.list should be a string and is array');
  });
});
