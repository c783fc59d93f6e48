import { describe, expect, test } from '@jest/globals';
import { fc } from '../support/property.js';
import { lexicalSlices, scoreLexically } from '../../src/rankers/lexical.js';

function sliced(query: string, documents: readonly string[], sliceChars: number) {
  const slices = lexicalSlices(
    query,
    { count: documents.length, text: (index) => documents[index] ?? '' },
    sliceChars,
  );
  for (let yields = 0; ; yields += 1) {
    const slice = slices.next();
    if (slice.done === true) return { scores: slice.value, yields };
  }
}

function ranking(scores: readonly number[]): number[] {
  return scores.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
}

const DENSE =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/** The grams of a text, as its description reads: slow and obvious. For text without lone accents and rare scripts. */
function gramsOf(text: string): string[] {
  const folded = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  const runs: { dense: boolean; characters: string[] }[] = [];
  let before: boolean | undefined;
  for (const character of folded) {
    const symbol = /[\p{S}#%&@]/u.test(character);
    const dense = symbol || (/[\p{L}\p{M}\p{N}]/u.test(character) && DENSE.test(character));
    if (!dense && !/[\p{L}\p{M}\p{N}]/u.test(character)) {
      before = undefined;
      continue;
    }
    if (dense !== before) runs.push({ dense, characters: [] });
    runs.at(-1)?.characters.push(character);
    before = dense;
  }
  return runs.flatMap(({ dense, characters }) => {
    if (dense) return [...characters, ...windows(characters, 2)];
    const padded = ['_', ...characters, '_'];
    return padded.length < 4 ? [padded.join('')] : windows(padded, 4);
  });
}

function windows(characters: readonly string[], size: number): string[] {
  return characters
    .slice(size - 1)
    .map((_, index) => characters.slice(index, index + size).join(''));
}

/** BM25 by the book over all grams of all documents. */
function bm25(query: string, documents: readonly string[]): number[] {
  const texts = documents.map(gramsOf);
  const filled = texts.filter(({ length }) => length > 0);
  const meanLength = filled.reduce((sum, { length }) => sum + length, 0) / filled.length;
  return texts.map((grams) =>
    gramsOf(query).reduce((score, gram) => {
      const times = grams.filter((other) => other === gram).length;
      if (times === 0) return score;
      const having = filled.filter((other) => other.includes(gram)).length;
      const idf = Math.log(1 + (filled.length - having + 0.5) / (having + 0.5));
      return score + (idf * times * 5) / (times + 4 * (0.1 + (0.9 * grams.length) / meanLength));
    }, 0),
  );
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  // Lone surrogates and whatever else fits in 16 bits.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  fc.string({ maxLength: 60 }),
);
/** Text from few words of many scripts, so that queries and documents overlap. */
const wordText = fc
  .array(
    fc.constantFrom(
      ...['moon', 'Moons', 'the', 'a', 'planet', 'Überraschung', 'ΟΔΟΣ', 'C++', 'C#', 'R&D', '42'],
      ...[
        'спутник',
        'спутники',
        '土星',
        '衛星の数',
        'ดาวเสาร์',
        'مدينة',
        '위성',
        '🚀',
        '👍🏽',
        'ｶﾞ',
        '…',
        '\u{20000}',
      ],
    ),
    { maxLength: 25 },
  )
  .chain((words) => fc.constantFrom(' ', ', ', '\n', '').map((between) => words.join(between)));
const someText = fc.oneof(anyText, wordText);

describe('scores', () => {
  test('of a document equal to the query, among others of its length, are about two thirds', () => {
    const [equal] = scoreLexically('seven red foxes', ['seven red foxes', 'other blue birds']);

    expect(equal).toBeGreaterThan(0.6);
    expect(equal).toBeLessThan(0.75);
  });

  test('are finite, between 0 and 1, and as many as the documents, whatever the text', () => {
    fc.assert(
      fc.property(someText, fc.array(someText, { maxLength: 12 }), (query, documents) => {
        const scores = scoreLexically(query, documents);

        expect(scores).toHaveLength(documents.length);
        for (const score of scores) {
          expect(Number.isFinite(score)).toBe(true);
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('order the documents as BM25 by the book does, and are 0 exactly where it is', () => {
    fc.assert(
      fc.property(wordText, fc.array(wordText, { maxLength: 8 }), (query, documents) => {
        const scores = scoreLexically(query, documents);
        const expected = bm25(query, documents);

        expected.forEach((score, index) => {
          expect((scores[index] ?? -1) > 0).toBe(score > 0);
          expected.forEach((other, otherIndex) => {
            if (score - other > 1e-9) {
              expect(scores[index]).toBeGreaterThan(scores[otherIndex] ?? NaN);
            }
          });
        });
      }),
      { numRuns: 300 },
    );
  });

  test('move with the documents when those change places', () => {
    fc.assert(
      fc.property(
        someText,
        fc
          .array(someText, { maxLength: 10 })
          .chain((documents) =>
            fc.tuple(
              fc.constant(documents),
              fc.shuffledSubarray([...documents.keys()], { minLength: documents.length }),
            ),
          ),
        (query, [documents, order]) => {
          const scores = scoreLexically(query, documents);
          const shuffled = scoreLexically(
            query,
            order.map((index) => documents[index] ?? ''),
          );

          expect(shuffled).toEqual(order.map((index) => scores[index]));
        },
      ),
    );
  });

  test('do not depend on how the work is sliced', () => {
    fc.assert(
      fc.property(
        wordText,
        fc.array(fc.tuple(someText, fc.integer({ min: 0, max: 150 })), { maxLength: 6 }),
        fc.integer({ min: 1, max: 20_000 }),
        (query, pieces, sliceChars) => {
          const documents = pieces.map(([text, times]) => text.repeat(times));

          expect(sliced(query, documents, sliceChars).scores).toEqual(
            scoreLexically(query, documents),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('stay when blank documents are added', () => {
    fc.assert(
      fc.property(someText, fc.array(someText, { maxLength: 8 }), (query, documents) => {
        const scores = scoreLexically(query, documents);

        expect(scoreLexically(query, ['', ...documents, ' \n\t\u3000', '...'])).toEqual([
          0,
          ...scores,
          0,
          0,
        ]);
      }),
    );
  });

  test('put the same text at the same score', () => {
    fc.assert(
      fc.property(someText, fc.array(someText, { maxLength: 8 }), (query, documents) => {
        const scores = scoreLexically(query, [...documents, ...documents]);

        expect(scores.slice(documents.length)).toEqual(scores.slice(0, documents.length));
      }),
    );
  });

  test('rise with the share of the query that a document has, towards 1 for a full match', () => {
    const filler = 'Completely unrelated prose about cooking vegetables slowly. '.repeat(20);

    const [none, half, full] = scoreLexically('saturn moons', [filler, 'saturn', 'saturn moons']);

    expect(none).toBe(0);
    expect(half).toBeGreaterThan(0.1);
    expect(full).toBeGreaterThan(half ?? 1);
    expect(full).toBeGreaterThan(0.9);
    expect(full).toBeLessThanOrEqual(1);
  });

  test.each([
    ['punctuation', '?! … --- "…"'],
    ['white space', ' \t\n\u3000'],
    ['invisible characters', '\u200b\ufeff\u00ad\u200d'],
    ['a lone surrogate', '\ud83d'],
    ['control and private characters', '\0\u0007\ue000'],
  ])('are all 0 for a query of nothing but %s', (_, query) => {
    expect(scoreLexically(query, ['some text', query, ''])).toEqual([0, 0, 0]);
  });

  test('are none for no documents', () => {
    expect(scoreLexically('query', [])).toEqual([]);
  });
});

describe('what counts as the same', () => {
  test.each([
    ['case', 'SATURN', 'saturn'],
    ['case of a query beyond ASCII, in plain text', 'CAFÉ saturn', 'SATURN'],
    ['a sigma wherever it stands', 'ς', 'Σ'],
    ['case of a dotted I', 'İSTANBUL', 'istanbul'],
    ['a dotted I and an i', 'İ', 'i'],
    ['full-width letters', 'Ｓａｔｕｒｎ', 'saturn'],
    ['half-width katakana', 'ｶﾞｲﾄﾞ', 'ガイド'],
    ['composed and decomposed accents', 'cafe\u0301', 'café'],
    ['Hangul as letters and as syllables', '\u1112\u1161\u11ab', '한'],
    ['ligatures', 'ﬁnance', 'finance'],
    ['a soft hyphen', 'Donau\u00addampf', 'Donaudampf'],
    ['a variation selector', '葛\u{e0100}城', '葛城'],
    ['one letter', 'X', 'plan x!'],
    ['an emoji', '🚀', 'we launched 🚀 today'],
    ['a currency', '€', 'costs 5 €'],
    ['a character beyond 16 bits', '\u{20bb7}', '\u{20bb7}野家'],
  ])('%s', (_, query, document) => {
    const [same, other] = scoreLexically(query, [document, 'zebra 龘 ☃']);

    expect(same).toBeGreaterThan(0);
    expect(other).toBe(0);
  });

  test.each([
    ['C#', 'C++', 'the C# compiler', 'the C++ compiler'],
    ['C++', 'C', 'the C++ compiler', 'the C, or other compiler'],
    ['R&D', 'R or D', 'our R&D costs', 'our R, or D costs'],
    ['🇩🇪', '🇪🇩', 'grown in 🇩🇪', 'grown in 🇪🇩'],
  ])('%s is not %s', (query, _, right, wrong) => {
    const [rightScore, wrongScore] = scoreLexically(query, [right, wrong]);

    expect(rightScore).toBeGreaterThan(wrongScore ?? 1);
  });
});

describe('ranking', () => {
  test.each([
    [
      'English',
      'Which planet has the most moons?',
      'Saturn has 146 confirmed moons, more than any other planet.',
      [
        'Jupiter is the largest planet in the solar system.',
        'The most popular programming languages are Python and JavaScript.',
        'Which of the two had the better day?',
      ],
    ],
    [
      'English inflection',
      'how to restore backups',
      'Restoring a database from its backup takes an hour.',
      ['How to bake bread at home.', 'Stores in the back of the mall open at ten.'],
    ],
    [
      'a German compound',
      'Versicherung für Krankheit',
      'Die Krankenversicherungspflicht gilt bei jeder Krankheitsdauer.',
      ['Die Katze schläft auf dem Sofa.', 'Für das Fahrrad braucht man ein Schloss.'],
    ],
    [
      'Russian',
      'Какая планета имеет больше всего спутников?',
      'У планеты Сатурн известно 146 спутников.',
      ['Москва является столицей России.', 'Какая сегодня погода в городе?'],
    ],
    [
      'Japanese',
      '衛星が最も多い惑星はどれですか',
      '土星は衛星が最も多い惑星です。',
      ['東京は日本の首都です。', '今日の天気はどうですか。', 'パンの焼き方を学ぶ。'],
    ],
    [
      'Chinese',
      '哪颗行星的卫星最多？',
      '土星拥有146颗已确认的卫星，是卫星最多的行星。',
      ['北京是中国的首都。', '今天的天气很好。', '最多的人喜欢喝茶。'],
    ],
    [
      'Korean',
      '위성이 가장 많은 행성은?',
      '토성은 가장 많은 위성을 가진 행성이다.',
      ['서울은 대한민국의 수도이다.', '오늘은 비가 많이 온다.'],
    ],
    [
      'Thai',
      'ดาวเคราะห์ดวงใดมีดวงจันทร์มากที่สุด',
      'ดาวเสาร์มีดวงจันทร์มากที่สุดในบรรดาดาวเคราะห์',
      ['กรุงเทพเป็นเมืองหลวงของไทย', 'วันนี้ฝนตกหนักมาก'],
    ],
    [
      'Arabic',
      'أي كوكب لديه أكبر عدد من الأقمار؟',
      'كوكب زحل لديه 146 من الأقمار المؤكدة.',
      ['القاهرة هي عاصمة مصر.', 'الطقس جميل اليوم.'],
    ],
    [
      'Hindi',
      'किस ग्रह के सबसे अधिक चंद्रमा हैं?',
      'शनि ग्रह के 146 चंद्रमा हैं, जो सबसे अधिक है।',
      ['दिल्ली भारत की राजधानी है।', 'आज मौसम अच्छा है।'],
    ],
    [
      'mixed scripts',
      'iPhone15の電池を交換する',
      '自分でiPhone15の電池交換をする方法',
      ['iPad を安く買う', '電話の料金プラン', 'Battery life of laptops'],
    ],
  ])('puts the answer first: %s', (_, query, answer, others) => {
    const documents = [...others, answer];

    const scores = scoreLexically(query, documents);

    expect(ranking(scores)[0]).toBe(documents.length - 1);
  });

  test('prefers the shorter of two documents that match alike', () => {
    const [long, short] = scoreLexically('saturn', [
      `Saturn, ${'and many other things besides, '.repeat(10)}`,
      'Saturn, and little else.',
    ]);

    expect(short).toBeGreaterThan(long ?? 1);
  });

  test('gives a rare word more weight than one that every document has', () => {
    const [rare] = ranking(
      scoreLexically('server zookeeper', ['server one', 'server two', 'zookeeper', 'server four']),
    );

    expect(rare).toBe(2);
  });
});

describe('slices', () => {
  test('cut a long document, and many short and empty ones', () => {
    const long = sliced('moon', ['moon '.repeat(40_000)], 10_000);
    const short = sliced('moon', new Array<string>(10_000).fill('moon'), 10_000);
    const empty = sliced('moon', new Array<string>(10_000).fill(''), 10_000);

    expect(long.yields).toBeGreaterThanOrEqual(15);
    expect(short.yields).toBeGreaterThanOrEqual(15);
    expect(empty.yields).toBeGreaterThanOrEqual(15);
  });

  test('read each document once, in order, and none ahead of its turn', () => {
    const read: number[] = [];
    const slices = lexicalSlices(
      'moon',
      {
        count: 3,
        text: (index) => {
          read.push(index);
          return 'moon '.repeat(1000);
        },
      },
      1024,
    );

    slices.next();
    expect(read).toEqual([0]);
    for (let done: boolean | undefined = false; done !== true;) done = slices.next().done;

    expect(read).toEqual([0, 1, 2]);
  });

  test('of two requests may take turns', () => {
    const documents = ['moon über '.repeat(900), 'C++ 土星 '.repeat(900)];
    const first = lexicalSlices('moon 星', { count: 2, text: (i) => documents[i] ?? '' }, 1024);
    const second = lexicalSlices('über c++', { count: 2, text: (i) => documents[i] ?? '' }, 1024);
    const results: number[][] = [];

    for (const running = new Set([first, second]); running.size > 0;) {
      for (const slices of running) {
        const slice = slices.next();
        if (slice.done !== true) continue;
        running.delete(slices);
        results.push(slice.value);
      }
    }

    expect(results).toEqual([
      scoreLexically('moon 星', documents),
      scoreLexically('über c++', documents),
    ]);
  });

  test('find a word and an accent that lie across two pieces of a long document', () => {
    const wordAt = (before: number): string => `${'. '.repeat(before / 2)}zookeeper`;
    const accentAt = (before: number): string => `${'.'.repeat(before)}cafe\u0301`;
    const positions = Array.from({ length: 20 }, (_, index) => 500 + index);

    for (const before of positions) {
      const [across, whole] = scoreLexically('zookeeper', [wordAt(before), 'zookeeper']);
      expect(across).toBe(whole);
      const [accent, plain] = scoreLexically('café', [accentAt(before), 'café']);
      expect(accent).toBe(plain);
    }
  });
});

describe('a query out of all proportion', () => {
  test('is read as far as it bounds the work', () => {
    const query = `moon ${'星月火水木金土'.repeat(20_000)}`;

    const [first, beyond] = scoreLexically(`${query} zookeeper`, ['moon', 'zookeeper']);

    expect(first).toBeGreaterThan(0);
    expect(beyond).toBe(0);
  });

  test('may have thousands of different characters', () => {
    const query = String.fromCodePoint(...Array.from({ length: 16_000 }, (_, at) => 0x4e00 + at));

    const [start, end, none] = scoreLexically(query, ['一丁', query.slice(-2), 'moon']);

    expect(start).toBeGreaterThan(0);
    expect(end).toBeGreaterThan(0);
    expect(none).toBe(0);
  });
});

test('a gram that no document has weighs as much in a full match as the rarest', () => {
  // The grams "_a_" and "_x_" weigh the same: half of a fifth of the full score, stretched.
  const share = 0.1;
  const expected = share / (share + 0.12 * (1 - share));

  expect(scoreLexically('a x', ['a', 'b'])).toEqual([expect.closeTo(expected, 12), 0]);
});
