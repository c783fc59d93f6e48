import { describe, expect, it } from '@jest/globals';
import { fitted } from '../../src/cli/listing.js';
import { facts } from '../../src/cli/text.js';

const ESCAPE = '\u001b[2J';
const C1 = '\u009b2J';

describe('what a command writes', () => {
  it('shows control characters, and does not send them to the terminal', async () => {
    const text = await fitted(
      {},
      ['FROM', 'BROWSER'],
      [['1.2.3.4', `curl ${ESCAPE}${C1}\u202e\u007f`]],
    );

    expect(text).toBe('FROM     BROWSER\n1.2.3.4  curl \\u001b[2J\\u009b2J\\u202e\\u007f');
    expect(facts([['name', `a\n${ESCAPE}`]])).toBe('name  a\\u000a\\u001b[2J');
  });

  it('lines columns up by what is shown', async () => {
    const rows = [
      ['\u0007', 'x'],
      ['two', 'y'],
    ];

    expect(await fitted({}, ['A', 'B'], rows)).toBe('A       B\n\\u0007  x\ntwo     y');
  });

  it('leaves texts of all scripts as they are', () => {
    expect(facts([['name', 'Zoë 漢字 😀 שלום']])).toBe('name  Zoë 漢字 😀 שלום');
  });
});
