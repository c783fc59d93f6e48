import { describe, expect, it } from '@jest/globals';
import {
  decoded,
  MOST_BYTES,
  partedAt,
  PIECE_BYTES,
  stringPieces,
} from '../../src/bytes/text-pieces.js';
import { fc } from '../support/property.js';

/** A string as JSON, in which any of its characters may be escaped. */
const raw = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.constantFrom(
        '\\\\',
        '\\"',
        '\\n',
        '\\u00e4',
        '\\ud83d\\ude00',
        'ä',
        '€',
        '😀',
        '\\\\u0041',
      ),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''));

function jsonOf(inner: string): Buffer {
  return Buffer.from(`"${inner}"`);
}

describe('a JSON string', () => {
  it('may be parted anywhere, and its halves mean what the whole does', () => {
    fc.assert(
      fc.property(raw, (inner) => {
        const json = jsonOf(inner);
        const last = json.length - 1;
        const whole = JSON.parse(json.toString()) as string;
        for (let most = 1 + MOST_BYTES; most <= json.length; most += 1) {
          const at = partedAt(json, 1, most);

          expect(at).toBeGreaterThan(1);
          expect(at).toBeLessThanOrEqual(Math.min(most, last));
          expect(decoded(json, 1, at) + decoded(json, at, last)).toBe(whole);
        }
      }),
    );
  });

  it('is read in pieces that are no larger than they should be', () => {
    fc.assert(
      fc.property(raw, (inner) => {
        const json = jsonOf(inner.repeat(Math.ceil((2.5 * PIECE_BYTES) / inner.length)));
        const pieces = [...stringPieces(json)];

        expect(pieces.length).toBeGreaterThan(2);
        expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(PIECE_BYTES);
        expect(pieces.join('') === JSON.parse(json.toString())).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('that is empty has no pieces', () => {
    expect([...stringPieces(jsonOf(''))]).toEqual([]);
  });
});
