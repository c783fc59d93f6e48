import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { barsOf } from '../../src/console/lib/bars.js';
import { aboutCost, aboutTokens } from '../../src/console/lib/bill.js';
import { compared } from '../../src/console/lib/compare.js';
import {
  documentsOfFile,
  documentsOfTable,
  documentsOfText,
  formatOfPaste,
  tableOf,
  textOfBytes,
  textOfDocuments,
} from '../../src/core/documents-in.js';
import { highlighted, marksOf } from '../../src/console/lib/highlight.js';
import { NO_OPTIONS, bodyOf } from '../../src/console/lib/lanes.js';
import { meanOf } from '../../src/console/lib/means.js';
import { queriesOf, queriesOfPaste } from '../../src/console/lib/queries-in.js';
import { slopesOf } from '../../src/console/lib/slopes.js';
import { spreadOf, stabilityOf } from '../../src/console/lib/runs.js';
import { MAX_LINK, readShared, shareText, sharing } from '../../src/console/lib/share.js';

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
      ...{ query: 'q', documents: ['a'], labels: [undefined], ids: [undefined], problems: [] },
    });
    expect(read({ matches: [{ payload: { passage: 'm' } }] }).documents).toEqual(['m']);
    expect(read({ hits: [{ _source: { body: 'h' } }] }).documents).toEqual(['h']);
    const elastic = { hits: { total: 1, hits: [{ _id: 'e1', _source: { text: 'e' } }] } };
    expect(read(elastic)).toMatchObject({ documents: ['e'], ids: ['e1'] });
    const qdrant = { result: { points: [{ id: 7, payload: { text: 'p' } }] }, status: 'ok' };
    expect(read(qdrant)).toMatchObject({ documents: ['p'], ids: ['7'] });
    expect(read({ documents: [['c1', 'c2']], ids: [['a', 'b']] }).documents).toEqual(['c1', 'c2']);
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
    expect(documentsOfFile('a.jsonl', '{"id":7,"text":"a"}\n{"_id":"b","text":"b"}').ids).toEqual([
      '7',
      'b',
    ]);
    expect(documentsOfFile('a.ndjson', '{"text":"a","relevance":1}\n{"text":"b"}').labels).toEqual([
      ...[1, undefined],
    ]);
    const long = JSON.stringify([{ id: 'a'.repeat(101), text: 'a' }]);
    expect(documentsOfFile('a.json', long).ids).toEqual(['a'.repeat(100)]);
  });

  it('come back from the field as they were put there', () => {
    const text = fc
      .string({ unit: 'grapheme' })
      .map((given) => given.replaceAll(/\s+/g, ' ').trim());
    const lines = fc.array(text.filter((one) => one !== ''));
    fc.assert(
      fc.property(lines, (list) => {
        expect(documentsOfText(textOfDocuments(list))).toEqual(list);
      }),
    );
    expect(documentsOfText(textOfDocuments(['a\n\nb', 'c']))).toEqual(['a\nb', 'c']);
    expect(documentsOfText(textOfDocuments(['two\nlines']))).toEqual(['two lines']);
  });

  it('are those of the columns that somebody picks', () => {
    const table = tableOf('a.csv', 'note,summary,grade\nlonger than it,s,2\n');

    expect(table).toMatchObject({ text: 0, label: 2 });
    expect(table && documentsOfTable({ ...table, text: 1, label: -1 })).toMatchObject({
      ...{ documents: ['s'], labels: [undefined] },
    });
    const named = tableOf('a.csv', 'Title,id,text\n Moons ,d1,Saturn has many.\n,,No title.\n');
    expect(named).toMatchObject({ title: 0, id: 1, text: 2, label: -1 });
    expect(named && documentsOfTable(named)).toMatchObject({
      documents: ['Moons\nSaturn has many.', 'No title.'],
      ids: ['d1', undefined],
    });
    expect(named && documentsOfTable({ ...named, title: -1, id: -1 })).toMatchObject({
      documents: ['Saturn has many.', 'No title.'],
      ids: [undefined, undefined],
    });
    // The text is not its own title.
    expect(tableOf('a.csv', 'title,note\nlonger,n')).toMatchObject({ text: 0, title: -1 });
    expect(tableOf('a.csv', 'text\na')).toBeUndefined();
    expect(tableOf('a.txt', 'text,label\na,1')).toBeUndefined();
  });

  it('are known by their form where they are pasted', () => {
    expect(formatOfPaste('["a"]')).toBe('json');
    expect(formatOfPaste('{"text":"a"}\n{"text":"b"}')).toBe('jsonl');
    expect(formatOfPaste('id,Text\n1,a')).toBe('csv');
    expect(formatOfPaste('"id","text"\n"1","a, b"')).toBe('csv');
    expect(formatOfPaste('text\tlabel\na\t1')).toBe('tsv');
    expect(formatOfPaste('One, two\nthree')).toBeUndefined();
    expect(formatOfPaste('text\na')).toBeUndefined();
    expect(formatOfPaste('7')).toBeUndefined();
  });

  it('are read in the encoding of their file', () => {
    const utf16 = Buffer.from('\ufeff土星', 'utf16le');

    expect(textOfBytes(Buffer.from('\ufeff土星'))).toBe('土星');
    expect(textOfBytes(utf16)).toBe('土星');
    expect(textOfBytes(Buffer.from(utf16).swap16())).toBe('土星');
    expect(textOfBytes(Buffer.from([0xcd, 0xc1, 0xd0, 0xc7]))).toBe('土星');
  });
});

