import { expect, it } from '@jest/globals';
import { csvOf } from '../../src/console/lib/csv.js';
import { queriesOf } from '../../src/console/lib/queries-in.js';

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@now', "'@now"],
  ['\t=1', "'\t=1"],
  ['a=1', 'a=1'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ['=a,"b"', '"\'=a,""b"""'],
])('the cell %j is %j in CSV: no spreadsheet takes it for a formula', (text, cell) => {
  expect(csvOf([['first', text]])).toBe(`first,${cell}\r\n`);
});

it('a negative label is no relevance', () => {
  const line = JSON.stringify({ query: 'q', documents: ['a', 'b', 'c'], labels: [-1, 2, 0] });

  expect(queriesOf('a.jsonl', line).queries).toEqual([
    expect.objectContaining({ relevance: [0, 2, 0] }),
  ]);
});
