import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Spenders } from '../../src/telemetry/spenders.js';
import { requestEvent } from '../support/events.js';
import { freshManagement, NOW } from '../support/management.js';
import { OPEN_POLICY } from '../support/policy.js';

describe('gauges of balances and budgets', () => {
  const given = freshManagement();
  let nowMs = NOW;

  async function opened() {
    const registry = new Registry();
    const spenders = new Spenders({ store: given.store, now: () => nowMs, registers: [registry] });
    const { id: userId } = await given.createUser('ann');
    const createKey = async (name: string, fields: object = {}, policy: object = {}) => {
      const token = await given.store.createToken(
        {
          ...{ userId, name, keyHash: name.padEnd(64, '-'), keyHint: 'sk-…', enabled: true },
          ...{ expiredTime: -1, remainQuota: 0, unlimitedQuota: true },
          ...fields,
          policy: { ...OPEN_POLICY, ...policy },
        },
        nowMs,
      );
      return token?.id ?? 0;
    };
    const spend = (tokenId: number, quota: number): void => {
      spenders.read(requestEvent({ userId, tokenId, quota }));
    };
    const shown = async (name: string) => {
      const [metric] = (await registry.getMetricsAsJSON()).filter((each) => each.name === name);
      return (metric?.values ?? []).map(({ labels, value }) => [labels.kind, labels.name, value]);
    };
    return { createKey, spend, shown, userId };
  }

  it('have what the store says of the keys and accounts that spend', async () => {
    const { createKey, spend, shown } = await opened();
    const limited = await createKey('limited', { unlimitedQuota: false, remainQuota: 700 });
    const budgeted = await createKey('budgeted', {}, { budget: 90, budgetPeriod: 'day' });
    await createKey('idle', { unlimitedQuota: false, remainQuota: 5 });

    spend(limited, 3);
    spend(budgeted, 2);

    expect(await shown('rerank_quota_remaining_units')).toEqual([
      ['key', 'limited', 700],
      ['account', 'ann', 1_000_000],
    ]);
    expect(await shown('rerank_budget_units')).toEqual([['key', 'budgeted', 90]]);
    expect(await shown('rerank_budget_spent_units')).toEqual([['key', 'budgeted', 0]]);
  });

  it('have their budgets in the first answer, not in the one after it', async () => {
    const { createKey, spend, shown } = await opened();
    spend(await createKey('budgeted', {}, { budget: 90, budgetPeriod: 'day' }), 2);

    expect(await shown('rerank_budget_spent_units')).toEqual([['key', 'budgeted', 0]]);
    expect(await shown('rerank_budget_units')).toEqual([['key', 'budgeted', 90]]);
  });

  it('are read again half a minute later, and have at most fifty keys', async () => {
    const { createKey, spend, shown, userId } = await opened();
    const ids: number[] = [];
    for (let at = 0; at < 55; at += 1) {
      ids.push(await createKey(`key ${at}`, { unlimitedQuota: false, remainQuota: at }));
    }
    ids.forEach((id, at) => spend(id, at + 1));

    const first = await shown('rerank_quota_remaining_units');
    await given.store.updateUser(userId, { quota: { set: 4 } }, nowMs);
    const tooSoon = await shown('rerank_quota_remaining_units');
    nowMs += 30_000;
    const later = await shown('rerank_quota_remaining_units');
    await given.store.updateUser(userId, { quota: { set: 3 } }, nowMs);
    nowMs -= 3_600_000;
    const setBack = await shown('rerank_quota_remaining_units');

    const keys = first.filter(([kind]) => kind === 'key').map(([, name]) => name);
    expect(keys).toHaveLength(50);
    expect(keys).not.toContain('key 4');
    expect(tooSoon).toContainEqual(['account', 'ann', 1_000_000]);
    expect(later).toContainEqual(['account', 'ann', 4]);
    expect(setBack).toContainEqual(['account', 'ann', 3]);
  });

  it('forget who has not spent anything for some time', async () => {
    const { createKey, spend, shown } = await opened();
    spend(await createKey('once', { unlimitedQuota: false, remainQuota: 5 }), 1);

    const counts: number[] = [];
    for (let reading = 0; reading < 3; reading += 1) {
      counts.push((await shown('rerank_quota_remaining_units')).length);
      nowMs += 30_000;
    }

    expect(counts).toEqual([2, 2, 0]);
  });
});
