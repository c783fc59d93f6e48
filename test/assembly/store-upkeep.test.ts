import { expect, it } from '@jest/globals';
import { announceConfig } from '../../src/assembly/store-upkeep.js';
import { DEFAULT_PRICE } from '../../src/core/quota.js';
import { freshManagement, NOW } from '../support/management.js';

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
