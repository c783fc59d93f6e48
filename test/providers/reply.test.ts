import { describe, expect, it } from '@jest/globals';
import { Json } from '../../src/core/json.js';
import { readErrorMessage } from '../../src/providers/reply.js';

const MAX_MS = 1_000;

function timed(read: () => string): { message: string; ms: number } {
  const startedAt = performance.now();
  const message = read();
  return { message, ms: performance.now() - startedAt };
}

describe('the message of an error reply', () => {
  it.each([
    ['<h1>502</h1> <style>p { x }</style>Bad gateway', '502 Bad gateway'],
    ['the length must be < 512 tokens', 'the length must be < 512 tokens'],
    ['<html><script>let a = 1;', ''],
  ])('of the page %s is its text', (text, message) => {
    expect(readErrorMessage({ json: undefined, text })).toBe(message);
  });

  it.each([
    ['brackets that never close', ' <'.repeat(200_000)],
    ['scripts that never end', '<script'.repeat(50_000)],
    ['a word as long as the reply', 'a.'.repeat(200_000)],
  ])('does not take long to find in %s', (_what, text) => {
    const { message, ms } = timed(() => readErrorMessage({ json: undefined, text }));

    expect(message.length).toBeLessThanOrEqual(300);
    expect(ms).toBeLessThan(MAX_MS);
  });

  it('is empty where lists lie in lists for ever', () => {
    const text = '['.repeat(50_000) + ']'.repeat(50_000);

    expect(readErrorMessage({ json: new Json(JSON.parse(text)), text })).toBe('');
  });

  it('of a hundred thousand mistakes is made from the first', () => {
    const detail = Array.from({ length: 100_000 }, () => ({ loc: ['body', 0], msg: 'no' }));

    const { message, ms } = timed(() => readErrorMessage({ json: new Json({ detail }), text: '' }));

    expect(message).toMatch(/^body\.0: no; body\.0: no/);
    expect(ms).toBeLessThan(MAX_MS);
  });
});
