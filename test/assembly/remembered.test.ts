import { expect, it } from '@jest/globals';
import { beginStore } from '../../src/assembly/remembered.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { Background } from '../../src/gateway/background.js';
import type { Store } from '../../src/store/store.js';
import { createToken } from '../store/contract/harness.js';
import { freshManagement } from '../support/management.js';
import { until } from '../support/until.js';

const management = freshManagement();

it('a store that has lost writes is told again what this process knows, which asks it for keys again', async () => {
  const asked: string[] = [];
  const store: Store = {
    ...management.store,
    declareChannels(channels) {
      asked.push('declare');
      return management.store.declareChannels(channels);
    },
    async loadChannels() {
      return { ...(await management.store.loadChannels()), switches: [] };
    },
    setTagSwitch(one) {
      asked.push(`switch ${one.tag}`);
      return management.store.setTagSwitch(one);
    },
    keepSecret(_name, value) {
      asked.push(`keep ${value}`);
      return Promise.resolve('00'.repeat(16));
    },
    findToken(...given) {
      asked.push('find');
      return management.store.findToken(...given);
    },
  };
  const tags = [{ tag: 'eu', disabled: true, reason: undefined }];
  const config = { ...loadConfig({ env: {}, folder: 'none' }), channels: [], tags };
  const background = { run: (_what: string, work: () => unknown) => void work() };
  const { credentials, reactions } = await beginStore(config, {
    ...{ store, observe: () => undefined, now: management.deps.now },
    background: background as Background,
  });
  const { keyHash } = await createToken(management.store);
  await credentials.find(keyHash);
  await credentials.find(keyHash);
  const before = asked.splice(0);

  reactions.onStoreLost();
  await credentials.find(keyHash);

  const keep = expect.stringMatching(/^keep \w{32}$/);
  expect(before).toEqual(['declare', 'switch eu', keep, 'find']);
  await until('the configuration is declared', () => asked.length >= 4);
  expect(asked.toSorted()).toEqual(['declare', 'find', `keep ${'00'.repeat(16)}`, 'switch eu']);
});
