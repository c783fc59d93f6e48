import { describe, expect, it } from '@jest/globals';
import { cookieNamed, sessionCookieHeader } from '../../src/operations/session-cookie.js';

describe('a cookie', () => {
  it.each([
    ['rerank_session=abc', 'abc'],
    ['theme=dark; rerank_session=abc; lang=en', 'abc'],
    ['theme=dark;rerank_session = abc ', 'abc'],
    ['rerank_session=a=b', 'a=b'],
    ['rerank_session=', ''],
    ['rerank_session=first; rerank_session=second', 'first'],
    ['my_rerank_session=abc', undefined],
    ['rerank_session', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('in "%s" is %s', (header, expected) => {
    expect(cookieNamed('rerank_session', header)).toBe(expected);
  });
});

it('of a login is for the gateway alone, and over https for https', () => {
  const plain = 'rerank_session=s; Path=/; Max-Age=90; HttpOnly; SameSite=Strict';

  expect(sessionCookieHeader('s', false, 90_900)).toBe(plain);
  expect(sessionCookieHeader('s', true, 90_900)).toBe(`${plain}; Secure`);
});
