import { expect, it } from '@jest/globals';
import { csvOf } from '../../src/core/csv.js';

const cell = (text: string): string =>
  csvOf(['name'], [[text]])
    .split('\r\n')
    .slice(1, -1)
    .join('\n');

it.each([
  ['a formula', '=1+1', "'=1+1"],
  ['a sum', '+1', "'+1"],
  ['a negative', '-1', "'-1"],
  ['a function of old', '@SUM(1)', "'@SUM(1)"],
  ['a full-width equals sign', '\uff1d1', "'\uff1d1"],
  ['a small equals sign', '\ufe661', "'\ufe661"],
  ['a full-width plus', '\uff0b1', "'\uff0b1"],
  ['a full-width minus', '\uff0d1', "'\uff0d1"],
  ['a full-width at', '\uff20A1', "'\uff20A1"],
  ['a formula after blanks', '  =1', "  '=1"],
  ['a formula after a semicolon', 'a;=1', `"a;'=1"`],
  ['a formula after a semicolon and a quote', 'a;"=1', `"a;""'=1"`],
  ['a full-width one after a semicolon', 'a; \uff1d1', `"a; '\uff1d1"`],
  ['a formula after a tab', 'a\t=1', `"a\t'=1"`],
  ['a formula after a line break', 'a\n=1', `"a\n'=1"`],
])('%s stays a text', (_what, text, written) => {
  expect(cell(text)).toBe(written);
});

it('takes no longer over blanks than over other text', () => {
  const blanks = '\t'.repeat(300_000);

  expect(cell(blanks)).toHaveLength(blanks.length + 3);
  expect(cell(`;${blanks}=1`)).toBe(`";${blanks}'=1"`);
});

it('leaves other texts as they are', () => {
  expect(['plain', 'a-b', 'a=b', '1.5', 'müßig'].map(cell)).toEqual([
    ...['plain', 'a-b', 'a=b', '1.5', 'müßig'],
  ]);
});

it('writes numbers as they are, those below zero too, and nothing for what is not there', () => {
  const written = csvOf(['rank', 'score', 'label'], [[1, -3.25, null]]);

  expect(written).toBe('rank,score,label\r\n1,-3.25,\r\n');
});

it('quotes what has a separator, a quote or a line break', () => {
  expect(['a,b', 'say "x"', 'two\nlines', '=a,"b"'].map(cell)).toEqual([
    ...['"a,b"', '"say ""x"""', '"two\nlines"', '"\'=a,""b"""'],
  ]);
});
