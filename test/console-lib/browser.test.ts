import { describe, expect, it } from '@jest/globals';
import { browserOf } from '../../src/console/lib/browser.js';

const MOZILLA = 'Mozilla/5.0';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('what a browser calls itself', () => {
  it.each([
    [`${MOZILLA} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox 140, Linux'],
    [
      `${MOZILLA} (Windows NT 10.0) ${WEBKIT} Chrome/138.0.0.0 Safari/537.36`,
      'Chrome 138, Windows',
    ],
    [
      `${MOZILLA} (Windows NT 10.0) ${WEBKIT} Chrome/138.0 Safari/537.36 Edg/138.0`,
      'Edge 138, Windows',
    ],
    [
      `${MOZILLA} (Linux; Android 15) ${WEBKIT} Chrome/138.0 Mobile Safari/537.36`,
      'Chrome 138, Android',
    ],
    [
      `${MOZILLA} (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1 Version/18.5 Mobile/15E148 Safari/604.1`,
      'Safari 18, iOS',
    ],
    [
      `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/18.5 Safari/605.1`,
      'Safari 18, macOS',
    ],
    ['Chrome/1 on something', 'Chrome 1'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['x'.repeat(50), `${'x'.repeat(40)}…`],
  ])('is told in words: %s', (agent, told) => {
    expect(browserOf(agent)).toBe(told);
  });
});
