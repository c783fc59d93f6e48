import { GatewayError, withBeside } from '../core/errors.js';

/**
 * A change that may name the revision that it was made from. If somebody else was faster, the refusal has beside its message
 * what there is now, as `read` shows it.
 */
export async function orPresent<T>(change: Promise<T>, read: () => Promise<object>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.param !== 'if_revision') throw error;
    throw withBeside(error, { data: await read() });
  }
}
