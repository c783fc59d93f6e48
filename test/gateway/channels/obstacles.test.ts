import { expect, it } from '@jest/globals';
import { textDocuments } from '../../../src/core/text-documents.js';
import type { Availability } from '../../../src/gateway/channels/state.js';
import { obstacleOf } from '../../../src/gateway/channels/obstacles.js';
import { job, offer } from '../../support/offers.js';

const T0 = 1_000_000;
const COOLING: Availability = { kind: 'until', atMs: T0 + 5_000 };

/** A channel that takes two documents, and a job of as many as are given. */
function obstacle(
  given: { readonly status?: 1 | 2; readonly documents?: number; readonly admits?: boolean },
  availability: Availability,
) {
  const { status = 1, documents = 2, admits = true } = given;
  const asked = job({
    documents: textDocuments(Array.from({ length: documents }, () => 'text')),
    admits: () => admits,
  });
  const known = offer(1, { status });
  const times: number[] = [];
  const health = {
    availability: (_offer: unknown, nowMs: number) => {
      times.push(nowMs);
      return availability;
    },
  };
  const small = { ...known, room: { ...known.room, documents: 2 } };
  return { by: obstacleOf(health, asked, small, T0), times };
}

it('nothing rules out a channel that is on, reached, large enough and ready', () => {
  expect(obstacle({}, { kind: 'ready' })).toEqual({ by: undefined, times: [T0] });
});

it.each([
  [{ kind: 'switched_off' }, { status: 2, admits: false, documents: 3 }],
  [{ kind: 'tag' }, { admits: false, documents: 3 }],
  [{ kind: 'misfit', misfit: { limit: 'documents', most: 2 } }, { documents: 3 }],
] as const)('%j comes before what passes by itself, and health is not asked', (by, given) => {
  expect(obstacle(given, COOLING)).toEqual({ by, times: [] });
});

it.each([COOLING, { kind: 'full' } as const])(
  '%j rules out what could serve otherwise',
  (availability) => {
    expect(obstacle({}, availability).by).toEqual({ kind: 'busy', availability });
  },
);
