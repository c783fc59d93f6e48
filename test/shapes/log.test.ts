import { describe, expect, it } from '@jest/globals';
import { usageSums } from '../../src/core/usage-members.js';
import type { AuditEntry, Logged } from '../../src/store/store.js';
import {
  auditWire,
  OWN_USAGE,
  ownUsageWire,
  statsWire,
  USAGE,
  usageWire,
} from '../../src/shapes/log.js';
import { requestWire } from '../../src/shapes/request.js';
import { namesOf } from '../../src/shapes/shape.js';
import { usageEntry } from '../support/events.js';

const ENTRY = {
  id: 12,
  ...usageEntry({
    ...{ atMs: 1_800_000_000_000, userId: 2, tokenId: 3, channelId: 4, provider: 'voyage' },
    ...{ documents: 5, inputTokens: 6, searchUnits: 7, quota: 8, durationMs: 9 },
  }),
};

describe('a request in the log, outside', () => {
  it('does not show its owner which channel served it, or whose it is', () => {
    const own = ownUsageWire(ENTRY);

    expect(own).not.toHaveProperty('channel_id');
    expect(own).not.toHaveProperty('provider');
    expect(own).not.toHaveProperty('tag');
    expect(own).not.toHaveProperty('user_id');
    expect(own).toMatchObject({ id: 12, token_id: 3, input_tokens: 6, quota: 8 });
  });

  it('has the members that its schema says, in the order of the columns of a file', () => {
    expect(Object.keys(usageWire(ENTRY))).toEqual(namesOf(USAGE));
    expect(Object.keys(ownUsageWire(ENTRY))).toEqual(namesOf(OWN_USAGE));
    expect(usageWire({ ...ENTRY, durationMs: 1.6 })).toMatchObject({
      created_at: 1_800_000_000,
      tag: null,
      duration_ms: 2,
    });
  });
});

it.each([
  [{ tokenId: 0 }, { token_id: null, status: 200 }],
  [
    { tokenId: 3, outcome: 'rate_limited' },
    { token_id: 3, status: 429 },
  ],
  [{ outcome: 'an older one' }, { status: 500 }],
])('a request of which the log has %j is shown with %j', (fields, expected) => {
  const entry = usageEntry(fields);

  expect(requestWire({ kind: 'admitted', entry }, undefined, () => undefined)).toMatchObject(
    expected,
  );
});

it('sums of the log have every sum by its name', () => {
  const stats = { ...usageSums(() => 4), requests: 1, quota: 2, documents: 3 };

  expect(statsWire(stats)).toMatchObject({ requests: 1, quota: 2, input_tokens: 4 });
});

it('a management write in the log has its changes, or none', () => {
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

  expect(auditWire(changed)).toMatchObject({
    ...{ id: 7, created_at: 1_800_000_000, actor_id: null, actor: 'cli:ada', name: 'eu' },
    changes: [
      { member: 'disabled', before: false, after: true, omitted: false },
      { member: 'models', before: null, after: null, omitted: true },
    ],
  });
  expect(auditWire(entry)).toMatchObject({
    ...{ target: 'tag:eu', name: null, changes: [], detail: { reason: 'slow' }, address: null },
  });
});
