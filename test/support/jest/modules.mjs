/** How Node finds what a suite imports: the files of `test` anew for each suite, all others once for each process. */
const TESTS = new URL('../../', import.meta.url).href;
const GLOBALS = new URL('globals.mjs', import.meta.url).href;
const PASSWORD_COST = new URL('../password-cost.ts', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  if (specifier === './password-cost.js') return next(PASSWORD_COST, context);
  const found = await next(specifier, context);
  const suite = /\?suite=\d+$/.exec(context.parentURL ?? '')?.[0];
  const isOfSuite = suite !== undefined && found.url.startsWith(TESTS) && found.url.endsWith('.ts');
  return isOfSuite ? { ...found, url: found.url + suite } : found;
}
