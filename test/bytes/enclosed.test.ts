import { describe, expect, it } from '@jest/globals';
import { JsonFragment } from '../../src/bytes/fragment.js';
import { encodeEnclosed, encodeJson, MOST_ENCLOSED_BYTES } from '../../src/bytes/encode.js';
import { bufferWithRoom } from '../../src/bytes/room.js';
import { Owned } from '../../src/bytes/memory.js';
import { fc } from '../support/property.js';

const bytesOf = (body: ReturnType<typeof encodeEnclosed>): Buffer =>
  body instanceof Owned ? body.bytes : body.joined();

const listOf = (bytes: number): Buffer => Buffer.from(`["${'x'.repeat(bytes - 4)}"]`);

describe('encodeEnclosed', () => {
  it('writes what encodeJson does, and knows its size', () => {
    const members = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 });
    fc.assert(
      fc.property(
        members,
        fc.constantFrom(4, 5_000, 8_191, 8_192, 60_000, 131_000, 132_000),
        members,
        fc.boolean(),
        (before, size, after, isTwice) => {
          const list = new JsonFragment(listOf(size));
          const rest = isTwice ? { ...after, again: list } : after;
          const body = { before, list, rest };

          const enclosed = encodeEnclosed(body);

          expect(bytesOf(enclosed).equals(encodeJson(body))).toBe(true);
          if ('size' in enclosed) expect(enclosed.size).toBe(enclosed.joined().length);
        },
      ),
    );
  });

  it('leaves a long list where it lies', () => {
    const list = listOf(50_000);

    expect(encodeEnclosed({ query: 'é', list: new JsonFragment(list), n: 1 })).toMatchObject({
      before: '{"query":"é","list":',
      middle: list,
      after: ',"n":1}',
      size: 50_000 + '{"query":"é","list":'.length + 1 + ',"n":1}'.length,
    });
  });

  it.each([
    ['short', 8_191],
    ['longer than the client is told to write', MOST_ENCLOSED_BYTES],
  ])('copies a list that is %s', (_, size) => {
    const body = encodeEnclosed({ list: new JsonFragment(listOf(size)) });

    expect(body).toBeInstanceOf(Owned);
  });

  it('is one buffer where it can be written around the list in place', () => {
    const list = bufferWithRoom(50_000).bytes.fill(listOf(50_000));

    const body = encodeEnclosed({ list: new JsonFragment(list, true) });

    expect(bytesOf(body).buffer).toBe(list.buffer);
  });
});