describe('lanes', () => {
  it('send what all have and what is their own', () => {
    const options = { ...NO_OPTIONS, top_n: '5', instruction: 'for all' };
    const more = { priority: '7', truncation: 'false' as const };
    expect(bodyOf({ model: 'm' }, 'q', ['a'], { ...NO_OPTIONS, ...more })).toEqual({
      ...{ model: 'm', query: 'q', documents: ['a'], priority: 7, truncation: false },
    });
    for (const priority of ['', ' ', '-1', '1000', '1.5', 'x']) {
      const body = bodyOf({ model: 'm' }, 'q', ['a'], { ...NO_OPTIONS, priority });
      expect(body).not.toHaveProperty('priority');
    }

    expect(bodyOf({ model: 'm' }, 'q', ['a'], NO_OPTIONS)).toEqual({
      ...{ model: 'm', query: 'q', documents: ['a'] },
    });
    expect(bodyOf({ model: 'm', channel: 7, instruction: 'own' }, 'q', ['a'], options)).toEqual({
      ...{ model: 'm', query: 'q', documents: ['a'], channel_id: 7, ignore_switches: true },
      ...{ top_n: 5, instruction: 'own' },
    });
  });

  it('that ran several times are told by the middle, the slow end, and whether they say the same', () => {
    const rows = (...scores: number[]) =>
      scores.map((score, index) => ({ index, relevance_score: score }));

    expect(spreadOf([30, 10, 20])).toEqual({ least: 10, p50: 20, p95: 29, most: 30 });
    expect(spreadOf([5])).toEqual({ least: 5, p50: 5, p95: 5, most: 5 });
    expect(stabilityOf([rows(0.9, 0.5), rows(0.9, 0.75), rows(0.9, 0.5).reverse()])).toEqual({
      ...{ sameOrder: 2, scoreSpan: 0.25 },
    });
  });

  it.each([
    ['same', [0, 1, 2, 3], [0, 1, 2, 3]],
    ['almost', [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4]],
    ['top', [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 7, 6, 5, 4, 3]],
    ['reverse', [0, 1, 2, 3], [3, 2, 1, 0]],
  ] as const)('are said to be %s', (says, one, other) => {
    const rows = (order: readonly number[]) =>
      order.map((index, rank) => ({ index, relevance_score: -rank }));

    expect(compared(rows(one), rows(other)).says).toBe(says);
  });

  it('mark the words of the query, also where no blanks are between them', () => {
    const marks = marksOf('Is 土星 a Planet?');

    expect(highlighted('The planet is 土星', marks)).toEqual([
      { text: 'The ', hit: false },
      { text: 'planet', hit: true },
      { text: ' is ', hit: false },
      { text: '土星', hit: true },
    ]);
  });
});

