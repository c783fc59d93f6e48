import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import type { Documents, ListPlace } from '../../src/bytes/index.js';
import { ROW, Walk } from '../../src/bytes/scanner.js';
import { scanBody, type Scanned } from '../support/scanned.js';

const NESTED = { name: 'input.documents' };
const RECORDS = { name: 'records', text: 'content' };
const SOURCES = { name: 'sources', text: 'source.document.text' };
/** Its name is that of the member that another list is in. */
const PAIRS = { name: 'input', text: 'pair' };
const LISTS = [NESTED, RECORDS, SOURCES, PAIRS];

type Members = Record<string, unknown>;

const scan = (json: string) => scanBody(Buffer.from(json), LISTS);

/** What the plain parser finds where the list was found. */
function listIn(plain: Members, name: string): unknown {
  return name.split('.').reduce<unknown>((value, step) => (value as Members)[step], plain);
}

function textIn(element: unknown, path: string): unknown {
  if (typeof element === 'string') return element;
  return path.split('.').reduce<unknown>((value, step) => (value as Members)[step], element);
}

/** A copy of `value` with `put` at a path. */
function withPut(value: unknown, [step, ...more]: readonly string[], put: unknown): unknown {
  if (step === undefined) return put;
  const members = value as Members;
  return { ...members, [step]: withPut(members[step], more, put) };
}

/** Holds what was found to what the plain parser makes of the same text. */
function hold(json: string, scanned: Scanned): void {
  const plain = JSON.parse(Buffer.from(json).toString()) as Members;
  const { open, members, name, list } = scanned;
  const textPath = list.place.text ?? 'text';
  const elements = listIn(plain, name) as unknown[];
  const path = textPath.split('.');
  const wellFormed = elements.map((element) =>
    typeof element === 'string'
      ? element.toWellFormed()
      : withPut(element, path, (textIn(element, textPath) as string).toWellFormed()),
  );
  expect(JSON.parse(open.bytes.toString('utf8', list.start, list.end))).toEqual(elements);
  expect(withPut(members, name.split('.'), elements)).toEqual(plain);
  expect(list.count).toBe(elements.length);

  const texts = wellFormed.map((element) => textIn(element, textPath));
  const documents = open.documents({ elements: 'any', areTextsAlone: true }) as Documents;
  expect(texts.map((_, index) => documents.text(index))).toEqual(texts);
  expect(JSON.parse(documents.sources().bytes.toString())).toEqual(texts);
  expect(documents.blanks).toEqual(
    texts.flatMap((text, index) => ((text as string).trim() === '' ? [index] : [])),
  );
}

