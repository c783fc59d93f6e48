import { describe, expect, it } from '@jest/globals';
import { fc } from '../../support/property.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import { mostTokens } from '../../../src/core/tokens.js';
import { longDocuments } from '../../../src/gateway/policies/long-documents.js';
import type { Attempt, AttemptOutcome, Offer, Reads } from '../../../src/gateway/rank.js';
import { job, offer } from '../../support/offers.js';

const reading = (reads: Partial<Reads>): Offer => ({
  ...offer(1),
  reads: { pairTokens: 64, documentTokens: undefined, chunks: false, cuts: false, ...reads },
});

/** Scores a text by the greatest number in it. */
function greatest(seen: string[][]): Attempt {
  return (from, { documents, topN }) => {
    const texts = Array.from({ length: documents.count }, (_, at) => documents.text(at));
    seen.push(texts);
    const rows = texts
      .map((text, index) => ({
        index,
        score: Math.max(0, ...(text.match(/\d+/g) ?? []).map(Number)),
      }))
      .sort((one, other) => other.score - one.score || one.index - other.index)
      .slice(0, topN);
    return Promise.resolve({
      kind: 'ranked',
      ranking: {
        rows,
        usage: undefined,
        warnings: [],
        written: undefined,
        servedBy: from.servedBy,
      },
    });
  };
}

function rankingOf(outcome: AttemptOutcome) {
  if (outcome.kind !== 'ranked') throw new Error('not ranked');
  return outcome.ranking;
}

const late = `${'sea '.repeat(200)} 9`;
const asked = job({ documents: textDocuments(['1', late, '5']), topN: 2 });
const cut = [expect.stringContaining('were cut')];

describe('a document longer than the model reads', () => {
  it('is cut behind what it is indented by', async () => {
    const seen: string[][] = [];
    const documents = textDocuments(['1', `${' '.repeat(2_000)}${late}`]);

    await longDocuments(greatest(seen))(reading({ cuts: true }), job({ documents }));

    expect(seen[0]?.[1]).toMatch(/^sea sea/);
  });

  it('is cut where the provider would refuse it, and the caller is told', async () => {
    const seen: string[][] = [];

    const { rows, warnings } = rankingOf(
      await longDocuments(greatest(seen))(reading({ cuts: true }), asked),
    );

    // Beside the query there are eight marks of the tokenizer.
    const room = 64 - 8 - mostTokens(asked.query);
    const tokens = mostTokens(seen[0]?.[1] ?? '');
    expect([tokens <= room, tokens > room - 4]).toEqual([true, true]);
    expect(seen[0]?.[1]).toMatch(/^sea sea/);
    expect(rows.map(({ index }) => index)).toEqual([2, 0]);
    expect(warnings).toEqual(cut);
  });

  it('is left to a provider that cuts it, and the caller is told', async () => {
    const seen: string[][] = [];

    const { warnings } = rankingOf(await longDocuments(greatest(seen))(reading({}), asked));

    expect(seen[0]?.[1]).toBe(late);
    expect(warnings).toEqual(cut);
  });

  it('is ranked by its best passage where the channel says so', async () => {
    const seen: string[][] = [];

    const { rows, warnings } = rankingOf(
      await longDocuments(greatest(seen))(reading({ chunks: true }), asked),
    );

    expect(seen[0]?.length).toBeGreaterThan(5);
    expect(rows).toEqual([
      { index: 1, score: 9 },
      { index: 2, score: 5 },
    ]);
    expect(warnings).toEqual([]);
  });

  it('is ranked so, uncut, for a caller that wants nothing cut', async () => {
    const seen: string[][] = [];
    const options = { truncation: false };

    await longDocuments(greatest(seen))(reading({ chunks: true }), { ...asked, options });

    expect(seen[0]?.length).toBeGreaterThan(5);
  });

  it('that has more passages than are asked about is cut behind them, and the caller is told', async () => {
    const documents = textDocuments(['1', 'sea '.repeat(20_000)]);

    const { warnings } = rankingOf(
      await longDocuments(greatest([]))(reading({ chunks: true }), { ...asked, documents }),
    );

    expect(warnings).toEqual(cut);
  });

  it('takes the place of no other document with its further passages', async () => {
    const documents = textDocuments(['1', `${late} ${late}`, '5']);

    const { rows } = rankingOf(
      await longDocuments(greatest([]))(reading({ chunks: true }), { ...asked, documents }),
    );

    expect(rows.map(({ index }) => index)).toEqual([1, 2]);
  });

  it('goes as it is where the caller wants nothing cut, or says itself how much is read', async () => {
    for (const options of [
      { truncation: false },
      { maxTokensPerDoc: 10 },
      { maxChunksPerDoc: 1 },
    ]) {
      const seen: string[][] = [];

      await longDocuments(greatest(seen))(reading({ chunks: options.truncation === undefined }), {
        ...asked,
        options,
      });

      expect(seen[0]?.[1]).toBe(late);
    }
  });

  it('is judged by what is read of a document, where that is less', async () => {
    const seen: string[][] = [];

    await longDocuments(greatest(seen))(
      reading({ pairTokens: 10_000, documentTokens: 32, cuts: true }),
      asked,
    );

    expect(mostTokens(seen[0]?.[1] ?? '')).toBeLessThanOrEqual(32);
  });

  it('has room left beside a long query', async () => {
    const seen: string[][] = [];

    await longDocuments(greatest(seen))(reading({ cuts: true }), { ...asked, query: late });

    expect(seen[0]?.[1]).toMatch(/^sea/);
  });
});

it('a list of passages is ranked as the documents would be by a model that reads all of them', async () => {
  const text = fc
    .array(fc.constantFrom('sea', 'moon', '7', '12', '40', 'Сатурн', '土星'), { maxLength: 150 })
    .map((list) => list.join(' '));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 8 }), async (texts) => {
      const whole = job({ documents: textDocuments(texts), topN: Math.ceil(texts.length / 2) });

      const inParts = rankingOf(
        await longDocuments(greatest([]))(reading({ chunks: true }), whole),
      );
      const atOnce = rankingOf(await greatest([])(offer(1), whole));

      expect(inParts.rows).toEqual(atOnce.rows);
    }),
  );
});

it('documents that are short go as they came', async () => {
  const seen: string[][] = [];
  const inner = greatest(seen);
  const short = job({ documents: textDocuments(['3', '1', '2']) });
  let same = false;
  const watching: Attempt = (from, given) => {
    same = given === short;
    return inner(from, given);
  };

  for (const reads of [{}, { cuts: true }, { chunks: true }]) {
    await longDocuments(watching)(reading(reads), short);
    expect(same).toBe(true);
  }
});
