import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { textDocuments } from '../../src/core/text-documents.js';
import { bestPassages, MOST_PASSAGES, passageList, passagesOf } from '../../src/core/passages.js';
import { mostTokens } from '../../src/core/tokens.js';

const words = fc.array(
  fc.constantFrom('moon', 'sea', 'Сатурн', '土星', '🪐', 'a', '\n', '汉'.repeat(40)),
  { maxLength: 120 },
);

describe('passages of a text', () => {
  it('are the text itself where it surely fits', () => {
    expect(passagesOf('two moons', 10)).toEqual(['two moons']);
    expect(passagesOf('', 10)).toEqual(['']);
  });

  it('overlap, and end and begin between words', () => {
    const passages = passagesOf('alpha beta gamma delta epsilon zeta '.repeat(20), 40);

    expect(passages.length).toBeGreaterThan(3);
    for (const passage of passages) expect(passage).toMatch(/^[a-z]+ .*[a-z] $/);
    const [first = '', second = ''] = passages;
    expect(first).toContain(second.slice(0, 6));
  });

  it('keep characters of two halves whole, wherever a passage ends', () => {
    const text = '🪐'.repeat(200);

    for (let most = 4; most <= 120; most += 1) {
      const passages = [...passagesOf(text, most), ...passagesOf(`a${text}`, most)];
      expect(passages.length).toBeGreaterThan(2);
      expect(passages.filter((passage) => !passage.isWellFormed())).toEqual([]);
    }
  });

  it('fit, keep characters whole, and leave nothing out but white space', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 200 }), (list, most) => {
        const named = list.map((word, at) => word + String(at));
        const text = named.join(' ');
        const passages = passagesOf(text, most);

        expect(passages.length).toBeGreaterThan(0);
        for (const passage of passages) {
          expect(passage.isWellFormed()).toBe(true);
          expect(text).toContain(passage);
          // A character by itself may have more tokens than there is room for.
          if (passage.length > 2) expect(mostTokens(passage)).toBeLessThanOrEqual(most);
        }
        const read = passages.join('|');
        for (const word of named) {
          if (mostTokens(word) < most / 8) expect(read).toContain(word);
        }
        for (const character of text)
          if (character.trim() !== '') expect(read).toContain(character);
      }),
    );
  });

  it('are no more than are read, and one that says so', () => {
    expect(passagesOf('moon '.repeat(10_000), 20)).toHaveLength(MOST_PASSAGES + 1);
  });

  it('are never of white space alone', () => {
    const text = `${' '.repeat(400)}moon${' '.repeat(400)}sea`;

    for (const passage of passagesOf(text, 8)) expect(passage.trim()).not.toBe('');
  });
});

describe('a list with passages', () => {
  const long = 'moon '.repeat(100);

  it('has them in place of long documents', () => {
    const { documents, of, isCut } = passageList(textDocuments(['sun', long, 'sea']), [1], 40);

    expect(of[0]).toBe(0);
    expect(of.at(-1)).toBe(2);
    expect(of.filter((index) => index === 1).length).toBeGreaterThan(2);
    expect(documents.count).toBe(of.length);
    expect([documents.text(0), documents.text(of.length - 1)]).toEqual(['sun', 'sea']);
    expect(isCut).toBe(false);
  });

  it('tells when a document had more than are read', () => {
    const { documents, isCut } = passageList(textDocuments(['moon '.repeat(10_000)]), [0], 20);

    expect([documents.count, isCut]).toEqual([MOST_PASSAGES, true]);
  });
});

describe('the best passages', () => {
  it('are what their documents are ranked by', () => {
    const rows = [
      { index: 2, score: 0.9 },
      { index: 0, score: 0.5 },
      { index: 3, score: 0.5 },
      { index: 1, score: 0.1 },
    ];

    expect(bestPassages(rows, [0, 1, 1, 2], 3)).toEqual([
      { index: 1, score: 0.9 },
      { index: 0, score: 0.5 },
      { index: 2, score: 0.5 },
    ]);
    expect(bestPassages(rows, [0, 1, 1, 2], 1)).toEqual([{ index: 1, score: 0.9 }]);
    const ties = [
      { index: 1, score: 0.5 },
      { index: 0, score: 0.5 },
    ];
    expect(bestPassages(ties, [0, 1], 2)).toEqual(ties.toReversed());
  });

  it('rank a list without long documents as it is', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true }), { minLength: 1 }), (scores) => {
        const rows = scores
          .map((score, index) => ({ index, score }))
          .sort((one, other) => other.score - one.score || one.index - other.index);

        const of = scores.map((_, index) => index);
        expect(bestPassages(rows, of, rows.length)).toEqual(rows);
      }),
    );
  });
});
