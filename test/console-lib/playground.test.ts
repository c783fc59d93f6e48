import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { aboutCost, aboutTokens } from '../../src/console/lib/bill.js';
import { documentsOfFile, documentsOfText } from '../../src/console/lib/documents-in.js';
import { MAX_LINK, readShared, shareText } from '../../src/console/lib/share.js';

describe('documents that are brought', () => {
  it('are lines, or paragraphs where a line is blank', () => {
    expect(documentsOfText('one\r\n two \nthree\n')).toEqual(['one', 'two', 'three']);
    expect(documentsOfText('one\nand more\n \n\ntwo')).toEqual(['one\nand more', 'two']);
    expect(documentsOfText(' \n ')).toEqual([]);
  });

  it('are read from a list, a request, and replies of vector stores', () => {
    const read = (value: unknown) => documentsOfFile('a.json', JSON.stringify(value));

    expect(read(['a', { text: 'b' }, { metadata: { content: 'c' } }]).documents).toEqual([
      ...['a', 'b', 'c'],
    ]);
    expect(read({ query: 'q', documents: ['a'] })).toEqual({
      ...{ query: 'q', documents: ['a'], labels: [undefined], problems: [] },
    });
    expect(read({ matches: [{ payload: { passage: 'm' } }] }).documents).toEqual(['m']);
    expect(read({ hits: [{ _source: { body: 'h' } }] }).documents).toEqual(['h']);
  });

  it('are told by line where they could not be read', () => {
    expect(documentsOfFile('a.jsonl', '{"text":"a"}\n{"text":}\n\n{"id":1}\n"b"')).toMatchObject({
      documents: ['a', 'b'],
      problems: [expect.stringMatching(/^2: /), '4: no text'],
    });
    expect(documentsOfFile('a.json', '[1, "a", null]')).toMatchObject({
      documents: ['a'],
      problems: ['1: no text', '3: no text'],
    });
    expect(documentsOfFile('a.json', '{').problems).toHaveLength(1);
    expect(documentsOfFile('a.json', '{"a": 1}').problems).toEqual(['no list of documents in it']);
    expect(documentsOfFile('a.json', '7').problems).toEqual(['no list and no object']);
  });

  it('are the column of a table that is named so, else the longest', () => {
    expect(
      documentsOfFile('a.csv', 'id,text\r\n1,"with ""quotes"", and\na line"\r\n2,\r\n'),
    ).toMatchObject({ documents: ['with "quotes", and\na line'], problems: ['3: no text'] });
    expect(documentsOfFile('a.tsv', 'id\tnote\n1\ta longer one\n').documents).toEqual([
      'a longer one',
    ]);
    expect(documentsOfFile('a.csv', 'only\nlines').documents).toEqual(['only', 'lines']);
  });

  it('bring their labels along, from 0 to 3', () => {
    expect(documentsOfFile('a.csv', 'text,label\na,3\nb,\nc,9\n').labels).toEqual([
      ...[3, undefined, undefined],
    ]);
    expect(documentsOfFile('a.jsonl', '{"text":"a","relevance":1}\n{"text":"b"}').labels).toEqual([
      ...[1, undefined],
    ]);
  });
});

describe('a share link', () => {
  it('brings back what was shared, whatever it was', async () => {
    const shared = fc.record({
      query: fc.string({ unit: 'grapheme' }),
      documents: fc.string({ unit: 'grapheme' }),
      lanes: fc.array(fc.string()),
    });
    await fc.assert(
      fc.asyncProperty(shared, async (given) => {
        expect(await readShared(await shareText(given))).toEqual(given);
      }),
      { numRuns: 30 },
    );
  });

  it('is nothing where it is cut off, too long, or somebody else’s', async () => {
    const link = await shareText({ query: 'q', documents: 'a\nb', lanes: ['local'] });

    expect(await readShared(link.slice(0, -8))).toBeUndefined();
    expect(await readShared(`v2.${link.slice(3)}`)).toBeUndefined();
    expect(await readShared('v1.%%%')).toBeUndefined();
    expect(await readShared(`v1.${'A'.repeat(MAX_LINK)}`)).toBeUndefined();
    const other = await shareText({ query: 1, documents: '', lanes: [] } as never);
    expect(await readShared(other)).toBeUndefined();
  });
});

describe('the bill before the click', () => {
  it('follows what the price is for', () => {
    const documents = Array.from({ length: 101 }, () => 'twelve chars');

    expect(aboutCost({ per: 'request', units: 5 }, 'q', documents)).toBe(5);
    expect(aboutCost({ per: 'search_unit', units: 5 }, 'q', documents)).toBe(10);
    expect(aboutCost({ per: 'million_tokens', units: 10_000 }, 'four', documents)).toBe(5);
    expect(aboutTokens(['twelve chars', '土星有卫星'])).toBe(8);
  });
});
