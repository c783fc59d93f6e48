import { describe, expect, it } from '@jest/globals';
import { checkName } from '../../src/management/fields.js';
import { hasUnseen, isReserved, usernameMistake } from '../../src/management/names.js';

describe('usernames', () => {
  it.each([
    ['ann', 'ann'],
    ['a German one', 'jörg-müßig'],
    ['a Vietnamese one', 'nguyễn.văn'],
    ['a Russian one', 'Иван'],
    ['a Greek one', 'Δήμητρα'],
    ['a Japanese one, with Latin', '山田taro'],
    ['a Korean one', '김철수2'],
    ['an Arabic one', 'محمد'],
    ['a name with digits', 'agent_007'],
  ])('may be %s', (_what, name) => {
    expect(usernameMistake(name)).toBeUndefined();
  });

  it.each([
    ['a Cyrillic a among Latin letters', 'p\u0430ypal', /Latin and Cyrillic/],
    ['a Greek o among Latin letters', 'r\u03bf\u03bft', /Latin and Greek/],
    ['Cyrillic letters that all look Latin', '\u0441\u0430\u0440\u0435', /looks like/],
    ['Greek letters that all look Latin', '\u03b1\u03bd\u03b1', /looks like/],
    ['a dotless i', 'adm\u0131n', /taken for another/],
    ['a phonetic a', '\u0251nn', /taken for another/],
    ['Cherokee', '\u13aa\u13bb', /script/],
    ['Lisu', '\ua4d0\ua4d1', /script/],
    ['a filler of Hangul behind it', 'root\u115f', /cannot be seen/],
    ['a filler of Hangul inside', 'an\u1160n', /cannot be seen/],
    ['digits of two scripts', 'agent1\u0662', /digits/],
  ])('are refused with %s', (_what, name, why) => {
    expect(usernameMistake(name)).toMatch(why);
  });

  it.each(['root', 'ROOT', 'r00t', 'ro0t', '\uff52oot', 'r\u043e\u043et'])(
    'keep %s for root',
    (name) => {
      expect(isReserved(name)).toBe(true);
    },
  );

  it.each(['roots', 'rot', 'groot'])('leave %s to everybody', (name) => {
    expect(isReserved(name)).toBe(false);
  });
});

describe('names on a line', () => {
  it.each([
    ['a soft hyphen', 'a\u00adb'],
    ['a combining grapheme joiner', 'a\u034fb'],
    ['a Hangul filler', 'a\u3164b'],
    ['a joiner between Latin letters', 'a\u200db'],
    ['a non-joiner between Latin letters', 'a\u200cb'],
    ['a variation selector without a base', 'a\ufe0fb'],
    ['a turn of direction', 'a\u202eb'],
    ['a joiner after a digit', 'key1\u200d'],
    ['a tag', 'a\u{e0041}b'],
    ['a blank of Braille', 'a\u2800b'],
  ])('are refused with %s', (_what, name) => {
    expect(hasUnseen(name)).toBe(true);
    expect(() => checkName(name, 'name')).toThrow(/printable/);
  });

  it.each([
    '👩‍💻 team',
    '❤️ eu',
    'می‌خواهم',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿 keys',
    'क्‍ष',
    '1️⃣ first',
    'Δ team of Иван',
    'rerank-v3.5',
  ])('may be %s', (name) => {
    expect(checkName(name, 'name')).toBe(name);
  });

  it('are refused where a word mixes alphabets', () => {
    expect(() => checkName('pr\u043ed', 'tag')).toThrow(/two alphabets/);
  });
});
