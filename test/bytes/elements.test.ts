import { describe, expect, it } from '@jest/globals';
import { elementRanges, searchElements } from '../../src/bytes/elements.js';
import { inSteps } from '../../src/bytes/steps.js';
import { fc } from '../support/property.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('"', '\\\\', '\\"', ']', '}', ',"list":[', '\ud800'),
);
const element = fc.oneof(text, fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }));
const spaces = fc.constantFrom(undefined, 1, '\t');

/** What lies at each range, parsed. */
function valuesAt(json: Buffer, ranges: Uint32Array | undefined): unknown[] | undefined {
  if (ranges === undefined) return undefined;
  return Array.from({ length: ranges.length / 2 }, (_, at): unknown =>
    JSON.parse(json.toString('utf8', ranges[at * 2], ranges[at * 2 + 1])),
  );
}

describe('looking for the elements of a list', () => {
  it('finds what the plain parser finds', () => {
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 6 }),
        fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
        spaces,
        (list, others, indent) => {
          const body = { ...others, list, last: others };
          const json = Buffer.from(JSON.stringify(body, undefined, indent));
          const parsed = (JSON.parse(json.toString()) as { list: unknown[] }).list;

          expect(valuesAt(json, elementRanges(json, 'list', list.length))).toEqual(parsed);
          expect(elementRanges(json, 'list', list.length + 1)).toBeUndefined();
        },
      ),
    );
  });

  it('takes the last list of a name, and none that is not there', () => {
    const json = Buffer.from('{"list":["a"],"n":1,"li\\u0073t" : ["b"]}');

    expect(valuesAt(json, elementRanges(json, 'list', 1))).toEqual(['b']);
    expect(elementRanges(json, 'other', 1)).toBeUndefined();
    expect(elementRanges(Buffer.from('["a"]'), 'list', 1)).toBeUndefined();
  });

  it('finds a list that is a member of a member', () => {
    const json = Buffer.from(
      '{"list":["x"],"in":1,"in":{"list":1,"x":{"list":["y"]},"list":["a", {"b":2}]},"n":1}',
    );

    expect(valuesAt(json, elementRanges(json, 'in.list', 2))).toEqual(['a', { b: 2 }]);
    expect(elementRanges(json, 'list.in', 1)).toBeUndefined();
    expect(
      elementRanges(Buffer.from('{"in":{"list":["a"]},"in":1}'), 'in.list', 1),
    ).toBeUndefined();
    expect(elementRanges(Buffer.from('{"in":{"list":["a"],}}'), 'in.list', 1)).toBeUndefined();
  });

  it.each([
    ['many texts', Array.from({ length: 300 }, (_, at) => `${at}"\\`.repeat(2_000))],
    ['one long text', ['"\\é'.repeat(500_000)]],
    ['an object of many numbers', [{ numbers: Array.from({ length: 800_000 }, (_, at) => at) }]],
  ])('pauses on the way through %s', async (_name, list) => {
    const json = Buffer.from(JSON.stringify({ list }));
    let pauses = 0;

    const ranges = await inSteps(searchElements(json, 'list', list.length), () => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(ranges).toEqual(elementRanges(json, 'list', list.length));
    expect(valuesAt(json, ranges)).toEqual(list);
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(json.length / 1_200_000));
  });
});
