import { describe, expect, it } from '@jest/globals';
import { Owned } from '../../src/bytes/memory.js';
import { takeUncounted } from '../support/memory.js';
import { bufferWithRoom, joinWithRoom, writeAround } from '../../src/bytes/room.js';

const joined = (text: string): Buffer =>
  joinWithRoom([Buffer.from(text.slice(0, 2)), Buffer.from(text.slice(2))], Buffer.byteLength(text))
    .bytes;

describe('a text with room around it', () => {
  it('is written around where it is', () => {
    const text = joined('ünd');
    const whole = writeAround(text, '{"ä":', '}');

    expect(whole?.toString()).toBe('{"ä":ünd}');
    expect(whole?.buffer).toBe(text.buffer);
  });

  it('is written around once: a second reader would see the first one’s words', () => {
    const text = joined('text');

    expect(writeAround(text, 'a', 'b')?.toString()).toBe('atextb');
    expect(writeAround(text, 'c', 'd')).toBeUndefined();
    expect(text.toString()).toBe('text');
  });

  it('may be a part of what came, written around over the rest of it', () => {
    const body = joined('{"documents":["a"]}');
    const list = body.subarray(body.indexOf('['), body.indexOf(']') + 1);

    expect(writeAround(list, '{"inputs":', ',"raw":true}')?.toString()).toBe(
      '{"inputs":["a"],"raw":true}',
    );
  });

  it.each([
    ['before', 'x'.repeat(1_025), ''],
    ['after', '', 'x'.repeat(1_025)],
  ])('is left alone where there is too little room %s it', (_where, before, after) => {
    const text = bufferWithRoom(4).bytes.fill('t');

    expect(writeAround(text, before, after)).toBeUndefined();
    expect(writeAround(text, before.slice(1), after.slice(1))?.length).toBe(1_028);
  });
});

describe('a text in memory that others have had', () => {
  takeUncounted();

  it('has no room because theirs had', () => {
    const theirs = bufferWithRoom(600_000);
    const { buffer } = theirs.bytes;
    theirs.giveBack();
    const all = Owned.uncleared(600_000);
    expect(all.bytes.buffer).toBe(buffer);

    expect(writeAround(all.bytes.subarray(10, 20), 'a', 'b')).toBeUndefined();
  });
});

it('a text without room is left alone', () => {
  expect(writeAround(Buffer.from('text'), 'a', 'b')).toBeUndefined();
});
