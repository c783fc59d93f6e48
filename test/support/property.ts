/** `fast-check` with the same values on every run, and others in a long one; `FUZZ_SEED=17` searches elsewhere. */
export * as fc from './fast-check.js';
