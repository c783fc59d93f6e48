import { expect, it } from '@jest/globals';
import { loadConfig } from '../../src/config/load-config.js';
import { Reload } from '../../src/process/reload.js';
import { createLogger } from '../../src/telemetry/log.js';

const config = loadConfig({ env: {}, folder: 'none' });

/** A reload whose steps end as they are told to, and what was put in force. */
function reloading(steps: { readonly check?: () => Promise<void>; readonly apply?: Error } = {}) {
  const applied: unknown[] = [];
  const { check = () => Promise.resolve(), apply } = steps;
  const reload = new Reload({
    ...{ load: () => config, check, logger: createLogger('silent') },
    apply: (next) => {
      applied.push(next);
      if (apply !== undefined) return Promise.reject(apply);
      return Promise.resolve({ applied: ['log.level'], needRestart: [] });
    },
  });
  return { reload, applied };
}

it('what cannot be put in force is dropped, though it was read without a mistake', async () => {
  const { reload, applied } = reloading({ check: () => Promise.reject(new Error('away')) });

  expect(await reload.prepare()).toBe('away');
  await reload.commit();

  expect([applied, reload.outcome]).toEqual([[], undefined]);
});

it('what was prepared is put in force once, and told with the time at which it was read', async () => {
  const { reload, applied } = reloading();

  expect(await reload.prepare(undefined, 1_000)).toBeUndefined();
  await reload.commit();
  await reload.commit();

  expect(applied).toEqual([config]);
  expect(reload.outcome).toEqual({ atMs: 1_000, applied: ['log.level'], needRestart: [] });
});

it('settings that fail to be put in force are told as unchanged', async () => {
  const { reload } = reloading({ apply: new Error('no') });

  await reload.prepare(undefined, 1_000);
  await reload.commit();

  expect(reload.outcome).toEqual({ atMs: 1_000, applied: [], needRestart: [], why: 'no' });
});
