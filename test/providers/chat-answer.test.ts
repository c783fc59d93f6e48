import { describe, expect, it } from '@jest/globals';
import { JsonShapeError } from '../../src/core/json.js';
import { readChance, readOrder } from '../../src/providers/chat/answer.js';

describe('the order that a chat model answers with', () => {
  it.each<[string, unknown]>([
    ['a value', { ranking: [2, 3, 1] }],
    ['JSON', '{"ranking": [2, 3, 1]}'],
    ['a list', '[2, 3, 1]'],
    ['a fence', '```json\n{"ranking": [2, 3, 1]}\n```'],
    ['a fence without a language', '```\n[2, 3, 1]\n```'],
    ['a fence on one line', '```[2] > [3] > [1]```'],
    ['a chain', '[2] > [3] > [1]'],
    ['a chain without brackets', '2, 3, 1.'],
    ['a chain over lines', '[2] >\n[3] >\n[1]'],
    ['lines', '2\n\n3\n1\n'],
    ['thoughts before it', '<think>1 > 2?</think>\n2 > 3 > 1'],
    ['identifiers as text', { ranking: ['[2]', '3', 1] }],
  ])('is read from %s', (_form, answer) => {
    expect(readOrder(answer, 3)).toEqual([1, 2, 0]);
  });

  it('keeps the first of two mentions, with what is left out at the end', () => {
    expect(readOrder('3 > 3 > 2', 4)).toEqual([2, 1, 0, 3]);
  });

  it.each<[string, unknown]>([
    ['words around it', 'The order is 2 > 3 > 1'],
    ['a gap in the chain', '2 > > 1'],
    ['an open end', '2 > 3 >'],
    ['no separator', '2 3 1'],
    ['nothing', ''],
    ['an empty fence', '```json\n```'],
    ['fences alone', '```'],
    ['a passage that is not there', '[4] > [1] > [2]'],
    ['a passage before the first', '[0] > [1] > [2]'],
    ['a string in a string', '"2 > 3 > 1"'],
    ['less than half', '2'],
  ])('is not read from %s', (_form, answer) => {
    expect(() => readOrder(answer, 3)).toThrow(JsonShapeError);
  });

  it.each([
    ['a fence that is never closed', `\`\`\`json\n${'\n'.repeat(500_000)}x`],
    ['a fence of blanks', `\`\`\`${' '.repeat(500_000)}\`\`\``],
    ['a chain of line breaks', `1${'\n'.repeat(500_000)}x`],
    ['a chain of blanks', `1${' '.repeat(500_000)}>${' '.repeat(500_000)}x`],
    ['thoughts without end', '<think>'.repeat(100_000)],
  ])('is looked for in one pass: %s', (_form, answer) => {
    expect(() => readOrder(answer, 3)).toThrow(JsonShapeError);
  });
});

describe('the chance of yes', () => {
  const logprob = Math.log;

  it('is its share of yes and no, however they are written', () => {
    const likely = [
      { token: 'Yes', logprob: logprob(0.4) },
      { token: ' no', logprob: logprob(0.3) },
      { token: 'YES.', logprob: logprob(0.2) },
      { token: 'maybe', logprob: logprob(0.1) },
    ];

    expect(readChance(likely)).toBeCloseTo(0.6 / 0.9);
  });

  it('is not decided by an answer that is hardly either', () => {
    const likely = [
      { token: '<think>', logprob: -1e-6 },
      { token: 'Yes', logprob: -20 },
    ];

    expect(() => readChance(likely)).toThrow('neither yes nor no');
    expect(() => readChance([])).toThrow(JsonShapeError);
  });
});
