import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringDocuments } from '../../src/core/documents.js';
import { excessOf, scanBody, stringRanges } from '../../src/core/json-scan.js';

const bytes = (text: string) => Buffer.from(text);

describe('scanBody', () => {
  it.each([
    ['documents first', '{"documents":["a","b"],"query":"q"}'],
    ['documents last', '{"query":"q","documents":["a","b"]}'],
    ['documents alone', '{"documents":["a","b"]}'],
    ['documents in the middle', '{"query":"q","documents":["a","b"],"top_n":1}'],
    ['white space everywhere', ' {\n "query" : "q" ,\t"documents" : [ "a" ,\n "b" ] } \r\n'],
    ['line breaks between documents', '{"query":"q","documents":[\n"a",\n\n"b"\n]}'],
    ['nested members', '{"x":{"documents":[1],"y":[{"z":"]}"}]},"documents":["a","b"]}'],
    ['simple escapes', '{"documents":["a\\n\\"\\\\","\\u0041"]}'],
  ])('reads %s as the plain parser does', (_name, text) => {
    const scanned = scanBody(bytes(text));

    const { documents, ...members } = JSON.parse(text) as Record<string, unknown>;
    expect(JSON.parse(scanned?.documents.toString() ?? 'null')).toEqual(documents);
    expect(scanned?.members).toEqual(members);
    expect(scanned?.count).toBe((documents as unknown[]).length);
  });

  it.each([
    ['an escaped key', '{"docum\\u0065nts":["a"]}'],
    ['a second documents', '{"documents":["a"],"documents":["b"]}'],
    ['an object among the documents', '{"documents":["a",{"text":"b"}]}'],
    ['no documents', '{"query":"q"}'],
    ['a lone surrogate', '{"documents":["\\ud800"]}'],
    ['a surrogate in upper case', '{"documents":["\\uDC00"]}'],
    ['a trailing comma', '{"documents":["a",]}'],
    ['a missing comma', '{"documents":["a" "b"]}'],
    ['a leading comma', '{"documents":[,"a"]}'],
    ['two commas', '{"documents":["a",,"b"]}'],
    ['a bad escape', '{"documents":["\\x"]}'],
    ['a bad unicode escape', '{"documents":["\\u00g0"]}'],
    ['a raw line break in a string', '{"documents":["a\nb"]}'],
    ['a raw tab in a string behind an escape', '{"documents":["\\n\t"]}'],
    ['text behind the object', '{"documents":["a"]} x'],
    ['an unfinished string', '{"documents":["a'],
    ['an unfinished array', '{"documents":["a"'],
    ['an array', '["a"]'],
    ['nothing', ''],
    ['a bad member', '{"query":tru,"documents":["a"]}'],
    ['deep nesting', `{"x":${'['.repeat(100)}${']'.repeat(100)},"documents":["a"]}`],
  ])('leaves %s to the plain parser', (_name, text) => {
    expect(scanBody(bytes(text))).toBeUndefined();
  });

  it('agrees with the plain parser on whatever it accepts', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', ' ', '\u00a0', '\n\t', '\u3000 '),
    );
    const body = fc.record(
      {
        query: text,
        documents: fc.array(text, { maxLength: 8 }),
        top_n: fc.jsonValue(),
        extra: fc.jsonValue(),
      },
      { requiredKeys: ['documents'] },
    );
    fc.assert(
      fc.property(body, fc.nat({ max: 3 }), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        const scanned = scanBody(bytes(json));
        if (scanned === undefined) {
          expect(/\\ud/i.test(json)).toBe(true);
          return;
        }
        const { documents, ...members } = JSON.parse(json) as { documents: string[] };
        expect(scanned.members).toEqual(members);
        const read = stringDocuments(scanned.documents, scanned.count, scanned.mayHaveBlanks);
        expect(documents.map((_, index) => read.text(index))).toEqual(documents);
        expect(read.blanks()).toEqual(
          documents.flatMap((document, index) => (document.trim() === '' ? [index] : [])),
        );
        expect(stringRanges(scanned.documents, scanned.count)).toHaveLength(documents.length * 2);
      }),
      { numRuns: 1_000 },
    );
  });

  it('finds a raw control character at every place of a document, and wherever the body lies in memory', () => {
    const json = JSON.stringify({ documents: ['x'.repeat(70), 'y'.repeat(70)] });
    for (let shift = 0; shift < 4; shift += 1) {
      const memory = Buffer.alloc(json.length + shift);
      const body = memory.subarray(shift);
      for (let at = json.indexOf('x'); at <= json.lastIndexOf('y'); at += 1) {
        if (json[at] !== 'x' && json[at] !== 'y') continue;
        for (const code of [0x00, 0x0a, 0x1f]) {
          body.write(json);
          body[at] = code;
          expect(scanBody(body)).toBeUndefined();
        }
        body[at] = 0x20;
        expect(scanBody(body)?.count).toBe(2);
      }
    }
  });

  it('accepts nothing that the plain parser refuses, whatever byte is broken', () => {
    const json = '{"query":"q\\n","documents":["a\\"b","c d",""],"top_n":2}';
    fc.assert(
      fc.property(fc.nat({ max: json.length - 1 }), fc.nat({ max: 127 }), (at, byte) => {
        const broken = bytes(json);
        broken[at] = byte;
        const scanned = scanBody(broken);
        if (scanned === undefined) return;
        const plain = JSON.parse(broken.toString()) as { documents: unknown };
        expect(JSON.parse(scanned.documents.toString())).toEqual(plain.documents);
      }),
      { numRuns: 5_000 },
    );
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
});
