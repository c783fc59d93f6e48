import { describe, expect, it } from '@jest/globals';
import { FairLine } from '../../src/core/fair-line.js';

/** A line that these have joined, each named by who it belongs to: `1a` is of 1. */
function lineOf(...names: readonly string[]): FairLine<string> {
  const line = new FairLine<string>();
  for (const name of names) line.join(Number(name[0]), name);
  return line;
}

function servedFrom(line: FairLine<string>): string[] {
  const served: string[] = [];
  for (let item = line.next(); item !== undefined; item = line.next()) served.push(item);
  return served;
}

describe('a fair line', () => {
  it.each<[string, string[], string[]]>([
    ['one who is alone in the order of arrival', ['1a', '1b', '1c'], ['1a', '1b', '1c']],
    [
      'everybody in turn',
      ['1a', '1b', '1c', '2a', '2b', '3a'],
      ['1a', '2a', '3a', '1b', '2b', '1c'],
    ],
    ['nobody where nobody waits', [], []],
  ])('serves %s', (_what, joined, served) => {
    const line = lineOf(...joined);

    expect(line.size).toBe(joined.length);
    expect(servedFrom(line)).toEqual(served);
    expect(line.size).toBe(0);
  });

  it('knows how many are served before a newcomer', () => {
    const line = lineOf('1a', '1b', '1c', '2a');

    expect(line.ahead(1)).toBe(4);
    expect(line.ahead(2)).toBe(3);
    expect(line.ahead(3)).toBe(2);
  });

  it('lets one go without moving the others', () => {
    const line = lineOf('1a', '2a', '1b');

    line.leave(1, '1a');
    line.leave(2, '2a');
    line.leave(3, 'never here');
    line.leave(1, 'never here');

    expect([line.size, line.lengthOf(1), line.lengthOf(2)]).toEqual([1, 1, 0]);
    expect(servedFrom(line)).toEqual(['1b']);
  });

  it('has one that could not be served first again', () => {
    const line = lineOf('1a', '2a', '1b');

    line.rejoin(1, line.next() ?? '');

    expect(line.size).toBe(3);
    expect(servedFrom(line)).toEqual(['1a', '2a', '1b']);
  });

  it.each<[string, string[], string | undefined]>([
    ['whoever has the most, wherever they stand', ['2a', '1a', '1b', '1c', '4a'], '1c'],
    ['one who has two', ['1a', '1b'], '1b'],
    ['nobody who has one', ['1a', '2a'], undefined],
  ])('makes room for a newcomer at the cost of %s', (_what, joined, gone) => {
    expect(lineOf(...joined).makeRoomFor(3)).toBe(gone);
  });

  it('puts back one who has nobody behind', () => {
    const line = lineOf('1a', '2a');

    line.rejoin(1, line.next() ?? '');

    expect(servedFrom(line)).toEqual(['1a', '2a']);
  });

  it('makes room at the cost of whoever has the most, and not for one who has as much', () => {
    const line = lineOf('1a', '1b', '1c', '2a');

    expect(line.makeRoomFor(3)).toBe('1c');
    expect(line.makeRoomFor(2)).toBeUndefined();
    expect(line.makeRoomFor(1)).toBeUndefined();
    expect(line.size).toBe(3);
    expect(servedFrom(line)).toEqual(['1a', '2a', '1b']);
  });
});
