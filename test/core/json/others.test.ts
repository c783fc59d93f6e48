import { expect, it } from '@jest/globals';
import { othersOf } from '../../../src/core/json/others.js';
import { listName, scanBody } from '../../../src/core/json/scan.js';
import { fc } from '../../support/property.js';

type Element = string | { readonly text: string; readonly [name: string]: unknown };

/** The elements without their texts, and how often others got their turn. */
function othersIn(documents: readonly Element[]): { others: unknown; pauses: number } {
  const body = Buffer.from(JSON.stringify({ documents }));
  const scanned = scanBody(body, [listName('documents')], documents.length);
  if (scanned === undefined) throw new Error('the list was not found');
  const work = othersOf(scanned.body, scanned.list);
  let pauses = 0;
  for (;;) {
    const step = work.next();
    if (step.done === true) return { others: step.value, pauses };
    pauses += 1;
  }
}

function withoutText(element: Element): unknown {
  return typeof element === 'string' ? '' : { ...element, text: '' };
}

it('elements are the same but for their texts', () => {
  const text = fc.string({ unit: 'grapheme' });
  const element = fc.oneof(
    text,
    fc.record({ id: fc.integer(), text, title: fc.option(text), tags: fc.array(text) }),
  );
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 8 }), (documents) => {
      expect(othersIn(documents).others).toEqual(documents.map(withoutText));
    }),
  );
});

it('many are read in steps, whatever their texts take', () => {
  const documents = Array.from({ length: 300 }, (_, id) => ({
    id,
    text: 'x'.repeat(20_000),
    title: 't'.repeat(1_000),
  }));

  const { others, pauses } = othersIn(documents);
  expect(others).toEqual(documents.map(withoutText));
  expect(pauses).toBeGreaterThanOrEqual(4);
});

it.each([
  ['one of them takes more than a step', 1, 70_000],
  ['they take many megabytes together', 100, 50_000],
])('there are none if %s beside its text', (_, count, size) => {
  const documents = Array.from({ length: count }, () => ({ text: 'x', title: 't'.repeat(size) }));

  expect(othersIn(documents).others).toBeUndefined();
});
