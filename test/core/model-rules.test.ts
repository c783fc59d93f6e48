import { expect, it } from '@jest/globals';
import { DEFAULT_RULES, RULE_ROWS } from '../../src/core/model-rules.js';

it.each(RULE_ROWS)(
  'the rule $name has a default of its type, and help without a full stop',
  (row) => {
    const { name, type, default: value, help } = row;

    if (type === 'choice') expect(row.choices).toContain(value);
    else if (type === 'models') expect(value).toEqual([]);
    else expect(typeof value).toBe(type === 'milliseconds' ? 'number' : type);
    expect(DEFAULT_RULES).toHaveProperty(name, value);
    expect(help).toMatch(/^[A-Z].*[^.]$/);
  },
);

it('a model of which nothing is said gets nothing that it did not ask for, but split lists', () => {
  expect(DEFAULT_RULES).toEqual({
    select: 'weighted',
    fallbacks: [],
    split: true,
    hedge: false,
    coalesce: false,
    cacheTtlMs: 0,
    cacheShared: false,
    queueMs: 0,
  });
});
