import { expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { allProviders } from '../../src/providers/index.js';
import { documentsIn } from '../support/documents.js';
import { spelled, type Spelling } from '../support/spelling.js';

const TEXTS = ['签名密钥每九十天轮换一次。\n'.repeat(20), 'Ключи "подписи"', '🪐 / \\'];
const SPELLINGS: readonly Spelling[] = [[0], [1], [2], [0, 3, 1]];

it.each(
  allProviders().flatMap((provider) =>
    provider.transport === 'http' && provider.rounds !== undefined
      ? [[provider.id, provider] as const]
      : [],
  ),
)(
  'what a ranking by %s may take depends on what texts mean, not on how they are spelled',
  (_, provider) => {
    const tokens = SPELLINGS.map((ways) => {
      const documents = documentsIn(`[${TEXTS.map((text) => spelled(text, ways)).join()}]`);
      return provider.estimate({ query: 'q', documents, options: {}, settings: {} });
    });

    expect(tokens[0]).toBeGreaterThan(100);
    expect(new Set(tokens).size).toBe(1);
  },
);

it('what a ranking in windows may take counts the last window whole', () => {
  const provider = allProviders().find(({ id }) => id === 'openai-listwise');
  if (provider?.transport !== 'http' || provider.rounds === undefined) throw new Error('it is one');
  const tokens = [20, 21, 30, 31].map((count) => {
    const documents = textDocuments(Array.from({ length: count }, () => 'a text'));
    return provider.estimate({ query: 'q', documents, options: {}, settings: {} });
  });

  // The words of the prompt, and five tokens for each place in the answer.
  expect(tokens[0]).toBeGreaterThan(300 + 20 * 5);
  // Windows of 20, each 10 further.
  const [one = 0, ...more] = tokens;
  expect(more.map((each) => Math.round(each / one))).toEqual([2, 2, 3]);
});
