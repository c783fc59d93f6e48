import {
  assert as assertAll,
  configureGlobal,
  nat,
  string as anyString,
  type Arbitrary,
  type IAsyncProperty,
  type IProperty,
  type Parameters,
  type StringConstraints,
} from 'fast-check';
import { LONG, runs } from './long.js';

const MOST_RUNS = 1_000;

configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? (LONG ? Date.now() : 1)) });

export * from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };
const MOST_SIGN = 0x10ffff - SURROGATES.count;

/** Each sign of Unicode, as the unit `binary` has them, which counts all of them, for a second, before it is used. */
const sign = nat({ max: MOST_SIGN }).map(
  (at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text || !text.isWellFormed()) {
      throw new Error('not one sign');
    }
    return code < SURROGATES.from ? code : code - SURROGATES.count;
  },
);

export function string(constraints: StringConstraints = {}): Arbitrary<string> {
  return anyString(constraints.unit === 'binary' ? { ...constraints, unit: sign } : constraints);
}

export function assert<Ts>(property: IAsyncProperty<Ts>, params?: Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: IProperty<Ts>, params?: Parameters<Ts>): void;
/** Tries a property as often as `numRuns` says in a long run only, and at most a thousand times in any other. */
export function assert<Ts>(
  property: IAsyncProperty<Ts> | IProperty<Ts>,
  { numRuns = 100, ...others }: Parameters<Ts> = {},
): Promise<void> | void {
  return assertAll(property, { ...others, numRuns: runs(Math.min(numRuns, MOST_RUNS), numRuns) });
}