describe('a share link', () => {
  it('brings back what was shared, whatever it was', async () => {
    const shared = fc.record({
      query: fc.string({ unit: 'grapheme' }),
      documents: fc.string({ unit: 'grapheme' }),
      lanes: fc.array(
        fc.record({ model: fc.string(), channel: fc.nat() }, { requiredKeys: ['model'] }),
      ),
      labels: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 3 }))),
      ids: fc.array(fc.tuple(fc.nat(), fc.string())),
      options: fc.record({
        ...{ top_n: fc.string(), max_tokens_per_doc: fc.string(), instruction: fc.string() },
        ...{ priority: fc.string(), truncation: fc.constantFrom('', 'true', 'false') },
      }),
      runs: fc.integer({ min: 1, max: 10 }),
      results: fc.array(
        fc.record({
          ...{
            key: fc.string(),
            model: fc.string(),
            ms: fc.nat(),
            quota: fc.nat(),
            tokens: fc.nat(),
          },
          rows: fc.array(fc.tuple(fc.nat(), fc.integer())),
        }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(shared, async (given) => {
        expect(await readShared(await shareText(given))).toEqual(given);
      }),
      { numRuns: 30 },
    );
  });

  it('brings many queries along, and leaves out what is not of their form', async () => {
    const many = {
      ...{ name: 'q.jsonl', text: '{}', queries: ['a'] },
      lanes: [{ key: '["local"]', failed: 0, scores: [[0, 1, 0.5, 12.5, 3] as const] }],
    };
    const read = async (given: unknown) =>
      readShared(await shareText(sharing('q', 'a', [], { many: given as never })));

    expect(await read(many)).toEqual(sharing('q', 'a', [], { many }));
    for (const wrong of [{}, { ...many, queries: [1] }, { ...many, lanes: [{ key: 'k' }] }]) {
      expect(await read(wrong)).toEqual(sharing('q', 'a', []));
    }
    const short = { ...many, lanes: [{ key: 'k', failed: 0, scores: [[0, 1]] }] };
    expect(await read(short)).toEqual(sharing('q', 'a', []));
  });

  it('from before lanes had channels names models', async () => {
    const old = { query: 'q', documents: 'a', lanes: ['local'] };

    const link = await shareText(old as never);

    expect(await readShared(link)).toEqual(sharing('q', 'a', [{ model: 'local' }]));
  });

  it('says what is wrong where it is cut off, too long, or somebody else’s', async () => {
    const link = await shareText(sharing('q', 'a\nb', [{ model: 'local' }]));

    expect(await readShared(link.slice(0, -8))).toBe('broken');
    expect(await readShared(`v2.${link.slice(3)}`)).toBe('foreign');
    expect(await readShared('v1.%%%')).toBe('broken');
    expect(await readShared(`v1.${'A'.repeat(MAX_LINK)}`)).toBe('large');
    const other = await shareText({ query: 1, documents: '', lanes: [] } as never);
    expect(await readShared(other)).toBe('foreign');
    const grades = { labels: [[0, 9]] } as never;
    expect(await readShared(await shareText(sharing('q', 'a', [], grades)))).toBe('foreign');
  });
});

describe('bars', () => {
  it('begin at zero and end at the best of their lane', () => {
    expect(barsOf([0.5, 0.25, 0], 'raw')).toEqual({
      zero: undefined,
      bars: [0.5, 0.25, 0].map((score) => ({ from: 0, width: score / 0.5 })),
    });
    expect(barsOf([0, 0], 'raw').bars).toEqual([0, 0].map(() => ({ from: 0, width: 0 })));
  });

  it('of logits lie on both sides of zero', () => {
    expect(barsOf([3, 0, -1], 'raw')).toEqual({
      zero: 0.25,
      bars: [
        { from: 0.25, width: 0.75 },
        { from: 0.25, width: 0 },
        { from: 0, width: 0.25 },
      ],
    });
    expect(barsOf([-1, -2], 'raw')).toEqual({
      zero: 1,
      bars: [
        { from: 0.5, width: 0.5 },
        { from: 0, width: 1 },
      ],
    });
    expect(barsOf([3, -1], 'share').bars.map(({ width }) => width)).toEqual([1, 0]);
    const soft = barsOf([3, 3, -90], 'softmax').bars.map(({ width }) => width);
    expect(soft[0]).toBeCloseTo(0.5, 9);
    expect(soft.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1, 9);
  });
});

