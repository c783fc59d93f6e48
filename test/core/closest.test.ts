import { expect, it } from '@jest/globals';
import { closest } from '../../src/core/closest.js';

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
