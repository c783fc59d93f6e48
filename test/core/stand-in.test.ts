import { describe, expect, it } from '@jest/globals';
import { withStandIn } from '../../src/core/stand-in.js';

const HIDDEN = 'acme/rr-v9.1';

describe('what must not be seen in a message', () => {
  it.each([
    ['as it is', `no ${HIDDEN}, really no ${HIDDEN}`, 'no mine, really no mine'],
    ['in capitals', 'no ACME/RR-V9.1', 'no mine'],
    ['cut off', 'there is no acme/rr…', 'there is no mine…'],
    ['cut off in capitals', 'there is no Acme/…', 'there is no mine…'],
    ['hardly begun', 'there is no ac…', 'there is no ac…'],
    ['begun without being cut off', 'there is no acme/rr', 'there is no acme/rr'],
    ['another with a letter for its point', 'no acme/rr-v9x1', 'no acme/rr-v9x1'],
  ])('is replaced: %s', (_, message, expected) => {
    expect(withStandIn(message, HIDDEN, 'mine')).toBe(expected);
  });

  it('is not brought back by what stands for it', () => {
    expect(withStandIn(`no ${HIDDEN}`, HIDDEN, '$&')).toBe('no $&');
  });

  it('is nothing if it is empty', () => {
    expect(withStandIn('as it is', '', 'mine')).toBe('as it is');
  });
});
