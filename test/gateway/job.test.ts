import { expect, it } from '@jest/globals';
import { boundJob } from '../../src/gateway/job.js';
import { job } from '../support/offers.js';

it('a job in another scope has everything else of the first', () => {
  const first = job({ mostMs: 7, mayBeOldMs: 1, keepMs: 2, ignoresSwitches: true });
  const { scope } = job();

  const bound = boundJob(first, scope);

  expect(bound).toEqual({ ...first, elsewhere: undefined, scope });
  expect(bound.scope).toBe(scope);
});

it('a job has other bounds where they are given', () => {
  const first = job({ mostMs: 7 });

  expect(boundJob(first, first.scope, 3).mostMs).toBe(3);
  expect(boundJob(first, first.scope).mostMs).toBe(7);
});

it('a job with nothing changed is the same one', () => {
  const first = job({ mostMs: 7 });

  expect(boundJob(first, first.scope, 7)).toBe(first);
});

it('jobs keep one shape, which their readers are fast with', () => {
  const first = job();
  const [one, other] = [boundJob(first, job().scope), boundJob(first, first.scope, 5)];

  expect(Object.keys(one)).toEqual(Object.keys(other));
});
