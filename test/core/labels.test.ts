import { describe, expect, it } from '@jest/globals';
import { labelsMistake, labelsText } from '../../src/core/label-text.js';
import { hasLabel, labelIn } from '../../src/core/labels.js';

describe('labels', () => {
  it.each([
    '',
    'team=search',
    'team=search,env=prod',
    'empty=',
    'example.com/team=a.b_c-1',
    `${'a'.repeat(63)}=${'b'.repeat(63)}`,
    Array.from({ length: 16 }, (_, index) => `l${index}=v`).join(),
  ])('are those of Kubernetes: %j', (text) => {
    expect(labelsMistake(text)).toBeUndefined();
  });

  it.each([
    ['team', 'must be labels such as team=search,env=prod; "team" has no "="'],
    ['=x', 'has "=x": the name of a label'],
    ['-a=x', 'has "-a=x": the name of a label'],
    ['a b=x', 'has "a b=x": the name of a label'],
    ['a/b/c=x', 'has "a/b/c=x": the name of a label'],
    [`${'a'.repeat(64)}=x`, 'the name of a label'],
    ['team=-x', 'has "team=-x": the value of a label'],
    ['team=ü', 'has "team=ü": the value of a label'],
    [`team=${'b'.repeat(64)}`, 'the value of a label'],
    ['a=b=c', 'has "a=b=c": the value of a label'],
    ['a=1,a=2', 'has the label "a" more than once'],
    [
      Array.from({ length: 17 }, (_, index) => `l${index}=v`).join(),
      'may have at most 16 labels, and has 17',
    ],
  ])('are nothing else: %j', (text, expected) => {
    expect(labelsMistake(text)).toContain(expected);
  });

  it('are kept in one order, and found by name and by value', () => {
    const labels = labelsText(' team=search,\nenv=prod ,');

    expect(labels).toBe('env=prod,team=search');
    expect(labelIn(labels, 'team')).toBe('search');
    expect(labelIn(labels, 'tea')).toBeUndefined();
    const asked = ['team', 'team=search', 'team=sea', 'eam', 'env=', 'env'];
    expect(asked.map((label) => hasLabel(labels, label))).toEqual([
      ...[true, true, false, false, false, true],
    ]);
  });
});
