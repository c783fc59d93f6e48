import { expect, it } from '@jest/globals';
import { storedPolicy } from '../../src/store/tokens.js';
import { OPEN_POLICY } from '../support/policy.js';

it('a policy that an earlier release stored limits and renames nothing that it does not know', () => {
  const stored = { allowIps: ['::1'], tags: [], rateLimit: 5, maxConcurrency: 0 };

  expect(storedPolicy(JSON.stringify(stored))).toEqual({ ...OPEN_POLICY, ...stored });
});

it('a policy comes back as it was stored', () => {
  const policy = { ...OPEN_POLICY, models: ['a'], defaultModel: 'a', aliases: { b: 'a' } };

  expect(storedPolicy(JSON.stringify(policy))).toEqual(policy);
});
