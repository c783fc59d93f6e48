import { expect, it } from '@jest/globals';
import { closest, unknownName } from '../../src/core/closest.js';

const KNOWN = ['remain_quota', 'add_quota', 'status'];

it.each([
  ['remainQuota', 'remain_quota'],
  ['remain_qouta', 'remain_quota'],
  ['satus', 'status'],
  ['addquota', 'add_quota'],
  ['colour', undefined],
])('the name meant by %s is %s', (written, meant) => {
  expect(closest(written, KNOWN)).toBe(meant);
});

it.each([
  ['quota', 'is not a member; did you mean one of remain_quota, add_quota?'],
  ['remain', 'is not a member; did you mean remain_quota?'],
])('a part of a name, %s, is answered with the names that have it', (part, told) => {
  expect(unknownName(part, KNOWN, 'a member')).toBe(told);
});
