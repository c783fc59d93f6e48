import { expect, it } from '@jest/globals';
import { createManagement } from '../../src/assembly/management.js';
import { loadConfig } from '../../src/config/load-config.js';

type Parts = Parameters<typeof createManagement>[2];

it('operations work with the settings of now, and know the channels in force', async () => {
  const usual = loadConfig({ env: {}, folder: 'none' });
  const gateway = { ...usual.gateway, allowPrivateUpstreams: true, allowMetadataUpstreams: false };
  const plan = { answers: ['moon', 'sun', 'sea'] };
  const parts = {
    upstreams: {},
    channels: {
      current: {
        byId: new Map([[7, { channel: { name: 'eu' } }]]),
        plans: new Map([['moon', plan]]),
      },
    },
  } as unknown as Parts;
  const deps = createManagement({ ...usual, gateway }, '1.2.3', parts);
  Object.assign(gateway, { deadlineMs: 1_234 });
  const { known, about } = deps;

  const names = await known.names();

  expect([names(7), names(8)]).toEqual(['eu', undefined]);
  expect([known.fallbacksOf('moon'), known.fallbacksOf('mars')]).toEqual([['sun', 'sea'], []]);
  expect([deps.deadlineMs, about.release, about.mail]).toEqual([1_234, '1.2.3', 'outbox']);
  expect([deps.allowPrivateUpstreams, deps.allowMetadataUpstreams]).toEqual([true, false]);
  expect(deps.openId).toBeUndefined();
});
