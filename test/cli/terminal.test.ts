import { describe, expect, it } from '@jest/globals';
import { listing, type Listed } from '../../src/cli/listing.js';
import { cut, fittingWidths, relative, wantsColour, wrapped } from '../../src/cli/terminal.js';

const NOW = 1_800_000_000_000;
const at = (seconds: number): string => relative(NOW / 1_000 + seconds, NOW);

describe('on a terminal', () => {
  it('a moment is told by how far away it is', () => {
    expect([-2, -80, -3 * 3_600 - 5, -86_400, -40 * 86_400, -800 * 86_400].map(at)).toEqual([
      ...['2 s ago', '1 min ago', '3 h ago', '1 day ago', '1 month ago', '2 years ago'],
    ]);
    // What rounds up to a whole unit is told in that.
    expect([-3_599, -86_399, -29.9 * 86_400, -3_569].map(at)).toEqual([
      ...['1 h ago', '1 day ago', '1 month ago', '59 min ago'],
    ]);
    expect([0, 59, 12 * 86_400].map(at)).toEqual(['now', 'in 59 s', 'in 12 days']);
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: 'false' }, true, false],
  ])('%j, on a terminal: %s, means colour: %s', (env, isTerminal, colour) => {
    expect(wantsColour(env, isTerminal)).toBe(colour);
  });

  it('the widest columns shrink first, and the last go if that is not enough', () => {
    expect(fittingWidths([4, 20, 30], 80)).toEqual([4, 20, 30]);
    expect(fittingWidths([4, 20, 30], 48)).toEqual([4, 20, 20]);
    expect(fittingWidths([4, 20, 30], 40)).toEqual([4, 16, 16]);
    expect(fittingWidths([4, 20, 30, 12], 34)).toEqual([4, 12, 12, undefined]);
    expect(fittingWidths([4, 20, 30, 12], 34, ['id', 'name', 'model', 'status'])).toEqual([
      ...[4, 12, undefined, 12],
    ]);
    expect(fittingWidths([20, 20, 20], 16, ['id', 'status', 'outcome'])).toEqual([
      ...[12, undefined, undefined],
    ]);
    expect(fittingWidths([300], 40)).toEqual([300]);
  });

  it('a text is broken between words, and a longer word where the line ends', () => {
    const lengthOf = (text: string): number => text.length;

    expect(wrapped('the key is not valid', 12, lengthOf)).toEqual(['the key is', 'not valid']);
    expect(wrapped('short', 12, lengthOf)).toEqual(['short']);
    expect(wrapped('at https://example.com/long', 12, lengthOf).join('')).toBe(
      'athttps://example.com/long',
    );
  });

  it('a text is cut between characters as people see them', () => {
    const lengthOf = (text: string): number => [...new Intl.Segmenter().segment(text)].length;

    expect(cut('abcdef', 6, lengthOf)).toBe('abcdef');
    expect(cut('abcdef', 4, lengthOf)).toBe('abc…');
    expect(cut('👩‍👧👩‍👧👩‍👧', 2, lengthOf)).toBe('👩‍👧…');
  });
});

describe('a list', () => {
  const list: Listed<number> = {
    columns: { id: (row) => row, twice: (row) => 2 * row },
    rows: [3, 4],
    none: 'Nothing.',
    json: { items: [] },
    part: { total: 12, offset: 10 },
    extra: ['twice'],
  };
  const printed = async (given: Partial<Listed<number>>, csv?: true): Promise<string> => {
    let text = '';
    const io = { now: () => NOW, writeOut: (more: string) => (text += more) };
    await listing(io, csv === undefined ? {} : { csv })({ ...list, ...given });
    return text;
  };

  it('has columns in CSV that a table has on request', async () => {
    expect(await printed({}, true)).toBe('id,twice\r\n3,6\r\n4,8\r\n');
    expect(await printed({})).toBe('ID\n3\n4\n');
  });

  it('says that there are more where some come after its part', async () => {
    expect(await printed({ part: { total: 13, offset: 10 } })).toMatch(
      /\n2 of 13; see --offset\.\n$/,
    );
  });
});