describe('lists that are in members, and texts deeper in elements', () => {
  it.each([
    ['{"model":"m","input":{"query":"q","documents":["a","b"]},"n":1}', 'input.documents'],
    ['{"\\u0069nput":{"\\u0064ocuments":["a"],"\\u6807":1}}', 'input.documents'],
    ['{"sources":[{"s\\u006furce":{"\\"":1,"document":{"\\u0074ext":"a"}},"\\n":2}]}', 'sources'],
    ['{"input":{"documents":["a",{"text":"b","x":[{"text":1}]}],"query":"q"}}', 'input.documents'],
    ['{"input":{"documents":[]}}', 'input.documents'],
    ['{"input":{"x":{"documents":[1]},"documents":["a"]},"documents":[2]}', 'input.documents'],
    ['{"x":{"input":{"documents":[1]}},"input":{"documents":["a"]}}', 'input.documents'],
    ['{"x":[{"documents":[1]}],"input":{"documents":["a"]}}', 'input.documents'],
    ['{"input":{"documents":["a"]},"x":{"documents":["b"]}}', 'input.documents'],
    ['{"input":[{"text":"q","pair":"a"},{"pair":"b","text":"q"}]}', 'input'],
    ['{"records":[{"id":"1","title":"t","content":"a"},{"content":" "}]}', 'records'],
    ['{"records":[{"x":{"content":1},"content":"a","image":"b","text":1}]}', 'records'],
    ['{"sources":[{"source":{"document":{"text":"a"}}}]}', 'sources'],
    [
      '{"sources":[{"text":0,"document":0,"source":{"text":0,"x":{"document":{"text":0}},"document":{"x":{"text":0},"text":"a","y":0},"y":[]},"z":{}}]}',
      'sources',
    ],
    [
      '{"sources":[{"source":{"document":{"text":"a"}}},"b",{"source":{"document":{"text":"c"}}}]}',
      'sources',
    ],
  ])('are found as the plain parser reads them: %s', (json, name) => {
    const scanned = scan(json);

    expect(scanned?.name).toBe(name);
    if (scanned !== undefined) hold(json, scanned);
  });

  it.each([
    ['the member twice', '{"input":{"documents":["a"]},"input":{}}'],
    ['the member twice, the first time something else', '{"input":1,"input":{"documents":["a"]}}'],
    [
      'the list twice, the first time something else',
      '{"input":{"documents":1,"documents":["b"]}}',
    ],
    ['two lists', '{"input":{"documents":["a"]},"records":[]}'],
    ['two lists, the nested one last', '{"records":[],"input":{"documents":["a"]}}'],
    ['three lists of one name', '{"input":{"documents":[],"documents":[],"documents":["a"]}}'],
    ['a second list that is none', '{"input":{"documents":["a"],"documents":"b"}}'],
    ['a second outer member', '{"input":{"documents":["a"]},"input":{"documents":["b"]}}'],
    ['a list in a list', '{"input":[{"documents":["a"]}]}'],
    ['a list that is too deep', '{"input":{"x":{"documents":["a"]}}}'],
    ['a list that is none', '{"input":{"documents":{"a":"b"}}}'],
    ['a list that is null', '{"input":{"documents":null}}'],
    ['a member that is a text', '{"input":"documents"}'],
    ['a pair alone', '{"input":{"text":"q","pair":"a"}}'],
    ['a body that is a list', '[{"input":{"documents":["a"]}}]'],
    ['an element without the text', '{"records":[{"content":"a"},{"title":"b"}]}'],
    ['an element with the text of others', '{"records":[{"text":"a"}]}'],
    ['a text twice', '{"records":[{"content":"a","content":"b"}]}'],
    ['a text that is none', '{"records":[{"content":1}]}'],
    ['an escaped key beside a text', '{"records":[{"content":"a","c\\u006fntent":"b"}]}'],
    ['half of the way to a text', '{"sources":[{"source":{"text":"a"}}]}'],
    ['a step that is a text', '{"sources":[{"source":"a"}]}'],
    ['a step that is a list', '{"sources":[{"source":[{"document":{"text":"a"}}]}]}'],
    ['a step that is null', '{"sources":[{"source":null}]}'],
    ['a step twice', '{"sources":[{"source":{"document":{"text":"a"}},"source":{}}]}'],
    ['an inner step twice', '{"sources":[{"source":{"document":{"text":"a"},"document":{}}}]}'],
    ['an escaped step', '{"sources":[{"source":{"document":{"text":"a"}},"s\\u006furce":{}}]}'],
    ['an image where texts may be', '{"input":{"documents":[{"text":"a","image":"b"}]}}'],
    [
      'more nesting than it has bits for',
      `{"input":{"x":${'['.repeat(255)}${']'.repeat(255)},"documents":["a"]}}`,
    ],
    ['a member that does not end', '{"input":{"documents":["a"]'],
    ['a member that ends wrongly', '{"input":{"documents":["a"]]}'],
  ])('are left to the plain parser: %s', (_name, json) => {
    expect(scan(json)).toBeUndefined();
  });

  const quoted = fc
    .oneof(fc.string({ maxLength: 4 }), fc.constantFrom('', ' ', '\u3000', '汉字', '🪐', '\\"'))
    .map((text) => JSON.stringify(text));
  const key = fc.constantFrom(
    ...[
      'input',
      'documents',
      'records',
      'sources',
      'source',
      'document',
      'text',
      'content',
      'pair',
    ],
    ...['image', 'x', 'y', '', '__proto__', '\\u0069nput', 't\\u0065xt', '\\n'],
  );
  const object = (members: readonly string[]) => `{${members.join(',')}}`;
  const { value } = fc.letrec<{ value: string; member: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(quoted, fc.constantFrom('0', '-1.5e3', 'null', 'true')),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.array(tie('member'), { maxLength: 3 }).map(object),
    ),
    member: fc.tuple(key, tie('value')).map(([name, one]) => `"${name}" :${one}`),
  }));
  /** Rarely a member that is one of those that count. */
  const beside = fc.oneof(
    { weight: 6, arbitrary: value.map((one) => `"x":${one}`) },
    { weight: 1, arbitrary: fc.tuple(key, value).map(([name, one]) => `"${name}":${one}`) },
  );
  /** An object with a value at a path, and other members before and behind each step. */
  const along = (path: string, inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    path
      .split('.')
      .reverse()
      .reduce(
        (one, step) =>
          fc
            .tuple(fc.array(beside, { maxLength: 2 }), one, fc.array(beside, { maxLength: 2 }))
            .map(([before, member, behind]) =>
              object([...before, `"${step}": ${member}`, ...behind]),
            ),
        inner,
      );
  const body = fc.oneof(
    ...LISTS.map(({ name, text = 'text' }: ListPlace) => {
      const element = fc.oneof(
        { weight: 4, arbitrary: along(text, quoted) },
        { weight: 2, arbitrary: quoted },
        { weight: 1, arbitrary: value },
      );
      const list = fc.array(element, { maxLength: 5 }).map((items) => `[${items.join(' ,')}]`);
      return along(name, list);
    }),
  );

  it('means what the plain parser means by whatever it takes', () => {
    const taken = new Map<string, number>();
    fc.assert(
      fc.property(body, (json) => {
        const scanned = scan(json);
        if (scanned === undefined) return;
        taken.set(scanned.name, (taken.get(scanned.name) ?? 0) + 1);
        hold(json, scanned);
      }),
      { numRuns: 4_000 },
    );
    expect([...taken.values()].filter((times) => times > 100)).toHaveLength(LISTS.length);
  });

  it('takes nothing that the plain parser refuses, whatever is changed, and means the same', () => {
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      drop: fc.nat({ max: 4 }),
      put: fc.constantFrom(
        ...['', '"', '\\', ',', ':', '{', '}', '[', ']', '\n', '\\ud83d', '0', 'null', '"text"'],
        ...['"input":{', '"documents":[', '"content":"', '"source":{', '},', '],'],
      ),
    });
    fc.assert(
      fc.property(body, fc.array(change, { minLength: 1, maxLength: 2 }), (json, changes) => {
        let changed = json;
        for (const { at, drop, put } of changes) {
          const place = Math.floor(at * changed.length);
          changed = changed.slice(0, place) + put + changed.slice(place + drop);
        }
        const scanned = scan(changed);
        if (scanned !== undefined) hold(changed, scanned);
      }),
      { numRuns: 8_000 },
    );
  });

  it('takes no part of a body for the whole of it', () => {
    fc.assert(
      fc.property(body, (json) => {
        const whole = Buffer.from(json);
        for (let end = 0; end < whole.length; end += 1) {
          expect(scanBody(whole.subarray(0, end), LISTS)).toBeUndefined();
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    '{"x":{"documents":[0]},"input":{"query":"q","documents":["a",{"text":"b\\n","y":1}],"z":{}}}',
    '{"sources":[{"y":1,"source":{"document":{"x":{"text":0},"text":"汉 "},"z":[]}},"b"],"n":12}',
  ])('are found wherever a window ends: %s', (json) => {
    const length = Buffer.byteLength(json);
    const want = rowsIn(json, 0);
    // In front of the text lies as much white space as brings each of its bytes to the end of a window once.
    for (let shift = 0; shift <= length + 1; shift += 1) {
      const before = 65_536 - shift;
      expect([shift, rowsIn(' '.repeat(before) + json, before)]).toEqual([shift, want]);
    }
  });

  function rowsIn(json: string, from: number): number[] {
    const walk = new Walk(Buffer.from(json), LISTS);
    walk.go();
    const { list } = walk;
    if (list === undefined) throw new Error(`nothing found behind ${from} bytes`);
    expect(list.rows).toHaveLength(2 * ROW);
    // What a text means is no place.
    const shifted = list.rows.map((at, number) => (number % ROW === 4 ? at : at - from));
    return [list.keyStart - from, list.start - from, list.end - from, ...shifted];
  }
});
