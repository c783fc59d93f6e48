import { expect, it } from '@jest/globals';
import type { FoundOne } from '../../src/management/requests.js';
import { ownRequestWire } from '../../src/shapes/request.js';
import { rounded } from '../../src/shapes/stats.js';
import type { UsageEntry } from '../../src/store/store.js';
import { usageEntry } from '../support/events.js';

const found = (fields: Partial<UsageEntry>): FoundOne =>
  ({ kind: 'admitted', entry: { id: 1, ...usageEntry(fields) } }) as unknown as FoundOne;

it.each([
  [{ outcome: 'ok' }, 200],
  [{ outcome: 'model_not_found' }, 404],
  [{ outcome: 'of an earlier release' }, 500],
  [{ outcome: 'ok', detail: { status: 499, upstreamMs: 1, node: 'a', tried: [] } }, 499],
] as const)('a request of %j was answered with %i', (fields, status) => {
  expect(ownRequestWire(found(fields as Partial<UsageEntry>)).status).toBe(status);
});

it('a request without a key has none', () => {
  expect(ownRequestWire(found({ tokenId: 0 })).token_id).toBeNull();
  expect(ownRequestWire(found({ tokenId: 7 })).token_id).toBe(7);
});

it('durations have three digits', () => {
  expect([undefined, 0.12345, 12.3456, 1_234.5].map(rounded)).toEqual([null, 0.123, 12.3, 1_230]);
});