describe('lines between two lanes', () => {
  const all = { from: 0, to: 100 };

  it('go up, down or nowhere, the stronger the farther', () => {
    const lines = slopesOf([1, 2, 3], [1, 3, 2], 20, all, false);

    expect(lines.map(({ index, kind }) => [index, kind])).toEqual([
      [1, 'same'],
      [2, 'down'],
      [3, 'up'],
    ]);
    const [far] = slopesOf([9, 1, 2, 3, 4], [1, 2, 3, 4, 9], 20, all, false);
    expect(far?.strength).toBeGreaterThan(lines[1]?.strength ?? 1);
    expect(slopesOf([9, 1, 2, 3, 4], [1, 2, 3, 4, 9], 20, all, true)).toEqual([far]);
  });

  it('end below the top with the rank of what left it', () => {
    expect(slopesOf([1, 2], [3, 2, 1], 2, all, false)).toMatchObject([
      { index: 1, kind: 'down', gone: 3, to: 1.5 },
      { index: 2, gone: undefined },
    ]);
    // Of a lane that was cut, nobody knows the rank.
    expect(slopesOf([1, 2], [2], 2, all, false)).toMatchObject([
      { index: 1, gone: null, to: 0.5 },
      {},
    ]);
  });

  it('are those with an end in view', () => {
    const order = Array.from({ length: 1_000 }, (_, at) => at);
    const lines = slopesOf(order, order.toReversed(), 1_000, { from: 0, to: 10 }, false);

    expect(lines.map(({ index }) => index)).toEqual([...order.slice(0, 10), ...order.slice(990)]);
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

describe('many queries', () => {
  const moons = { query: 'moons', documents: ['Saturn', 'oil'], relevance: [3, 0] };

  it('are read from JSON lines, lists and tables, with labels in either place', () => {
    const beside = JSON.stringify({ query: 'moons', documents: ['Saturn', 'oil'], labels: [3, 0] });
    const within = JSON.stringify({
      ...{ query: 'moons' },
      documents: [{ text: 'Saturn', label: 3 }, 'oil'],
    });
    const table = 'query,text,label\nmoons,Saturn,3\ncars,wheels,1\nmoons,oil,\n';

    expect(queriesOf('a.jsonl', `${beside}\n\n${within}`).queries).toEqual([moons, moons]);
    expect(queriesOf('a.json', `[${beside},${within}]`).queries).toEqual([moons, moons]);
    for (const found of [queriesOf('a.csv', table), queriesOfPaste(table)]) {
      expect(found.queries).toEqual([
        moons,
        { query: 'cars', documents: ['wheels'], relevance: [1] },
      ]);
    }
    expect(queriesOfPaste(beside).queries).toEqual([moons]);
    expect(queriesOfPaste(`\n[${within}]`).queries).toEqual([moons]);
  });

  it('take a negative label as no relevance', () => {
    const line = JSON.stringify({ query: 'q', documents: ['a', 'b', 'c'], labels: [-1, 2, 0] });

    expect(queriesOf('a.jsonl', line).queries).toEqual([
      expect.objectContaining({ relevance: [0, 2, 0] }),
    ]);
  });

  it('are told apart from what is none, by line', () => {
    const lines = [
      '{"documents":["a"],"labels":[1]}',
      '{"query":"q"}',
      '{"query":"q","documents":["a","b"],"labels":[0]}',
      '{"query":',
    ];
    const { queries, problems } = queriesOf('a.jsonl', lines.join('\n'));

    expect(queries).toEqual([]);
    expect(problems).toEqual([
      '1: no query',
      '2: no list of documents in it',
      '3: no document is labelled as relevant',
      '4: no query',
    ]);
    expect(queriesOf('a.csv', 'text,label\na,1\n').problems).toEqual(['1: no column “query”']);
  });

  it('have a mean, with how far it may be off', () => {
    expect(meanOf([])).toBeUndefined();
    expect(meanOf([0.5])).toEqual({ mean: 0.5, within: undefined, count: 1 });
    expect(meanOf(Array.from({ length: 7 }, () => 0.5))).toEqual({
      ...{ mean: 0.5, within: undefined, count: 7 },
    });
    expect(meanOf(Array.from({ length: 8 }, () => 0.5))?.within).toBe(0);
    // With eight degrees of freedom 2.306 standard errors.
    const { mean, within } = meanOf([1, 2, 3, 1, 2, 3, 1, 2, 3]) ?? { mean: 0, within: 0 };
    expect(mean).toBe(2);
    expect(within).toBeCloseTo(2.306 * Math.sqrt(0.75 / 9), 6);
    const many = Array.from({ length: 100 }, (_, index) => index % 2);
    expect(meanOf(many)?.within).toBeCloseTo((1.96 * Math.sqrt(25 / 99)) / 10, 6);
  });
});
