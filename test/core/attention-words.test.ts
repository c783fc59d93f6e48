import { expect, it } from '@jest/globals';
import { attentionWords } from '../../src/core/attention-words.js';
import type { Attention } from '../../src/core/attention.js';

it.each<[Attention, string]>([
  [
    { kind: 'requests_fail', name: '', share: 0.5, minutes: 1, since: '10:01' },
    '50% of the admitted requests of the last minute failed, since 10:01',
  ],
  [
    { kind: 'requests_fail', name: '', share: 0.5, minutes: 5, since: '10:01' },
    '50% of the admitted requests of the last 5 minutes failed, since 10:01',
  ],
  [
    { kind: 'runs_out', of: 'key', id: 1, name: 'search', hours: 0 },
    'the key search has nothing left',
  ],
  [
    { kind: 'runs_out', of: 'account', id: 1, name: 'ann', hours: 0.2 },
    'the account ann will have nothing left in 1 hour at today’s rate',
  ],
  [
    { kind: 'runs_out', of: 'key', id: 1, name: 'search', hours: 1.2 },
    'the key search will have nothing left in 2 hours at today’s rate',
  ],
  [
    { kind: 'channel_fails', name: 'eu', share: 0.0004 },
    'eu fails: < 0.1% of its attempts in the last minutes',
  ],
  [{ kind: 'keys_end', name: 'a', count: 1 }, '1 key expires within 3 days: a'],
  [{ kind: 'keys_end', name: 'a, b', count: 1_002 }, '1,002 keys expire within 3 days: a, b'],
  [{ kind: 'node', name: 'one', standing: 'behind' }, 'one has an older version in force'],
  [{ kind: 'node', name: 'one', standing: 'silent' }, 'one has stopped reporting'],
])('%j is told as "%s"', (thing, words) => {
  expect(attentionWords(thing)).toBe(words);
});
