import { describe, expect, it } from '@jest/globals';
import { memberMistake, type MemberSpec } from '../../src/core/members.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';

const about = { help: 'What it does.', flag: 'it <value>', label: 'it', title: 'It' };
const count: MemberSpec = { ...about, type: 'integer', least: 1, most: 9, default: 3 };
const share: MemberSpec = { ...about, type: 'number', least: 0, most: 1, default: undefined };
const choice: MemberSpec = { ...about, type: 'choice', choices: ['a', 'b'], default: 'a' };
const flag: MemberSpec = { ...about, type: 'boolean', default: false };

describe('a member', () => {
  it.each<[MemberSpec, unknown]>([
    [count, 1],
    [count, 9],
    [share, 0.5],
    [share, undefined],
    [choice, 'b'],
    [flag, true],
  ])('of %j may be %j', (spec, value) => {
    expect(memberMistake(spec, value)).toBeUndefined();
  });

  it.each<[MemberSpec, unknown, string]>([
    [count, 0, 'must be a whole number from 1 to 9'],
    [count, 10, 'must be a whole number from 1 to 9'],
    [count, 1.5, 'must be a whole number from 1 to 9'],
    [count, '2', 'must be a whole number from 1 to 9'],
    [count, undefined, 'must be a whole number from 1 to 9'],
    [share, 1.1, 'must be a number from 0 to 1'],
    [share, Number.NaN, 'must be a number from 0 to 1'],
    [share, null, 'must be a number from 0 to 1'],
    [choice, 'c', 'must be a or b'],
    [flag, 'true', 'must be true or false'],
  ])('of %j may not be %j', (spec, value, mistake) => {
    expect(memberMistake(spec, value)).toBe(mistake);
  });
});

it('shows no two members of a key under the same label', () => {
  const labels = Object.values(TOKEN_MEMBERS).map(({ label }) => label);

  expect(labels.length).toBe(new Set(labels).size);
});
