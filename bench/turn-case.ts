/** What a request of `turns.ts` is made of. */

export const ENGLISH =
  'Keys are "rotated" every ninety days;\nwhoever holds the owner role may do it earlier. ';
export const CHINESE = '签名密钥每九十天轮换一次，持有“所有者”角色的人可以提前轮换。';
export const ACCENTS = 'a\u0301\u0323\u0302';

/** Text of `units` UTF-16 units. */
export function textOf(seed: string, units: number): string {
  return seed.repeat(Math.ceil(units / seed.length)).slice(0, units);
}

export function textsOf(seed: string, count: number, units: number): string[] {
  return Array.from({ length: count }, (_, at) => `${at} ${textOf(seed, units / count)}`);
}

export interface Case {
  readonly model: string;
  readonly query?: string;
  readonly documents: () => readonly unknown[];
  readonly more?: Readonly<Record<string, unknown>>;
  /** For those that are not in the main form. */
  readonly form?: Form;
  /** What is sent for the body, if it is not just that as JSON. */
  readonly written?: (body: object) => string | Buffer;
  /** How often it is sent, if not as often as the others. */
  readonly times?: number;
  /** After how many milliseconds the caller leaves. */
  readonly leavesMs?: number;
}

interface Asked {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly unknown[];
}

export interface Form {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: (asked: Asked) => object;
}
