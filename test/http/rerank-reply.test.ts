import { expect, it } from '@jest/globals';
import { clockAt, rankingHeaders } from '../../src/http/rerank-reply.js';
import { cohere } from '../../src/ingress/cohere.js';

it('a model that answers in place of another is named in a header, whatever letters its name has', () => {
  const reply = {
    ...{ rows: [], warnings: [], rate: undefined, written: undefined },
    ...{ usage: { inputTokens: 0, searchUnits: 0, estimated: false }, model: '月/mini' },
    ...{ isDegraded: false, isCached: false },
  };

  expect(rankingHeaders(cohere, 'rr_1', reply)).toEqual({ 'X-Rerank-Model': '%E6%9C%88/mini' });
});

it.each([
  [1_000, 1_250, 250],
  [1_000, 900, 0],
])('a reply that was begun at %d and is there at %d took %d ms', (startedMs, nowMs, elapsedMs) => {
  expect(clockAt(startedMs, nowMs)).toEqual({ nowMs, elapsedMs });
});
