import { SECONDS } from '../shapes/log.js';
import { partial, type ObjectOf } from '../shapes/shape.js';

/** From when and until when, both optional. */
export const SPAN = partial({
  start_timestamp: SECONDS.description('Unix seconds.'),
  end_timestamp: SECONDS.description('Unix seconds, that second included.'),
});

/** The same in milliseconds, for the store. */
export function spanOf({ start_timestamp: start, end_timestamp: end }: ObjectOf<typeof SPAN>): {
  readonly fromMs?: number;
  readonly toMs?: number;
} {
  return {
    ...(start === undefined ? {} : { fromMs: start * 1_000 }),
    ...(end === undefined ? {} : { toMs: end * 1_000 + 999 }),
  };
}
