/** Whether this is `npm run test:long`, which searches for hours what every other run searches for seconds. */
export const LONG = process.env.TEST_LONG === '1';

/** How often something is tried. */
export function runs(few: number, many: number): number {
  return LONG ? many : few;
}
