import { describe, expect, it } from '@jest/globals';
import {
  CHANNEL_DEFAULTS,
  CHANNEL_MEMBERS,
  windowMistake,
} from '../../src/core/channel-members.js';
import { memberMistake, type MemberSpec } from '../../src/core/members.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';

const about = { help: 'What it does.', flag: 'it <value>', label: 'it' };
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

describe('the members of a channel', () => {
  it.each(Object.entries<MemberSpec>(CHANNEL_MEMBERS))(
    'have defaults that %s may have, and text that reads as one sentence',
    (name, spec) => {
      expect(memberMistake(spec, CHANNEL_DEFAULTS[name as keyof typeof CHANNEL_DEFAULTS])).toBe(
        undefined,
      );
      expect(spec.help).toMatch(/^[A-Z].*\.$/);
      // What is undefined needs a word for people.
      expect(spec.default ?? spec.unset).toBeDefined();
    },
  );
});

describe('windows of a channel', () => {
  it.each([
    [undefined, undefined, undefined],
    [20, undefined, undefined],
    [20, 19, undefined],
    [20, 20, expect.stringContaining('overlap')],
    [undefined, 10, expect.stringContaining('window_size')],
  ])('of %s documents, each %s on', (windowSize, windowStride, expected) => {
    expect(windowMistake({ windowSize, windowStride })).toEqual(expected);
  });
});

it('shows no two members of a key under the same label', () => {
  const labels = Object.values(TOKEN_MEMBERS).map(({ label }) => label);

  expect(labels.length).toBe(new Set(labels).size);
});
