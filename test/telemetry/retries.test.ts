import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from '../../src/store/store.js';
import { Retries } from '../../src/telemetry/retries.js';

describe('Retries', () => {
  it('end a wait that the end of the process cuts short, and give up', async () => {
    const away = new StoreUnavailableError('away');
    const retries = new Retries(() => 0);
    let tries = 0;
    const failed = retries.of(() => {
      tries += 1;
      return Promise.reject(away);
    });
    await Promise.resolve();

    retries.giveUpFrom(0);

    expect(await failed).toEqual({ error: away });
    expect(tries).toBe(2);
  });

  it('do not begin a wait that the end of the process would cut short', async () => {
    const away = new StoreUnavailableError('away');
    const retries = new Retries(() => 0);
    let tries = 0;
    retries.giveUpFrom(100);

    const failed = await retries.of(() => {
      tries += 1;
      return Promise.reject(away);
    });

    expect([failed, tries]).toEqual([{ error: away }, 1]);
  });

  it('do not repeat what the store refuses', async () => {
    const error = new Error('refused');

    expect(await new Retries(() => 0).of(() => Promise.reject(error))).toEqual({ error });
    expect(await new Retries(() => 0).of(() => Promise.resolve())).toBeUndefined();
  });
});
