import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { prepareCall } from '../../src/gateway/call.js';
import type { Offer } from '../../src/gateway/rank.js';
import type { Provider } from '../../src/providers/provider.js';
import { job, offer } from '../support/offers.js';

/** A channel whose provider handles blank documents in one of the ways. */
function handling(blanks: Provider['profile']['blanks']): Offer {
  const known = offer(1, { models: { m: 'theirs' } });
  const { provider } = known.route;
  return {
    ...known,
    route: { ...known.route, provider: { ...provider, profile: { ...provider.profile, blanks } } },
  };
}

const TEXTS = ['', 'b', '  ', 'd'];

function prepared(blanks: Provider['profile']['blanks'], texts = TEXTS, topN = texts.length) {
  const asked = job({ documents: textDocuments(texts), topN });
  const { call, restore } = prepareCall(handling(blanks), asked);
  const { documents } = call;
  const sent = Array.from({ length: documents.count }, (_, index) => documents.text(index));
  return { texts: sent, topN: call.topN, model: call.model, restore };
}

describe('a call in the terms of its channel', () => {
  it('names the model as its server does', () => {
    expect(prepared('accepted').model).toBe('theirs');
  });

  it('has blank documents as they are, or as a space', () => {
    expect(prepared('accepted').texts).toEqual(TEXTS);
    expect(prepared('as_space').texts.map((text) => text.trim())).toEqual(['', 'b', '', 'd']);
    expect(prepared('as_space').texts).not.toContain('');
  });

  it('leaves blank ones out that are refused, and they come last with the lowest score', () => {
    const { texts, topN, restore } = prepared('refused');

    expect([texts, topN]).toEqual([['b', 'd'], 2]);
    const rows = [
      { index: 1, score: 0.9 },
      { index: 0, score: 0.2 },
    ];
    expect(restore(rows)).toEqual([
      { index: 3, score: 0.9 },
      { index: 1, score: 0.2 },
      { index: 0, score: 0.2 },
      { index: 2, score: 0.2 },
    ]);
  });

  it('has no more rows than were asked for', () => {
    const { topN, restore } = prepared('refused', TEXTS, 1);

    expect(topN).toBe(1);
    expect(restore([{ index: 1, score: 0.9 }])).toEqual([{ index: 3, score: 0.9 }]);
  });

  it('stands placeholders for documents that are all blank', () => {
    const { texts, restore } = prepared('refused', ['', ' ']);
    const rows = [{ index: 1, score: 0.5 }];

    expect(texts).toEqual(['-', '-']);
    expect(restore(rows)).toBe(rows);
  });
});
