import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/bytes/documents.js';
import { countTexts } from '../../src/core/eligibility.js';
import { passageList } from '../../src/core/passages.js';
import { windowsOf } from '../../src/core/split.js';
import { atOnce, inSteps, Pace, type Steps } from '../../src/bytes/steps.js';
import { documentsIn, newTexts } from '../support/documents.js';

function* counting(steps: number): Steps<string> {
  for (let at = 0; at < steps; at += 1) yield;
  return 'done';
}

/** How often work lets others have their turn. */
function yieldsOf(work: Steps<unknown>): number {
  for (let yields = 0; ; yields += 1) if (work.next().done === true) return yields;
}

describe('work in steps', () => {
  it('pauses between its steps, and not at all where it is small', async () => {
    let pauses = 0;
    const pause = (): Promise<void> => {
      pauses += 1;
      return Promise.resolve();
    };

    await expect(inSteps(counting(3), pause)).resolves.toBe('done');
    expect(pauses).toBe(3);
    await expect(inSteps(counting(0), pause)).resolves.toBe('done');
    expect(pauses).toBe(3);
    expect(atOnce(counting(3))).toBe('done');
  });

  it('is paced by how much was gone through', () => {
    const pace = new Pace(undefined, () => 0);

    const full = Array.from({ length: 10 }, () => pace.fills(100_000));

    expect(full.filter(Boolean)).toHaveLength(5);
  });

  it('is paced by the clock where there is much of little, and looks at it now and then', () => {
    let nowMs = 0;
    let looks = 0;
    const pace = new Pace(undefined, () => {
      looks += 1;
      return nowMs;
    });

    const full = Array.from({ length: 10_000 }, () => {
      nowMs += 0.01;
      return pace.fills(1);
    });

    // A hundred milliseconds in steps of two or a little more.
    expect(full.filter(Boolean).length).toBeGreaterThan(25);
    expect(full.filter(Boolean).length).toBeLessThan(50);
    expect(looks).toBeLessThan(100);
  });
});

describe('megabytes of text', () => {
  const text = 'Saturn is circled by "moons". '.repeat(200_000);
  const long = documentsIn(JSON.stringify([text, 'short']));
  const many = documentsIn(
    JSON.stringify(Array.from({ length: 600 }, () => text.slice(0, 10_000))),
  );
  const LEAST = 20;

  it.each<[string, () => Steps<unknown>]>([
    ['counted, where one document has them', () => countTexts(long)],
    ['counted, where many have them', () => countTexts(many)],
    ['counted against a limit', () => long.leastTokens(0, Infinity, new Pace())],
    [
      'counted against a limit, where they were parsed',
      () => textDocuments([text]).leastTokens(0, Infinity, new Pace()),
    ],
    [
      'replaced',
      () =>
        many.withTextsInSteps(newTexts([...Array(600).keys()].map((at) => [at, many.text(at)]))),
    ],
    ['cut into passages', () => passageList(many, [...Array(600).keys()], 128)],
    [
      'cut into windows',
      () =>
        windowsOf(many, 'q', {
          documents: undefined,
          characters: 1_000_000,
          bytes: undefined,
          tokens: 100_000,
        }),
    ],
  ])('are %s in steps', (_what, work) => {
    expect(yieldsOf(work())).toBeGreaterThanOrEqual(LEAST);
  });

  it('are not gone through for what their beginning tells', () => {
    const texts = textDocuments([text]);
    const passages = atOnce(passageList(texts, [0], 16));

    expect(passages.isCut).toBe(true);
    expect(passages.documents.count).toBe(100);
  });
});
