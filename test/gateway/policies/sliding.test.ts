import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../../src/core/text-documents.js';
import { sliding } from '../../../src/gateway/policies/sliding.js';
import type { Attempt, Offer } from '../../../src/gateway/rank.js';
import { failed, job, offer } from '../../support/offers.js';

const TEXTS = Array.from({ length: 40 }, (_, at) => String((at * 7) % 40));
const windowed: Offer = { ...offer(1), slides: { size: 20, stride: 10 } };

/** Puts what it is shown into the order of the numbers, with scores that say nothing of other windows. */
function ordering(seen: string[][], mostMs: (number | undefined)[] = []): Attempt {
  return (from, { documents, topN, mostMs: bound }) => {
    const texts = Array.from({ length: documents.count }, (_, at) => documents.text(at));
    seen.push(texts);
    mostMs.push(bound);
    const rows = texts
      .map((text, index) => ({ index, score: Number(text) }))
      .sort((one, other) => other.score - one.score)
      .map(({ index }, at) => ({ index, score: -at }))
      .slice(0, topN);
    return Promise.resolve({
      kind: 'ranked',
      ranking: {
        rows,
        usage: { inputTokens: 10 },
        warnings: ['odd'],
        written: undefined,
        servedBy: from.servedBy,
      },
    });
  };
}

describe('a long list for a model that ranks all documents together', () => {
  it('is shown in windows that overlap, and comes back as one order', async () => {
    const seen: string[][] = [];
    const whole = job({ documents: textDocuments(TEXTS), topN: 40 });

    const outcome = await sliding(() => 0)(ordering(seen))(windowed, whole);

    expect(seen.map(({ length }) => length)).toEqual([20, 20, 20]);
    if (outcome.kind !== 'ranked') throw new Error('not ranked');
    const { rows, usage, warnings } = outcome.ranking;
    expect(new Set(rows.map(({ index }) => index)).size).toBe(40);
    expect(rows.slice(0, 10).map(({ index }) => TEXTS[index])).toEqual(
      Array.from({ length: 10 }, (_, at) => String(39 - at)),
    );
    expect(rows.map(({ score }) => score)).toEqual(
      rows.map(({ score }) => score).toSorted((one, other) => other - one),
    );
    expect(usage).toEqual({ inputTokens: 30 });
    expect(warnings).toEqual([expect.stringContaining('only reflect the order'), 'odd']);

    const best = await sliding(() => 0)(ordering([]))(windowed, { ...whole, topN: 5 });
    expect(best.kind === 'ranked' && best.ranking.rows.map(({ index }) => index)).toEqual(
      rows.slice(0, 5).map(({ index }) => index),
    );
  });

  it('is shown whole where it is one window', async () => {
    const seen: string[][] = [];

    await sliding(() => 0)(ordering(seen))(
      windowed,
      job({ documents: textDocuments(TEXTS.slice(20)) }),
    );

    expect(seen).toHaveLength(1);
  });

  it('fails with the first window that fails', async () => {
    let asked = 0;
    const attempt: Attempt = () => Promise.resolve(failed(asked++ === 0 ? 'timeout' : 'busy'));

    const outcome = await sliding(() => 0)(attempt)(
      windowed,
      job({ documents: textDocuments(TEXTS) }),
    );

    expect(outcome).toEqual(failed('timeout'));
  });

  it('takes no more time in all than the attempt has', async () => {
    let now = 0;
    const bounds: (number | undefined)[] = [];
    const inner = ordering([], bounds);
    const slow: Attempt = (from, given) => {
      now += 400;
      return inner(from, given);
    };

    await sliding(() => now)(slow)(
      windowed,
      job({ documents: textDocuments(TEXTS), mostMs: 1_000 }),
    );

    expect(bounds).toEqual([1_000, 600, 200]);
  });
});
