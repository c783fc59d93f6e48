import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import {
  addressBlock,
  AddressList,
  clientAddress,
  isRebound,
  isRelayedHere,
  isSecure,
} from '../../src/http/client-address.js';

describe('a list of addresses', () => {
  it.each([
    ['::ffff:127.0.0.0/104', '127.255.0.1', true],
    ['::ffff:127.0.0.0/104', '::ffff:127.0.0.1', true],
    ['::ffff:127.0.0.0/104', '128.0.0.1', false],
    ['::ffff:7f00:0/104', '127.0.0.1', true],
    ['::ffff:192.0.2.7/128', '192.0.2.7', true],
    ['::ffff:192.0.2.7/128', '192.0.2.8', false],
    ['::ffff:192.0.2.7', '192.0.2.7', true],
    ['::ffff:0:0/96', '203.0.113.9', true],
    ['::ffff:0:0/96', '2001:db8::1', false],
    // Not to be entered any more; it never let more in than this.
    ['::ffff:10.0.0.0/8', '10.1.2.3', true],
    ['::ffff:10.0.0.0/8', '11.1.2.3', false],
    ['::ffff:10.0.0.0/95', '10.0.0.0', false],
    ['::ffff:10.0.0.0/129', '10.0.0.0', false],
    ['127.0.0.0/8', '::ffff:127.0.0.1', true],
    ['127.0.0.0/33', '127.0.0.0', false],
    ['2001:db8::/32', '2001:db8::1', true],
    ['::/0', '127.0.0.1', false],
  ])('with %s has %s: %s', (range, address, expected) => {
    expect(new AddressList([range]).includes(address)).toBe(expected);
  });
});

const PROXIES = new AddressList(['::ffff:127.0.0.0/104', '10.0.0.0/8', '::1']);

/** As much of a request as tells where it comes from. */
const from = (remoteAddress: string | undefined, headers: IncomingHttpHeaders = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

describe('the address of a caller', () => {
  it.each([
    ['127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['::ffff:192.0.2.1', '203.0.113.9', '192.0.2.1'],
    // What a caller writes there itself is further out than what a proxy adds.
    ['127.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['127.0.0.1', '1.1.1.1, 203.0.113.9,10.0.0.1', '203.0.113.9'],
    ['127.0.0.1', '10.0.0.2, 10.0.0.1', '10.0.0.2'],
    ['127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['127.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['127.0.0.1', ' , ', '127.0.0.1'],
    ['127.0.0.1', undefined, '127.0.0.1'],
  ])('connected from %s, with X-Forwarded-For: %s, is %s', (peer, forwarded, expected) => {
    const req = from(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });

    expect(clientAddress(req, PROXIES)).toBe(expected);
  });

  it('is that of the connection where no proxy is trusted', () => {
    const req = from('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' });

    expect(clientAddress(req, undefined)).toBe('127.0.0.1');
  });
});

it.each([
  ['127.0.0.1', {}, false],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, false],
  ['127.0.0.1', { 'x-real-ip': '203.0.113.9' }, true],
  ['127.0.0.1', { forwarded: 'for=203.0.113.9' }, true],
  ['127.0.0.1', { via: '1.1 proxy' }, true],
  // No setting names it.
  ['::ffff:127.1.1.1', { 'x-forwarded-for': '203.0.113.9' }, true, undefined],
  ['192.0.2.1', { via: '1.1 proxy' }, false],
] as const)(
  'from %s with %j, a proxy of this machine hides the caller: %s',
  (peer, headers, expected, ...trusted) => {
    const proxies = trusted.length === 0 ? PROXIES : undefined;

    expect(isRelayedHere(from(peer, headers), proxies)).toBe(expected);
  },
);

it.each([
  ['localhost', false],
  ['localhost:8080', false],
  ['LOCALHOST', false],
  ['console.localhost:8080', false],
  ['127.0.0.1:8080', false],
  ['[::1]:8080', false],
  ['rerank.example.com', false],
  ['evil.example', true],
  ['evil.example:8080', true],
  ['notlocalhost', true],
  ['localhost.evil.example', true],
  [undefined, false],
])('a page of this machine that asks for the host %s is rebound: %s', (host, expected) => {
  const asks = (peer: string) => isRebound(from(peer, { host }), undefined, 'rerank.example.com');

  expect([asks('127.0.0.1'), asks('::1')]).toEqual([expected, expected]);
  // Nobody else’s browser reaches this machine by its own addresses.
  expect(asks('192.0.2.1')).toBe(false);
  const headers = { host, 'x-forwarded-for': '192.0.2.1' };
  expect(isRebound(from('127.0.0.1', headers), PROXIES, undefined)).toBe(false);
});

it.each([
  ['127.0.0.1', 'https', true],
  ['127.0.0.1', 'HTTPS, http', true],
  ['127.0.0.1', 'http, https', false],
  ['127.0.0.1', 'http', false],
  ['127.0.0.1', undefined, false],
  // Anybody may write it.
  ['192.0.2.1', 'https', false],
])('a request from %s with X-Forwarded-Proto: %s came by https: %s', (peer, proto, expected) => {
  const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto };

  expect(isSecure(from(peer, headers), PROXIES)).toBe(expected);
});

it('a connection of this process is as secure as it is encrypted', () => {
  const encrypted = { headers: {}, socket: { encrypted: true } } as never;

  expect(isSecure(encrypted, undefined)).toBe(true);
});

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['not:an:address', 'not:an:address'],
  ['', ''],
])('attempts from %s are counted under %s', (address, block) => {
  expect(addressBlock(address)).toBe(block);
});
