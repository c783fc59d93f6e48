import { fc } from './property.js';

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, '', ' ', 0, -1, 1.5, 1e308, true, [], {}, [[]], [{}], ['a', 1]),
  fc.constantFrom<unknown>('\ud800', '\u0000', '__proto__', ['\ud83d'], [''], { text: 1 }),
  fc.constantFrom<unknown>(['q', 'q'], [['a', 'b']], [{ text: 'a' }], { text: 'a' }, 'NONE', '5'),
);
const steps = fc.array(fc.nat(12), { minLength: 1, maxLength: 5 });

/** A JSON text with a member replaced, left out or added at some depth. */
export function mutatedJson(json: string): fc.Arbitrary<string> {
  return fc
    .tuple(steps, junk, fc.nat(4))
    .map(([path, put, how]) => JSON.stringify(mutated(JSON.parse(json), path, put, how)));
}

/** A text with one of its bytes replaced. */
export function brokenBytes(text: string, largest: number): fc.Arbitrary<Buffer> {
  const good = Buffer.from(text);
  return fc.tuple(fc.nat(good.length - 1), fc.nat(largest)).map(([at, byte]) => {
    const body = Buffer.from(good);
    body[at] = byte;
    return body;
  });
}

function mutated(value: unknown, path: readonly number[], put: unknown, how: number): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return put;
  if (Array.isArray(value)) {
    if (value.length === 0) return [put];
    const at = step % value.length;
    return value.map((item: unknown, index) =>
      index === at ? mutated(item, rest, put, how) : item,
    );
  }
  const names = Object.keys(value);
  const name = names[step % Math.max(1, names.length)] ?? 'query';
  const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
  if (how === 0) return others;
  if (how === 1) return { ...value, [['top_n', 'top_k', 'texts', 'x'][step % 4] ?? 'x']: put };
  return { ...others, [name]: mutated(member, rest, put, how) };
}
