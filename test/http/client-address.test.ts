import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { AddressList, clientAddress } from '../../src/http/client-address.js';

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

describe('the address of a caller', () => {
  it('is read from the header of a proxy that is trusted by a range in IPv6 form', () => {
    const trusted = new AddressList(['::ffff:127.0.0.0/104']);
    const from = (remoteAddress: string): string =>
      clientAddress(
        // Nothing else of a request is looked at.
        {
          socket: { remoteAddress },
          headers: { 'x-forwarded-for': '203.0.113.9' },
        } as unknown as IncomingMessage,
        trusted,
      );

    expect(from('127.0.0.1')).toBe('203.0.113.9');
    expect(from('::ffff:127.0.0.1')).toBe('203.0.113.9');
    expect(from('10.0.0.1')).toBe('10.0.0.1');
  });
});
