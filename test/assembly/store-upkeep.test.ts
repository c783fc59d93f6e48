import { expect, it } from '@jest/globals';
import { announceConfig, keepUp } from '../../src/assembly/store-upkeep.js';
import { DEFAULT_PRICE } from '../../src/core/quota.js';
import type { Background } from '../../src/gateway/background.js';
import type { Store } from '../../src/store/store.js';
import { freshManagement, NOW } from '../support/management.js';

const DAY_MS = 24 * 3_600_000;
const management = freshManagement();

it('a switch of the configuration is set once, and then is what people make of it', async () => {
  const { store } = management;
  const config = {
    ...{ channels: undefined, prices: { models: {}, fallback: DEFAULT_PRICE } },
    tags: [{ tag: 'eu', disabled: true, reason: 'moving' }],
  };
  const switches = async () => (await store.loadChannels()).switches;

  await announceConfig(config, store, NOW);
  expect(await switches()).toMatchObject([{ tag: 'eu', disabled: true, changedBy: 'config' }]);

  const on = { tag: 'eu', disabled: false, reason: undefined, changedTime: 5, changedBy: 'ann' };
  await store.setTagSwitch(on);
  await announceConfig(config, store, NOW);
  expect(await switches()).toEqual([on]);
});

it.each([
  ['as long as the others', 0, 30],
  ['longer', 400, 400],
])('entries of the audit log are kept %s', (_, auditDays, kept) => {
  const trimmed: (number | undefined)[] = [];
  const store: Store = {
    ...management.store,
    trimLogs: (...olderThanMs) => Promise.resolve(trimmed.push(...olderThanMs)),
  };
  const run = (_what: string, work: () => Promise<unknown>): void => void work();

  const stop = keepUp(store, () => NOW, { run } as Background, { retentionDays: 30, auditDays });
  stop.stopTrimming();
  stop.stopRecovering();

  expect(trimmed).toEqual([NOW - 30 * DAY_MS, NOW - kept * DAY_MS]);
});
