import { expect, it } from '@jest/globals';
import { mean, orderOf, SHIPPED, shippedQuestions } from '../../bench/questions.js';
import { ndcg, randomNdcg } from '../../src/core/evaluation.js';
import { scoreLexically } from '../../src/rankers/lexical.js';

it.each(SHIPPED)('each of the %s has 100 different candidates, one of which is right', (name) => {
  const questions = shippedQuestions(name);

  expect(questions.length).toBeGreaterThanOrEqual(250);
  for (const { documents, relevance } of questions) {
    expect([documents.length, new Set(documents).size]).toEqual([100, 100]);
    expect(relevance.filter((label) => label > 0)).toEqual([1]);
  }
  const places = questions.map(({ relevance }) => relevance.indexOf(1));
  expect(new Set(places).size).toBe(100);
});

it.each(SHIPPED)(
  'the lexical ranker finds the %s far better than a random order does',
  (name) => {
    const questions = shippedQuestions(name).slice(0, 8);
    const quality = mean(
      questions.map(({ query, documents, relevance }) =>
        ndcg(orderOf(scoreLexically(query, documents)), relevance, 10),
      ),
    );
    const random = mean(questions.map(({ relevance }) => randomNdcg(relevance, 10)));

    expect(random).toBeCloseTo(0.045, 3);
    expect(quality).toBeGreaterThan(10 * random);
  },
  60_000,
);
