import {
  assert as assertAll,
  configureGlobal,
  type IAsyncProperty,
  type IProperty,
  type Parameters,
} from 'fast-check';
import { LONG, runs } from './long.js';

const MOST_RUNS = 1_000;

configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? (LONG ? Date.now() : 1)) });

export * from 'fast-check';

export function assert<Ts>(property: IAsyncProperty<Ts>, params?: Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: IProperty<Ts>, params?: Parameters<Ts>): void;
/** Tries a property as often as `numRuns` says in a long run only, and at most a thousand times in any other. */
export function assert<Ts>(
  property: IAsyncProperty<Ts> | IProperty<Ts>,
  { numRuns = 100, ...others }: Parameters<Ts> = {},
): Promise<void> | void {
  return assertAll(property, { ...others, numRuns: runs(Math.min(numRuns, MOST_RUNS), numRuns) });
}
