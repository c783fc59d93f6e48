import { describe, expect, it } from '@jest/globals';
import { patienceOf } from '../../src/http/patience.js';

describe('the patience of a caller', () => {
  it('is endless, and cached rankings are welcome, unless a header says otherwise', () => {
    expect(patienceOf({})).toEqual({
      ...{ timeoutMs: undefined, mayBeOldMs: undefined, mistake: undefined },
    });
  });

  it.each(['1', '1500'])('is as long as X-Request-Timeout-Ms says: %s', (text) => {
    const patience = patienceOf({ 'x-request-timeout-ms': text });

    expect(patience).toMatchObject({ timeoutMs: Number(text), mistake: undefined });
  });

  it.each(['', '0', '-1', '1.5', 'soon'])('is not said by "%s"', (text) => {
    const patience = patienceOf({ 'x-request-timeout-ms': text });

    expect(patience.timeoutMs).toBeUndefined();
    expect(patience.mistake).toContain('at least 1');
  });

  it.each([
    ['no-cache', 0],
    ['no-store', 0],
    ['private, No-Cache', 0],
    ['max-age=60', 60_000],
    ['max-age="60"', 60_000],
    ['private, max-age=0', 0],
    ['no-cache, max-age=60', 0],
    ['no-cacheable', undefined],
    ['s-max-age=60', undefined],
    ['private', undefined],
  ])('takes rankings as old as Cache-Control says: %s', (text, mayBeOldMs) => {
    expect(patienceOf({ 'cache-control': text }).mayBeOldMs).toBe(mayBeOldMs);
  });
});
