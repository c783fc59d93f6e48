import { describe, expect, it } from '@jest/globals';
import { fallbacks } from '../../../src/gateway/policies/fallbacks.js';
import type { NoRanking, Outcome, Rank } from '../../../src/gateway/rank.js';
import { job, offer, plan, ranking } from '../../support/offers.js';

const good = { kind: 'ranked', ranking: ranking(offer(9)) } as const;
const none = (why: NoRanking): Outcome => ({ kind: 'none', why });
const off = none({ kind: 'switched_off' });

function ranks(outcomes: Readonly<Record<string, Outcome>>) {
  const asked: string[] = [];
  const plans = new Map(
    Object.entries(outcomes).map(([model, outcome]) => [
      model,
      plan([], {
        rank: (given) => {
          asked.push(given.model);
          return Promise.resolve(outcome);
        },
        isLastResort: model === 'local',
      }),
    ]),
  );
  return { asked, planOf: (model: string) => plans.get(model) };
}

const own =
  (outcome: Outcome): Rank =>
  () =>
    Promise.resolve(outcome);

describe('fallbacks to other models', () => {
  it('are asked in turn, and the ranking names the model that gave it', async () => {
    const { asked, planOf } = ranks({ a: off, b: good, c: good });

    const outcome = await fallbacks(['a', 'gone', 'b', 'c'], planOf)(own(off))(job());

    expect(asked).toEqual(['a', 'b']);
    expect(outcome).toMatchObject({ ranking: { model: 'b', isDegraded: false } });
  });

  it('mark what a last resort gives', async () => {
    const { planOf } = ranks({ local: good });

    const outcome = await fallbacks(['local'], planOf)(own(off))(job());

    expect(outcome).toMatchObject({ ranking: { model: 'local', isDegraded: true } });
  });

  it('keep the mark of a last resort beside better channels', async () => {
    const marked: Outcome = { ...good, ranking: { ...good.ranking, isDegraded: true } };
    const { planOf } = ranks({ a: marked });

    const outcome = await fallbacks(['a'], planOf)(own(off))(job());

    expect(outcome).toMatchObject({ ranking: { model: 'a', isDegraded: true } });
  });

  it('are not asked where the model answered, or where the input is at fault', async () => {
    const { asked, planOf } = ranks({ a: good });
    const refused = none({
      kind: 'refused',
      failure: { kind: 'caller', status: 400, message: '' },
    });
    const layer = fallbacks(['a'], planOf);

    expect(await layer(own(good))(job())).toBe(good);
    expect(await layer(own(refused))(job())).toBe(refused);
    expect(asked).toEqual([]);
  });

  it('keep to the models of the key', async () => {
    const { asked, planOf } = ranks({ a: good, b: good });

    await fallbacks(['a', 'b'], planOf)(own(off))(job({ mayAnswer: (model) => model === 'b' }));

    expect(asked).toEqual(['b']);
  });

  it('leave the refusal of the model that was asked for where none of them helps', async () => {
    const { planOf } = ranks({ a: none({ kind: 'busy', soonestMs: 0, retryAfterMs: 1 }) });

    expect(await fallbacks(['a'], planOf)(own(off))(job())).toBe(off);
  });
});
