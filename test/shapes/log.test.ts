import { describe, expect, it } from '@jest/globals';
import { Json } from '../../src/core/json.js';
import { usageSums } from '../../src/core/usage-members.js';
import type { AuditEntry, Logged } from '../../src/store/store.js';
import {
  auditWire,
  OWN_USAGE_REPLY,
  ownUsageWire,
  readAudit,
  readStats,
  readUsage,
  statsWire,
  USAGE_REPLY,
  usageWire,
} from '../../src/shapes/log.js';
import { usageEntry } from '../support/events.js';

const ENTRY = {
  id: 12,
  ...usageEntry({
    ...{ atMs: 1_800_000_000_000, userId: 2, tokenId: 3, channelId: 4, provider: 'voyage' },
    ...{ documents: 5, inputTokens: 6, searchUnits: 7, quota: 8, durationMs: 9 },
  }),
};

const overHttp = (value: unknown): Json => new Json(JSON.parse(JSON.stringify(value)));

describe('a request in the log, outside', () => {
  it('is read back as it was written', () => {
    expect(readUsage(overHttp(usageWire(ENTRY)), 99)).toEqual(ENTRY);
  });

  it('does not tell its owner which channel served it, or whose it is', () => {
    const own = ownUsageWire(ENTRY);

    expect(own).not.toHaveProperty('channel_id');
    expect(own).not.toHaveProperty('provider');
    expect(own).not.toHaveProperty('tag');
    expect(readUsage(overHttp(own), 2)).toEqual({
      ...ENTRY,
      channelId: undefined,
      provider: undefined,
    });
  });

  it('has the members that its schema says, in the order of the columns of a file', () => {
    expect(Object.keys(usageWire(ENTRY))).toEqual(Object.keys(USAGE_REPLY));
    expect(Object.keys(ownUsageWire(ENTRY))).toEqual(Object.keys(OWN_USAGE_REPLY));
    expect(usageWire({ ...ENTRY, durationMs: 1.6 })).toMatchObject({
      created_at: 1_800_000_000,
      tag: null,
      duration_ms: 2,
    });
  });
});

it('sums of the log are read back as they were written', () => {
  const stats = { ...usageSums(() => 4), requests: 1, quota: 2, documents: 3 };

  expect(statsWire(stats)).toMatchObject({ requests: 1, quota: 2, input_tokens: 4 });
  expect(readStats(overHttp(statsWire(stats)))).toEqual(stats);
});

it('a management write in the log is read back as it was written', () => {
  const entry: Logged<AuditEntry> = {
    id: 7,
    ...{ atMs: 1_800_000_000_000, actorId: undefined, actor: 'cli:ada', action: 'tag.disable' },
    ...{ target: 'tag:eu', detail: { reason: 'slow' }, address: undefined },
  };
  const changed: Logged<AuditEntry> = {
    ...entry,
    name: 'eu',
    changes: [
      { member: 'disabled', before: false, after: true },
      { member: 'models', before: null, after: null, omitted: true },
    ],
  };

  expect(readAudit(overHttp(auditWire(changed)))).toEqual(changed);
  expect(readAudit(overHttp(auditWire(entry)))).toEqual(entry);
});
