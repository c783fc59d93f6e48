import { NOTHING_USED } from '../../src/core/budget.js';
import type { Token } from '../../src/core/token.js';
import type { Credential } from '../../src/store/store.js';
import { OPEN_POLICY } from './policy.js';

/** What a node remembers of an enabled key without limits, but for what is given. */
export function credential({
  token = {},
  ...more
}: Partial<Omit<Credential, 'token'>> & { readonly token?: Partial<Token> } = {}): Credential {
  return {
    version: 1,
    keyHash: 'a'.repeat(64),
    userEnabled: true,
    ...more,
    token: {
      id: 1,
      userId: 1,
      name: 'key',
      enabled: true,
      keyHint: 'sk-a…b',
      createdTime: 1,
      accessedTime: 1,
      expiredTime: -1,
      remainQuota: 0,
      unlimitedQuota: true,
      usedQuota: 0,
      budgetUse: NOTHING_USED,
      policy: OPEN_POLICY,
      ...token,
    },
  };
}
