import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import type { AttemptEvent } from '../../../src/gateway/events.js';
import { observed } from '../../../src/gateway/policies/observed.js';
import type { Attempt, AttemptOutcome, Job } from '../../../src/gateway/rank.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

async function observe(outcome: AttemptOutcome | Error, given: Partial<Job> = {}) {
  const events: AttemptEvent[] = [];
  let nowMs = 1_000;
  const next: Attempt = () => {
    nowMs += 25;
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  const layer = observed(
    (event) => {
      if (event.kind === 'attempt') events.push(event);
    },
    () => nowMs,
  );
  const asked = job(given);
  await layer(next)(offer(7, { tag: 'blue' }), asked).catch((error: unknown) => {
    expect(error).toBe(outcome);
  });
  return { event: events[0], made: asked.trace.made };
}

describe('an attempt', () => {
  it.each([
    ['that ranked', ranked(offer(7)), 'ok', 'ok', 200],
    ['that failed', failed('busy', { status: 429 }), 'busy', 'busy', 429],
    ['that was withdrawn', { kind: 'withdrawn' as const }, 'withdrawn', 'cancelled', undefined],
    ['whose request ended', new Error('gone'), 'cancelled', 'cancelled', undefined],
  ] as const)('%s is in the trace and told', async (_, outcome, recorded, told, status) => {
    const { event, made } = await observe(outcome);

    expect(made).toEqual([
      {
        channelId: 7,
        provider: 'tei',
        tag: 'blue',
        outcome: recorded,
        status,
        message: '',
        durationMs: 25,
      },
    ]);
    expect(event).toMatchObject({
      ...{ outcome: told, status, channelId: 7, atMs: 1_000, durationMs: 25 },
    });
  });
});

describe('the cost of a call', () => {
  const documents = textDocuments(Array.from({ length: 150 }, () => 'four'));
  const reported = ranked(offer(7));
  if (reported.kind !== 'ranked') throw new Error('not ranked');
  const counted = {
    ...reported,
    ranking: { ...reported.ranking, usage: { inputTokens: 700 } },
  };
  const costOf = async (outcome: AttemptOutcome, channel: Partial<Channel>): Promise<number> => {
    const asked = job({ documents });
    const layer = observed(
      () => undefined,
      () => 0,
    );
    await layer(() => Promise.resolve(outcome))(offer(7, channel), asked);
    return asked.trace.cost;
  };

  it.each<[string, AttemptOutcome, Partial<Channel>, number]>([
    ['by the call', reported, { cost: 7 }, 7],
    ['by the search unit', reported, { cost: 7, costPer: 'search_unit' }, 14],
    [
      'by the tokens that the upstream counted',
      counted,
      { cost: 1_000_000, costPer: 'million_tokens' },
      700,
    ],
    ['to a part of a unit', counted, { cost: 5_000, costPer: 'million_tokens' }, 3.5],
    ['nothing that is known', reported, {}, 0],
    ['nothing for a failure', failed('busy', { status: 429 }), { cost: 7 }, 0],
  ])('is counted: %s', async (_, outcome, channel, expected) => {
    expect(await costOf(outcome, channel)).toBe(expected);
  });

  it('is added to that of the other calls of its request', async () => {
    const asked = job({ documents });
    const layer = observed(
      () => undefined,
      () => 0,
    );
    const attempt = layer(() => Promise.resolve(reported));
    for (const cost of [7, 5]) await attempt(offer(7, { cost }), asked);

    expect(asked.trace.cost).toBe(12);
  });
});

describe('the message of a failure', () => {
  const message = async (
    text: string,
    given: Partial<Job> = {},
    status: number | undefined = 400,
  ) => (await observe(failed('rejected', { status, message: text }), given)).event?.message;

  it('is told where it quotes nothing', async () => {
    expect(await message('model is overloaded')).toBe('model is overloaded');
  });

  it.each([
    ['the query', { query: '  my\n secret query text' }, 'bad: my secret query text'],
    [
      'a document',
      { documents: textDocuments(['fine', 'patient record of Ann']) },
      'bad: patient record of Ann',
    ],
  ])('is kept from the log where it quotes %s', async (_, given, text) => {
    expect(await message(text, given)).toBe('[the message quotes the request]');
  });

  it('is told where nobody answered, since the words are ours', async () => {
    const { event } = await observe(
      failed('transient', { message: 'the connection broke (ECONNRESET)' }),
      { query: 'the connection broke' },
    );

    expect(event?.message).toBe('the connection broke (ECONNRESET)');
  });

  it('is told where the query is a word that any message may have', async () => {
    expect(await message('invalid model', { query: 'model' })).toBe('invalid model');
  });
});
