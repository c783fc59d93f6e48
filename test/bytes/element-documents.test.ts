import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { elementDocuments } from '../../src/bytes/documents.js';
import { NewTexts } from '../../src/bytes/written-texts.js';
import { atOnce } from '../../src/bytes/steps.js';

/** Elements of three bytes each, with a comma between them. */
const body = Buffer.from('["a","b"]');
const rows = Uint32Array.from([1, 4, 0, 0, 0, 5, 8, 0, 0, 0]);
const list = { body, rows, values: 3 };

describe('documents of elements', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['are read', ({ text }: { text: string }) => ({ text, source: text })],
    ['are images', ({ text }: { text: string }) => ({ text, image: text, source: text })],
    [
      'are refused',
      () => {
        throw new Error('refused');
      },
    ],
  ])('leave the memory of their texts to others where they %s', (_name, part) => {
    const giveBack = jest.spyOn(NewTexts.prototype, 'giveBack');
    const read = (item: unknown) => part({ text: String(item) });

    try {
      atOnce(elementDocuments(list, read));
    } catch (error) {
      expect(error).toEqual(new Error('refused'));
    }

    expect(giveBack).toHaveBeenCalledTimes(1);
  });
});
