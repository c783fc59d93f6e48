import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { ROW, Walk, type FoundList, type ListPlace } from '../../src/bytes/scanner.js';

const NAMES = [{ name: 'documents' }];
const WINDOW = 65_536;

function walkOver(json: string | Buffer, names: readonly ListPlace[] = NAMES): Walk {
  const walk = new Walk(Buffer.from(json), names);
  walk.go();
  return walk;
}

function textsOf(json: Buffer, { rows }: FoundList): string[] {
  return Array.from({ length: rows.length / ROW }, (_, index) => {
    const [start, end] = rows.subarray(index * ROW + 2, index * ROW + ROW);
    return JSON.parse(json.toString('utf8', start, end)) as string;
  });
}

describe('Walk', () => {
  it('leaves the places of one text as they are while others are walked over', () => {
    const bodies = Array.from({ length: 600 }, (_, at) =>
      Buffer.from(JSON.stringify({ documents: Array.from({ length: at % 140 }, () => `${at}`) })),
    );
    const walks = bodies.map((body) => walkOver(body));

    for (const [at, { list }] of walks.entries()) {
      const texts = list === undefined ? [] : textsOf(bodies[at] ?? Buffer.alloc(0), list);
      expect(texts).toEqual(Array.from({ length: at % 140 }, () => `${at}`));
    }
  });

  const DOCUMENTS = [
    'a\n"b"\\ 汉字 🪐',
    '\u3000\u00a0 ',
    'half \ud83d\n\ud83d🪐\ude00',
    { text: 'été \u2028', id: -12.5e-3, tags: [true, false, null, { text: 0 }], image: '' },
    '',
    '🪐🪐🪐',
  ];
  const BLANKS = [1, 4];
  const TEXTS = DOCUMENTS.map((item) => (typeof item === 'string' ? item : item.text));

  it.each([
    ['as it is', (json: string) => json],
    ['indented', (json: string) => JSON.stringify(JSON.parse(json), undefined, 10)],
    [
      'as Python writes it',
      (json: string) =>
        JSON.stringify(JSON.parse(json), undefined, 1)
          .replaceAll(/,\n */g, ', ')
          .replaceAll(/\n */g, ''),
    ],
    [
      'escaped',
      (json: string) =>
        json.replace(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
    ],
  ])('reads the same wherever a window ends: %s', (_name, write) => {
    const json = write(JSON.stringify({ query: 'q', documents: DOCUMENTS, top_n: 12 }));
    const length = Buffer.byteLength(json);
    // In front of the text lies as much white space as brings each of its bytes to the end of a window once.
    for (let shift = 0; shift <= length + 1; shift += 1) {
      const body = Buffer.from(' '.repeat(WINDOW - shift) + json);
      const walk = walkOver(body);
      const { list } = walk;
      if (list === undefined)
        throw new Error(`nothing found with ${shift} bytes in the first window`);
      expect(textsOf(body, list)).toEqual(TEXTS);
      expect(list.blanks).toEqual(BLANKS);
      // The object, the query, the list, the count.
      expect(walk.otherValues).toBe(4);
    }
  });

  it.each(['\\"', '\\\\', '\\n', '\\u0022', '\\"\\\\\\"'])(
    'finds the end of a string wherever the escape %s lies among its bytes',
    (escape) => {
      for (let before = 0; before < 40; before += 1) {
        for (const after of ['', 'b', '\\\\', 'b'.repeat(20)]) {
          const text = JSON.parse(`"${'a'.repeat(before)}${escape}${after}"`) as string;
          const body = Buffer.from(`{"documents":["${'a'.repeat(before)}${escape}${after}","c"]}`);
          const { list } = walkOver(body);
          expect(list && textsOf(body, list)).toEqual([text, 'c']);
        }
      }
    },
  );

  it('only locates the elements of a list without a text, whatever is in them', () => {
    const list = [{}, 'a', { '': '', text: 1 }, { image: 'b', text: 'c', x: [{ text: 'd' }] }, ' '];
    const body = Buffer.from(
      JSON.stringify({ documents: list, x: { documents: [1] } }, undefined, 1),
    );
    const found = walkOver(body, [{ name: 'documents', text: '' }]).list;
    const values = list.map((_, index): unknown => {
      const [start, end] = found?.rows.subarray(index * ROW, index * ROW + 2) ?? [];
      return JSON.parse(body.toString('utf8', start, end));
    });

    expect(values).toEqual(list);
    expect(found?.count).toBe(list.length);
    expect(found?.blanks).toEqual([4]);
  });

  it('goes on where it stopped, beside others', () => {
    const long = (text: string) =>
      Buffer.from(JSON.stringify({ documents: Array.from({ length: 20_000 }, () => text) }));
    const walks = ['a "b"', 'c\nd', '汉字', '🪐'].map((text) => {
      const body = long(text);
      return { text, body, walk: new Walk(body, NAMES) };
    });
    for (let left = walks; left.length > 0;) left = left.filter(({ walk }) => !walk.go(1));

    for (const { text, body, walk } of walks) {
      expect(walk.list?.count).toBe(20_000);
      expect(walk.list && textsOf(body, walk.list)).toEqual(
        Array.from({ length: 20_000 }, () => text),
      );
    }
  });

  it.each([
    ['a string of many windows', JSON.stringify({ documents: ['汉\n'.repeat(WINDOW)] }), 1],
    [
      'more elements than a window notes',
      JSON.stringify({ documents: Array.from({ length: 50_000 }, () => '') }),
      50_000,
    ],
    ['more white space than a window', `{"documents":[${' '.repeat(3 * WINDOW)}"a"]}`, 1],
    ['a blank of many windows', `{"documents":["${' \\u3000'.repeat(WINDOW)}"]}`, 1],
  ])('takes %s', (_name, json, count) => {
    expect(walkOver(json).list?.count).toBe(count);
  });

  it.each([
    ['a key', `{"${'k'.repeat(WINDOW)}":1,"documents":[]}`],
    ['a number', `{"a":${'1'.repeat(WINDOW)},"documents":[]}`],
  ])('leaves %s that is longer than a window to others', (_name, json) => {
    expect(walkOver(json).isValid).toBe(false);
  });

  it('judges JSON as the plain parser does', () => {
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      }),
      fc.constantFrom(
        '[0]',
        '[-0]',
        '[01]',
        '[1.]',
        '[.1]',
        '[1e]',
        '[1e+]',
        '[-]',
        '[+1]',
        '[1 2]',
        '[tru]',
        '[nulll]',
        '[1e5,2E-3]',
        '["\\ud83d\\u00"]',
        '["\\ud83d\\u"]',
        '["\\ud83d","\\ude00"]',
        '{"\\ud83d":"\\ud83d\\x"}',
        ...['""]', '"a"}', '"a",{}', '"a",[]', '"a" []', '1,{}', '{},{}', '[]]', '{}}', '"a"'],
      ),
    );
    fc.assert(
      fc.property(json, (text) => {
        const body = Buffer.from(text);
        const { isValid } = walkOver(body, []);
        let isJson = true;
        let value: unknown;
        try {
          value = JSON.parse(body.toString());
        } catch {
          isJson = false;
        }
        if (isValid) expect(isJson).toBe(true);
        // What it leaves to others: values that are neither objects nor lists.
        else if (isJson) expect(typeof value === 'object' && value !== null).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  it('reads text that is full of escapes as the plain parser does', () => {
    const escape = fc.constantFrom(
      ...[
        '\\n',
        '\\"',
        '\\\\',
        '\\/',
        '\\b',
        '\\t',
        '\\\\\\\\\\\\',
        '\\u00e9',
        '\\u0022',
        '\\u005C',
      ],
      ...[
        '\\ud7ff',
        '\\uE000',
        '\\ud83d\\ude00',
        '\\uD83D\\uDE00',
        '\\ud800\\udfff',
        '\\udbff\\udc00',
      ],
    );
    const letters = fc.constantFrom(
      'a',
      'd',
      'u',
      ' ',
      '/',
      'é',
      '汉',
      '🪐',
      'some words between them',
    );
    const half = fc.constantFrom(
      '\\ud83d',
      '\\uDE00',
      '\\ud83d\\ud83d\\ude00',
      '\\ude00\\ud83d',
      '\\ud83d\\n',
    );
    const broken = fc.constantFrom(
      '\\x',
      '\\u004',
      '\\u00g0',
      '\\U0041',
      '\\ud83d\\u',
      '\\',
      '\n',
      '\0',
      '"',
    );
    const pieces = fc.array(
      fc.oneof(
        {
          weight: 30,
          arbitrary: fc.tuple(escape, fc.nat(12)).map(([one, times]) => one.repeat(times)),
        },
        { weight: 20, arbitrary: escape },
        { weight: 20, arbitrary: letters },
        {
          weight: 6,
          arbitrary: fc.tuple(half, fc.nat(12)).map(([one, times]) => one.repeat(times)),
        },
        { weight: 1, arbitrary: broken },
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 4 }), fc.nat(80), (lists, before) => {
        const texts = lists.map((list) => `"${list.join('')}"`);
        const body = Buffer.from(`{"query":"${'q'.repeat(before)}","documents":[${texts.join()}]}`);
        let plain: { readonly documents: readonly unknown[] } | undefined;
        try {
          plain = JSON.parse(body.toString()) as { readonly documents: readonly unknown[] };
        } catch {
          plain = undefined;
        }
        const { list, isValid } = walkOver(body);
        expect(isValid).toBe(plain !== undefined);
        if (list === undefined || plain === undefined) return;
        expect(textsOf(body, list)).toEqual(plain.documents);
        const lone = plain.documents.join(' ').match(LONE_HALVES)?.length ?? 0;
        expect(list.halves.length).toBe(lone);
        expect(list.halves.every((at, index) => at > (list.halves[index - 1] ?? 0))).toBe(true);
        for (const at of list.halves)
          expect(body.toString('latin1', at, at + 3)).toMatch(/\\u[dD]/);
      }),
      { numRuns: 20_000 },
    );
  });
});

it.each([0, 1, 5, 63])(
  'more halves than one window may have are all found, behind %i',
  (before) => {
    for (const between of ['', 'x', '\\n', 'twelve bytes']) {
      const text = 'q'.repeat(before) + `\\ud83d${between}`.repeat(30_000);
      const body = Buffer.from(`{"query":"\\ud83d","documents":["${text}"]}`);

      const { list } = walkOver(body);

      const first = body.indexOf('["') + 2 + before;
      const size = 6 + between.length;
      expect(list?.halves.length).toBe(30_000);
      expect(list?.halves.every((at, index) => at === first + index * size)).toBe(true);
    }
  },
);

/** With the flag, both halves of a pair are one character. */
const LONE_HALVES = /[\ud800-\udfff]/gu;

describe('a list whose elements are only located', () => {
  it('may have any, wherever a window ends', () => {
    const element = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.constantFrom('null', 'true', '-1.5e+9', '[]', '{}', '[[],[1,"a"]]', '"\\ud83d"', '" "'),
    );
    const elements = fc.array(fc.tuple(element, fc.nat(3)), { maxLength: 12 });
    fc.assert(
      fc.property(elements, fc.nat(80), fc.boolean(), (list, place, isDense) => {
        const blank = (count: number) => (isDense ? '' : ' '.repeat(count));
        const texts = list.map(([json, spaces]) => blank(spaces) + json + blank(3 - spaces));
        const head = `{"padding":"${'x'.repeat(65_536 - place)}","list":[`;
        const body = Buffer.from(`${head}${texts.join()}],"other":[1,null]}`);
        const walk = new Walk(body, [{ name: 'list', text: '' }]);
        walk.go();

        const found = list.map((_, row) =>
          body.toString('utf8', walk.list?.rows[row * ROW], walk.list?.rows[row * ROW + 1]),
        );
        expect(walk.list?.count).toBe(list.length);
        expect(found).toEqual(list.map(([json]) => json));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has no texts where its elements are none, whatever was walked over before', () => {
    const body = Buffer.from('{"documents":[{"image":"b"},"c",[1],2]}');
    walkOver('{"documents":["text"]}');

    const none = [0, 0, 0];
    const rows = [14, 27, ...none, 28, 31, 28, 31, 1, 32, 35, ...none, 36, 37, ...none];
    expect(Array.from(walkOver(body, [{ name: 'documents', text: '' }]).list?.rows ?? [])).toEqual(
      rows,
    );
  });

  it('may have more than a window can note', () => {
    const items = Array.from({ length: 30_000 }, (_, at) => (at % 3 === 0 ? null : at % 7));
    const body = Buffer.from(JSON.stringify({ list: items }));
    const walk = new Walk(body, [{ name: 'list', text: '' }]);
    walk.go();

    expect(walk.list?.count).toBe(items.length);
    const rows = walk.list?.rows ?? [];
    const found = items.map((_, row) =>
      body.toString('utf8', rows[row * ROW], rows[row * ROW + 1]),
    );
    expect(found).toEqual(items.map((item) => JSON.stringify(item)));
  });
});
