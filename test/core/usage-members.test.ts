import { expect, it } from '@jest/globals';
import {
  SUMMED_MEMBERS,
  USAGE_ROWS,
  usageMembersOf,
  usageSums,
} from '../../src/core/usage-members.js';

it('a record that lacks members gets the value of their rows, and keeps those it has', () => {
  const members = usageMembersOf({ model: 'm', quota: 0, documents: 3 });

  expect(members).toEqual({
    ...Object.fromEntries(USAGE_ROWS.map((row) => [row.name, row.default])),
    model: 'm',
    documents: 3,
  });
  expect(Object.keys(members)).toEqual(USAGE_ROWS.map(({ name }) => name));
});

it('only counts are summed, each by its name, and requests beside them', () => {
  const summed = USAGE_ROWS.filter(({ summed }) => summed);

  expect(summed.map(({ type }) => type)).toEqual(summed.map(() => 'count'));
  expect(SUMMED_MEMBERS).toEqual(summed.map(({ name }) => name));
  expect(usageSums((name) => name.length)).toEqual(
    Object.fromEntries(['requests', ...SUMMED_MEMBERS].map((name) => [name, name.length])),
  );
});
