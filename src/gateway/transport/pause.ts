import { setImmediate } from 'node:timers/promises';

/** A pause in a long computation: resolves when others have had their turn of the event loop. */
export function pause(): Promise<void> {
  return setImmediate();
}
