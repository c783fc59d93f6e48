import { expect, it } from '@jest/globals';
import { readQuestions, SHIPPED_QUESTIONS } from '../../bench/questions.js';

it('the labelled questions that ship are there, each with something that answers it and something that does not', () => {
  const questions = readQuestions(SHIPPED_QUESTIONS);

  expect(questions).toHaveLength(24);
  expect(new Set(questions.map(({ language }) => language)).size).toBe(17);
  for (const { relevance } of questions) {
    expect(relevance.filter((label) => label === 2)).toHaveLength(1);
    expect(relevance).toContain(0);
  }
});
