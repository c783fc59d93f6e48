import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import type { UpstreamFailure } from '../../src/core/retry.js';
import type { NoRanking } from '../../src/gateway/rank.js';
import { refusalOf } from '../../src/gateway/refusals.js';

const JOB = { model: 'm', documents: textDocuments(['a', 'b', 'c']) };
const MAX_COOLDOWN_MS = 60_000;

const failure = (
  kind: UpstreamFailure['kind'],
  more: Partial<UpstreamFailure> = {},
): UpstreamFailure => ({ kind, status: undefined, message: '', ...more });

const exhausted = (...failures: UpstreamFailure[]): NoRanking => ({ kind: 'exhausted', failures });

describe('a refusal', () => {
  it.each<[string, NoRanking, object]>([
    [
      'nothing takes traffic',
      { kind: 'switched_off' },
      { code: 'no_channel_available', status: 503 },
    ],
    [
      'all are busy',
      { kind: 'busy', soonestMs: 0, retryAfterMs: 3_000 },
      { code: 'overloaded', retryAfterMs: 3_000 },
    ],
    [
      'the input is at fault',
      { kind: 'refused', failure: failure('caller', { status: 422, message: 'odd' }) },
      { code: 'invalid_request', status: 422, message: 'The provider refused the request: odd' },
    ],
    [
      'a refusal has another status than a caller may get',
      { kind: 'refused', failure: failure('caller', { status: 404 }) },
      { code: 'invalid_request', status: 400 },
    ],
    ['every channel refused', exhausted(failure('rejected', { status: 400 })), { status: 400 }],
    [
      'some refused and one failed',
      exhausted(failure('rejected'), failure('transient')),
      { code: 'upstream_error', status: 502 },
    ],
    [
      'one failed before the limit of another was broken',
      exhausted(failure('timeout'), failure('limit', { status: 413 })),
      { code: 'upstream_timeout', status: 504 },
    ],
    [
      'only limits were broken',
      exhausted(failure('limit', { status: 413 })),
      { code: 'payload_too_large', status: 413 },
    ],
    [
      'all were overloaded: the shortest pause',
      exhausted(failure('busy', { retryAfterMs: 7_000 }), failure('busy', { retryAfterMs: 3_000 })),
      { code: 'overloaded', retryAfterMs: 3_000 },
    ],
    [
      'all were overloaded for longer than channels are kept out',
      exhausted(failure('busy', { retryAfterMs: 3_600_000 })),
      { code: 'overloaded', retryAfterMs: MAX_COOLDOWN_MS },
    ],
    [
      'one was overloaded after another had failed',
      exhausted(failure('timeout'), failure('busy', { retryAfterMs: 3_000 })),
      { code: 'upstream_error', retryAfterMs: undefined },
    ],
    ['the last did not answer', exhausted(failure('timeout')), { code: 'upstream_timeout' }],
    [
      'the last sent no ranking',
      exhausted(failure('invalid')),
      { code: 'upstream_invalid_response' },
    ],
    ['no credentials fit', exhausted(failure('misconfigured')), { code: 'upstream_error' }],
    [
      'the list is too long for all',
      {
        kind: 'misfit',
        misfits: [
          { limit: 'documents', most: 1 },
          { limit: 'documents', most: 2 },
        ],
      },
      { code: 'too_many_documents', message: expect.stringContaining('at most 2 documents') },
    ],
    [
      'texts are too long',
      { kind: 'misfit', misfits: [{ limit: 'documents', most: 1 }, { limit: 'length' }] },
      { code: 'payload_too_large' },
    ],
    [
      'there are images alone',
      { kind: 'misfit', misfits: [{ limit: 'images' }] },
      { code: 'invalid_documents', param: 'documents' },
    ],
  ])('when %s', (_why, why, expected) => {
    expect(refusalOf(why, JOB, MAX_COOLDOWN_MS)).toMatchObject(expected);
  });
});
