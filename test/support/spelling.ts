import { fc } from './property.js';

/** Escapes of one letter. */
const LETTERS = new Map(Object.entries({ '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }));

/** How each unit of a text is written, in turn: as it is where that may be, with a letter, as four digits small or large. */
export type Spelling = readonly number[];

export const spelling: fc.Arbitrary<Spelling> = fc.oneof(
  // As Python writes it, and as whoever escapes everything does.
  fc.constantFrom([0], [1], [2], [3]),
  fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 40 }),
);

/** A text as a JSON string; halves of surrogate pairs without the other half are always escaped, since UTF-8 has none. */
export function spelled(text: string, ways: Spelling): string {
  const characters = Array.from(text, (character, index) => {
    const way = ways[index % ways.length] ?? 0;
    return way < 2 && character.isWellFormed()
      ? plain(character, way)
      : Array.from({ length: character.length }, (_, at) =>
          escaped(character.charCodeAt(at), way),
        ).join('');
  });
  return `"${characters.join('')}"`;
}

function plain(character: string, way: number): string {
  const letter = LETTERS.get(character);
  if (letter !== undefined) return `\\${letter}`;
  if (character === '"' || character === '\\') return `\\${character}`;
  if (character === '/' && way === 1) return '\\/';
  return character < ' ' ? escaped(character.charCodeAt(0), 2) : character;
}

function escaped(unit: number, way: number): string {
  const digits = unit.toString(16).padStart(4, '0');
  return `\\u${way === 3 ? digits.toUpperCase() : digits}`;
}
