import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { excessOf } from '../../src/bytes/scan.js';
import { ROW } from '../../src/bytes/scanner.js';
import { echoOf, encodeJson, withTexts } from '../support/documents.js';
import { scanBody, sentDocuments } from '../support/scanned.js';

const bytes = (text: string) => Buffer.from(text);
const listOf = (scanned: ReturnType<typeof scanBody>): unknown => {
  if (scanned === undefined) return undefined;
  const { open, list } = scanned;
  const all = JSON.parse(open.bytes.toString('utf8', list.start, list.end)) as Parameters<
    typeof wellFormed
  >[0][];
  return all.map(wellFormed);
};

/** Only the text is made well formed: what else an object has is not read. */
const wellFormed = (document: string | { readonly text: string }): unknown =>
  typeof document === 'string'
    ? document.toWellFormed()
    : { ...document, text: document.text.toWellFormed() };

describe('scanBody', () => {
  it.each([
    ['documents first', '{"documents":["a","b"],"query":"q"}'],
    ['documents last', '{"query":"q","documents":["a","b"]}'],
    ['documents alone', '{"documents":["a","b"]}'],
    ['no document', '{"documents":[ ],"query":"q"}'],
    ['documents in the middle', '{"query":"q","documents":["a","b"],"top_n":1}'],
    ['white space everywhere', ' {\n "query" : "q" ,\t"documents" : [ "a" ,\n "b" ] } \r\n'],
    ['line breaks between documents', '{"query":"q","documents":[\n"a",\n\n"b"\n]}'],
    ['nested members', '{"x":{"documents":[1],"y":[{"z":"]}"}]},"documents":["a","b"]}'],
    ['simple escapes', '{"documents":["a\\n\\"\\\\\\/\\b\\f\\r\\t","\\u0041\\uABCD\\uabcd"]}'],
    [
      'escaped pairs of surrogates',
      '{"documents":["\\ud83d\\ude00","a\\uD83D\\uDE00\\ud83d\\ude00b"]}',
    ],
    ['escapes in other members', '{"a":{"b\\u0041":"\\\\"},"documents":["a"]}'],
    [
      'all kinds of values',
      '{"a":[0,-1,1.5,1e9,-0.1E-2,12e+1,true,false,null,{}],"documents":["a"]}',
    ],
    ['objects', '{"documents":[{"text":"a"},{"id":[1,{"text":2}],"text":"b\\n"},"c"]}'],
    ['an escaped name', '{"docum\\u0065nts":["a"]}'],
    ['escaped keys beside', '{"\\u6807\\u9898":1,"documents":["a"],"d\\nocuments":2,"\\"":3}'],
    [
      'escaped keys in objects',
      '{"documents":[{"\\u6807":1,"t\\u0065xt":"a"},{"t\\text":2,"text":"b","\\u0165\\u0065xt":3}]}',
    ],
    ['an escaped key that is long', `{"documents":[{"text":"a","\\n${'k'.repeat(99)}":1}]}`],
    [
      'images that are none',
      '{"documents":[{"image":null,"text":"a"},{"text":"b","image":""},{"text":"c","im\\u0061ge": 1},' +
        '{"image":{"image":"x"},"text":"d"},{"text":"e","image":["x"],"y":"z"},{"text":"f","image":true}]}',
    ],
    ['names of engines', '{"__proto__":1,"constructor":2,"documents":["a"]}'],
  ])('reads %s as the plain parser does', (_name, text) => {
    const scanned = scanBody(bytes(text));

    const { documents, ...members } = JSON.parse(text) as Record<string, unknown>;
    expect(listOf(scanned)).toEqual(documents);
    expect(scanned?.members).toEqual(members);
    expect(scanned?.list.count).toBe((documents as unknown[]).length);
  });

  it.each([
    ['documents that are a string', '{"documents":"a"}'],
    ['documents that are an object', '{"documents":{"a":"b"}}'],
    ['documents that are null', '{"documents":null}'],
    ['a number among the documents', '{"documents":["a",1]}'],
    ['null among the documents', '{"documents":["a",null]}'],
    ['a list among the documents', '{"documents":["a",["b"]]}'],
    ['an object without a text', '{"documents":["a",{"title":"b"}]}'],
    ['an empty object', '{"documents":[{}]}'],
    ['an object whose text is none', '{"documents":[{"text":1}]}'],
    ['an object whose text is null', '{"documents":[{"text":null}]}'],
    ['an object whose text is an object', '{"documents":[{"text":{"text":"a"}}]}'],
    ['an object with two texts', '{"documents":[{"text":"a","text":"b"}]}'],
    ['an object with a second text in escapes', '{"documents":[{"text":"a","t\\u0065xt":"b"}]}'],
    ['an object with an image in escapes', '{"documents":[{"text":"a","im\\u0061ge":"b"}]}'],
    ['an object with an image', '{"documents":[{"text":"a","image":"b"}]}'],
    [
      'an object with an image, and then with none',
      '{"documents":[{"text":"a","image":"b","image":""}]}',
    ],
    [
      'an object with no image, and then with one',
      '{"documents":[{"image":null,"text":"a","image":"b"}]}',
    ],
    ['an object with an image that is white space', '{"documents":[{"text":"a","image" : " "}]}'],
    ['an object that does not end', '{"documents":[{"text":"a"]}'],
    ['an object with a bad member', '{"documents":[{"text":"a","b":01}]}'],
    ['no documents', '{"query":"q"}'],
    ['a pair that is cut', '{"documents":["\\ud83d\\u"]}'],
    ['a trailing comma', '{"documents":["a",]}'],
    ['a trailing comma in an object', '{"documents":["a"],}'],
    ['a missing comma', '{"documents":["a" "b"]}'],
    ['a leading comma', '{"documents":[,"a"]}'],
    ['two commas', '{"documents":["a",,"b"]}'],
    ['a missing colon', '{"documents"["a"]}'],
    ['a key that is none', '{a:1,"documents":["a"]}'],
    ['a bad escape', '{"documents":["\\x"]}'],
    ['a bad unicode escape', '{"documents":["\\u00g0"]}'],
    ['a bad unicode escape among many', '{"documents":["\\u0041\\u00:0\\u0041"]}'],
    ['a raw line break in a string', '{"documents":["a\nb"]}'],
    ['a raw tab in a string behind an escape', '{"documents":["\\n\t"]}'],
    ['a control character between values', '{"documents":["a"],\u0001"b":1}'],
    ['text behind the object', '{"documents":["a"]} x'],
    ['an unfinished string', '{"documents":["a'],
    ['an unfinished array', '{"documents":["a"'],
    ['an array', '["a"]'],
    ['a string', '"a"'],
    ['a number', '1'],
    ['nothing', ''],
    ['a bad member', '{"query":tru,"documents":["a"]}'],
    ['a bad number', '{"query":1.,"documents":["a"]}'],
    ['deep nesting', `{"x":${'['.repeat(256)}${']'.repeat(256)},"documents":["a"]}`],
  ])('leaves %s to the plain parser', (_name, text) => {
    expect(scanBody(bytes(text))).toBeUndefined();
  });

  it.each([
    ['the last two of the body', '{"query":"q","documents":["a"] , "documents":["b","c"]}'],
    ['two in escapes', '{"documents":["a"],"query":"q","\\u0064ocuments":["b","c"]}'],
    ['the first two of the body', '{"documents":[{}],"documents":["b","c"],"query":"q"}'],
    ['two with halves', '{"documents":["\\ud800"," "],"query":"q","documents":["b","c"]}'],
  ])('takes the last of two lists: %s', (_name, text) => {
    const scanned = scanBody(bytes(text));
    if (scanned === undefined) throw new Error('it was left to the plain parser');

    expect(scanned.members).toEqual({ query: 'q' });
    expect(listOf(scanned)).toEqual(['b', 'c']);
    expect([0, 1].map((index) => sentDocuments(scanned).text(index))).toEqual(['b', 'c']);
    expect([scanned.list.count, scanned.list.blanks, scanned.list.halves.length]).toEqual([
      2,
      [],
      0,
    ]);
  });

  it('forgets the first of two lists that are longer than a window', () => {
    const first = Array.from({ length: 20_000 }, () => ' \ud800');
    const text = JSON.stringify({ documents: first, model: 'm' }).slice(0, -1);
    const scanned = scanBody(bytes(`${text},"documents":${JSON.stringify(first)}}`));

    expect(scanned?.list.count).toBe(20_000);
    expect(scanned?.members).toEqual({ model: 'm' });
    expect(listOf(scanned)).toEqual(first.map((one) => one.toWellFormed()));
  });

  it.each([63, 64, 65, 128, 129, 200, 255])('takes text of %d levels and more', (levels) => {
    const inner = `{"a":[{"b":"c"},1,[]],"d":{}}`;
    const deep = '[{"x":'.repeat(levels >> 1) + inner + '}]'.repeat(levels >> 1);
    const odd = levels % 2 === 1 ? `[${deep},2]` : deep;
    const body = `{"query":${odd},"documents":["a"]}`;
    const isTaken = levels + 3 <= 256;

    expect(scanBody(bytes(body))?.members).toEqual(
      isTaken ? { query: JSON.parse(odd) as unknown } : undefined,
    );
    for (const wrong of [body.replace('}]', ']]'), body.replace('}]', '}}')]) {
      expect(scanBody(bytes(wrong))).toBeUndefined();
    }
  });

  it('finds the list under any of several names, and leaves two of them to the plain parser', () => {
    const names = ['documents', 'texts', 'input'].map((name) => ({ name }));
    const scanned = scanBody(bytes('{"query":"q","texts":["a","b"]}'), names);

    expect(scanned?.name).toBe('texts');
    expect(scanned?.members).toEqual({ query: 'q' });
    expect(listOf(scanned)).toEqual(['a', 'b']);
    expect(scanBody(bytes('{"texts":["a"],"input":["b"]}'), names)).toBeUndefined();
    expect(scanBody(bytes('{"texts":["a"],"input":"b"}'), names)).toBeUndefined();
    expect(scanBody(bytes('{"passages":["a"]}'), names)).toBeUndefined();
  });

  it.each([
    ['a first half', '\\ud83d', '\ufffd'],
    ['a second half', '\\uDE00', '\ufffd'],
    ['a half among other escapes', '\\u0041\\ud800\\u0041', 'A\ufffdA'],
    ['a first half before a pair', '\\ud83d\\uD83D\\uDE00', '\ufffd😀'],
    ['a pair before a second half', '\\ud83d\\ude00\\ude00', '😀\ufffd'],
    ['a first half before another escape', '\\ud83d\\n\\ud83d\\\\', '\ufffd\n\ufffd\\'],
    ['white space and a half', ' \\ud83d', ' \ufffd'],
  ])('replaces %s in a text, and shows the caller what it sent', (_name, sent, meant) => {
    const json = `{"documents":["${sent}",{"id":"${sent}","text":"a${sent}"}],"query":"${sent}"}`;
    const scanned = scanBody(bytes(json));
    if (scanned === undefined) throw new Error('it was left to the plain parser');
    const read = sentDocuments(scanned);

    expect(JSON.parse(read.texts().bytes.toString())).toEqual([meant, `a${meant}`]);
    expect(read.blanks).toEqual([]);
    expect(encodeJson(echoOf(read, 0)).toString()).toBe(`{"text":"${sent}"}`);
    const rows = Buffer.from('{"i":1},{"i":0}');
    const both = read.echoes([1, 0], rows);
    const shown =
      `{"i":1,"document":{"id":"${sent}","text":"a${sent}"}},` +
      `{"i":0,"document":{"text":"${sent}"}}`;
    expect(both.toString()).toBe(shown);
    const later = withTexts(read, [0, 'b']).pick([1, 0]);
    expect(later.echoes([0, 1], rows).toString()).toBe(shown);
    expect(scanned.members).toEqual({ query: JSON.parse(`"${sent}"`) as string });
  });

  it('shows every half of texts of many windows', () => {
    const parts = ['\\ud83d', '\\ude00', 'a', '汉', '\\n', '\\ud83d\\ude00'];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { minLength: 1 }),
        fc.nat(6),
        (some, shift) => {
          const sent = [`${'x'.repeat(shift)}${some.join('').repeat(2_000)}`, some.join('')];
          const json = `{"documents":["${sent.join('","')}"]}`;
          const scanned = scanBody(bytes(json));
          if (scanned === undefined) throw new Error('it was left to the plain parser');
          const read = sentDocuments(scanned);
          const meant = sent.map((text) => (JSON.parse(`"${text}"`) as string).toWellFormed());
          expect(meant.map((text, index) => read.text(index) === text)).toEqual([true, true]);
          const shown = read.echoes([0, 1], Buffer.from('{"i":0},{"i":1}'));
          const want = sent
            .map((text, index) => `{"i":${index},"document":{"text":"${text}"}}`)
            .join(',');
          expect(shown.toString() === want).toBe(true);
          expect(shown.toString() === want).toBe(true);
          expect(encodeJson(echoOf(read, 0)).toString() === `{"text":"${sent[0]}"}`).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('locates as many as may be, and counts all', () => {
    const json = JSON.stringify({ documents: Array.from({ length: 30_000 }, () => '') });
    const list = scanBody(bytes(json), undefined, 10)?.list;

    expect(list?.count).toBe(30_000);
    expect(list?.rows).toHaveLength(10 * ROW);
    expect(scanBody(bytes(json))?.list.rows).toHaveLength(30_000 * ROW);
  });

  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      ' ',
      '\u00a0',
      '\n\t',
      '\u3000 ',
      '\ufeff',
      '\u2003\u2028',
      'a ',
      ' a',
      '\u200b',
    ),
  );
  const whole = fc.record(
    { text, meta: fc.jsonValue(), id: fc.integer() },
    { requiredKeys: ['text'] },
  );
  const withoutImage = fc.record({
    image: fc.constantFrom<unknown>(null, '', 0, false, {}, [' ']),
    text,
  });
  const element = fc.oneof(
    { weight: 9, arbitrary: text },
    { weight: 9, arbitrary: whole },
    { weight: 1, arbitrary: withoutImage },
  );
  const body = fc.record(
    {
      query: text,
      documents: fc.array(element, { maxLength: 8 }),
      top_n: fc.jsonValue(),
      extra: fc.jsonValue(),
    },
    { requiredKeys: ['documents'] },
  );
  /** A way to write a string: as the engine does, everything beyond ASCII escaped, everything escaped; in either case. */
  const writing = fc.constantFrom<(json: string) => string>(
    (json) => json,
    (json) => json.replace(/[^\0-\x7f]/g, (unit) => escapeOf(unit)),
    (json) => json.replace(/[^\0-\x7f]/g, (unit) => escapeOf(unit).toUpperCase().replace('U', 'u')),
    (json) => json.replaceAll('/', '\\/'),
    (json) =>
      json.replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
        JSON.stringify((JSON.parse(text) as string).replace(/[^]/g, escapeOf)).replaceAll(
          '\\\\',
          '\\',
        ),
      ),
  );
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

  it('agrees with the plain parser on whatever it accepts', () => {
    fc.assert(
      fc.property(body, fc.nat({ max: 3 }), writing, (value, indent, write) => {
        const json = write(JSON.stringify(value, null, indent));
        const scanned = scanBody(bytes(json));
        const { documents, ...members } = JSON.parse(json) as { documents: typeof value.documents };
        if (scanned === undefined) {
          // Nothing but keys with escapes and second texts, which an engine writes for some names.
          expect(json).toMatch(/\\u|\\"[^"]*":|\\\\[^"]*":|"(image|text)"|\\[bfnrt/][^"]*":/i);
          return;
        }
        expect(scanned.members).toEqual(members);
        const read = sentDocuments(scanned);
        const texts = documents
          .map((item) => (typeof item === 'string' ? item : item.text))
          .map((one) => one.toWellFormed());
        expect(texts.map((_, index) => read.text(index))).toEqual(texts);
        expect(JSON.parse(read.texts().bytes.toString())).toEqual(texts);
        expect(JSON.parse(read.sources().bytes.toString())).toEqual(documents.map(wellFormed));
        expect(read.sizeBytes).toBeGreaterThanOrEqual(JSON.stringify(texts).length - 1);
        expect(
          documents.map((_, index): unknown =>
            JSON.parse(encodeJson(echoOf(read, index)).toString()),
          ),
        ).toEqual(documents.map((item) => (typeof item === 'string' ? { text: item } : item)));
        expect(read.blanks).toEqual(
          texts.flatMap((one, index) => (one.trim() === '' ? [index] : [])),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('accepts nothing that the plain parser refuses, whatever is changed, and means the same', () => {
    const seeds = fc.tuple(body, writing).map(([value, write]) => write(JSON.stringify(value)));
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      drop: fc.nat({ max: 3 }),
      put: fc.oneof(
        fc.constantFrom('"', '\\', '\\u', '\\u00', ',', ':', '{', '}', '[', ']', '\n', '\u0000'),
        fc.constantFrom(
          '\\ud83d',
          '\\ude00',
          '\\n',
          '\\x',
          '0',
          '-',
          '.',
          'e',
          'true',
          'null',
          ' ',
        ),
        fc.string({ maxLength: 3 }),
      ),
    });
    let taken = 0;
    fc.assert(
      fc.property(seeds, fc.array(change, { minLength: 1, maxLength: 3 }), (json, changes) => {
        let broken = json;
        for (const { at, drop, put } of changes) {
          const place = Math.floor(at * broken.length);
          broken = broken.slice(0, place) + put + broken.slice(place + drop);
        }
        const scanned = scanBody(bytes(broken));
        if (scanned === undefined) return;
        taken += 1;
        const plain = JSON.parse(bytes(broken).toString()) as { documents: unknown };
        const documents = plain.documents as (string | { text: string })[];
        expect(listOf(scanned)).toEqual(documents.map(wellFormed));
        const read = sentDocuments(scanned);
        expect(
          documents.map((_, index): unknown =>
            JSON.parse(encodeJson(echoOf(read, index)).toString()),
          ),
        ).toEqual(documents.map((item) => (typeof item === 'string' ? { text: item } : item)));
        expect({ ...scanned.members, documents: plain.documents }).toEqual(plain);
      }),
      { numRuns: 5_000 },
    );
    expect(taken).toBeGreaterThan(10);
  });

  it('takes no part of a body for the whole of it', () => {
    fc.assert(
      fc.property(body, writing, (value, write) => {
        const json = bytes(write(JSON.stringify(value)));
        const ends = [...json.keys()].filter(
          (end) => scanBody(json.subarray(0, end)) !== undefined,
        );
        expect(ends).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('finds a raw control character at every place of a document, and wherever the body lies in memory', () => {
    const json = JSON.stringify({ documents: ['x'.repeat(70), 'y'.repeat(70)] });
    for (let shift = 0; shift < 4; shift += 1) {
      const memory = Buffer.alloc(json.length + shift);
      const broken = memory.subarray(shift);
      for (let at = json.indexOf('x'); at <= json.lastIndexOf('y'); at += 1) {
        if (json[at] !== 'x' && json[at] !== 'y') continue;
        for (const code of [0x00, 0x0a, 0x1f]) {
          broken.write(json);
          broken[at] = code;
          expect(scanBody(broken)).toBeUndefined();
        }
        broken[at] = 0x20;
        expect(scanBody(broken)?.list.count).toBe(2);
      }
    }
  });

  it('reads every escape, and no other', () => {
    for (let first = 0; first < 0x10000; first += 256) {
      const codes = Array.from({ length: 256 }, (_, index) => first + index);
      const hex = codes.map((code) => code.toString(16).padStart(4, '0'));
      const length = codes.filter((code) => code >= 0xd800 && code < 0xe000).length;
      const blanks = codes.flatMap((code, index) =>
        String.fromCharCode(code).trim() === '' ? [index] : [],
      );
      const documents = codes.map((code) => String.fromCharCode(code));
      const alone = scanBody(bytes(`{"documents":[${hex.map((each) => `"\\u${each}"`).join()}]}`));
      const inside = scanBody(
        bytes(`{"documents":[${hex.map((each) => `"\\u0041\\u${each}\\u0042"`).join()}]}`),
      );
      const written = scanBody(bytes(JSON.stringify({ documents })));

      expect(alone?.list).toMatchObject({ halves: { length }, blanks });
      expect(inside?.list).toMatchObject({ halves: { length }, blanks: [] });
      expect(written?.list.blanks).toEqual(blanks);
    }
    for (let code = 0; code < 0x80; code += 1) {
      const letter = String.fromCharCode(code);
      const taken = scanBody(bytes(`{"documents":["\\${letter}"]}`)) !== undefined;
      expect([letter, taken]).toEqual([letter, '"\\/bfnrt'.includes(letter)]);
    }
  });
});

describe('excessOf', () => {
  it.each([
    ['[[[1]]]', undefined],
    ['[[[[1]]]]', 'depth'],
    ['{"a":{"b":[{}]}}', 'depth'],
    ['[1,2,3,4]', undefined],
    ['[1,2,3,4,5,6]', 'values'],
    ['[{},{},{}]', 'values'],
    ['["[[[[", "{,,,,,,,", "\\"[[[["]', undefined],
    ['[[[', undefined],
  ])('of %s is %s', (text, excess) => {
    expect(excessOf(bytes(text), { depth: 3, values: 5 })).toBe(excess);
  });

  it.each([
    ['values beside each other', `[${'{"a":"x,[{"},'.repeat(999)}{}]`, 'values'],
    ['as many as may be', `[${'1,'.repeat(998)}1]`, undefined],
    ['values in strings', JSON.stringify(['[1,2,'.repeat(9_999)]), undefined],
    ['a lone surrogate beside many', `["\\ud800",${'1,'.repeat(1_200)}1]`, 'values'],
    ['a lone surrogate', '["\\ud800"]', undefined],
    ['more levels than the walk takes', `${'['.repeat(70)}${']'.repeat(70)}`, undefined],
    ['more levels than may be', `${'['.repeat(101)}${']'.repeat(101)}`, 'depth'],
  ])('is told of ordinary limits too: %s', (_name, text, excess) => {
    expect(excessOf(bytes(text), { depth: 100, values: 1_000 })).toBe(excess);
  });
});
