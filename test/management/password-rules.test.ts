import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { checkPassword } from '../../src/management/password-rules.js';
import { newPassword } from '../../src/management/passwords.js';

const NAMES = ['alice.smith', 'a.smith@example.com'];

describe('a password', () => {
  it.each(['short', 'x'.repeat(200) + 'yz'.repeat(29)])(
    'has 8 to 256 characters: %s',
    (password) => {
      expect(() => checkPassword(password, NAMES)).toThrow(
        'password must have 8 to 256 characters.',
      );
    },
  );

  it.each([
    // What everybody has, and what is put before, behind and into it.
    ...[
      'password1',
      'Passw0rd',
      'p@ssw0rd1!',
      '2024password',
      'root1234',
      'R00T2024!',
      'admin12345',
    ],
    ...[
      'Summer2024!',
      'welcome1',
      'letmein!!',
      'iloveyou2',
      'monkey-dragon',
      'rerank-gateway1',
      'changeme99',
    ],
    // Rows of keys.
    ...[
      'qwerty!@#',
      'qwertzuiop',
      'azertyuiop',
      '1q2w3e4r',
      'asdf1234',
      'abcdefgh',
      '1qaz2wsx',
      '!@#$%^&*',
      '12345678910',
    ],
    // Numbers and signs alone, in turns.
    ...['1-2-3-4-5-6-7-8-9', '!1@2#3$4', '2024-01-01!', '+49(170)12-34', 'Summer!2@0#2$4'],
    // In other languages, and a few very short words.
    ...[
      'пароль123',
      'йцукенгшщз',
      '비밀번호2024',
      'lovesexsecretgod',
      'password-password-password',
    ],
    // One thing again and again, and dates.
    ...['aaaaaaaaaaaa', 'aaaa1111', 'abcabcabc', 'tulipstulips', '19900101', '13812345678'],
    // In other forms of the same characters.
    'ｐａｓｓｗｏｒｄ１',
  ])('is not one of the first that anybody would try: %s', (password) => {
    expect(() => checkPassword(password, NAMES)).toThrow(
      'password is one of the first that anybody would try; choose another, such as four words',
    );
  });

  it.each([
    ...[
      'alice.smith',
      'a.smith@example.com',
      'alice2024',
      'Smith-Alice!',
      '4l1ce5m1th',
      'alicepassword',
    ],
    ...['example.com', 'smith-ex'],
  ])('is not made from the name or the address of the account: %s', (password) => {
    expect(() => checkPassword(password, [...NAMES, undefined], 'new_password')).toThrow(
      'new_password must not be made from the name or the address of the account; choose another',
    );
    expect(() => checkPassword(password, ['bob'])).not.toThrow(/must not be made/);
  });

  it.each([
    ...['correct horse battery', 'the-root-password-of-a-day', 'what alice likes best', 'kX9$mQ2v'],
    ...[
      '#)!&^}{?~',
      '837261509283',
      'tinkerbell',
      'пароль который',
      '密码是很长的一句话',
      'smith-exe',
    ],
    // As programs make them, of which some have few letters.
    ...['x7!9#2$5', '9f2$1&7k', 'k7429$3m', '4821-7753-0946'],
    // As the refusal advises.
    ...['winter orange freedom cheese', 'chocolate butterfly sunshine dragon matrix'],
    ...['vier worte ohne sinn', 'caballo correcto grapa', '咖啡桌子月亮河流'],
    newPassword(randomBytes),
  ])('may be anything else: %s', (password) => {
    expect(() => checkPassword(password, NAMES)).not.toThrow();
  });
});
