/** How Node finds what a suite imports: the files of `test` anew for each suite, all others once for each process. */
const TESTS = new URL('../../', import.meta.url).href;
const GLOBALS = new URL('globals.mjs', import.meta.url).href;
const REAL_COST = new URL('../../../src/management/password-cost.ts', import.meta.url).href;
const PASSWORD_COST = new URL('../password-cost.ts', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  const found = await next(specifier, context);
  const isOfTest = context.parentURL?.startsWith(TESTS) === true;
  // By what it leads to: newer versions of Node ask for it by another name.
  if (found.url === REAL_COST && !isOfTest) return { ...found, url: PASSWORD_COST };
  const suite = /\?suite=\d+$/.exec(context.parentURL ?? '')?.[0];
  const isOfSuite = suite !== undefined && found.url.startsWith(TESTS) && found.url.endsWith('.ts');
  return isOfSuite ? { ...found, url: found.url + suite } : found;
}
