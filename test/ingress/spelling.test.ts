import { describe, expect, it } from '@jest/globals';
import { estimateTokens } from '../../src/core/rerank.js';
import { dialectByHeaders, dialectOf, DIALECTS, ingressRoute } from '../../src/ingress/index.js';
import { encodeJson, readOf, requestAt } from '../support/documents.js';
import { askExample, ingressFixture } from '../support/ingress-fixtures.js';
import { fc } from '../support/property.js';
import { spelled, spelling, type Spelling } from '../support/spelling.js';

const ASKED = { model: 'm', query: 'Ключ "é" 🪐\n' };
const TEXTS = [
  'plain',
  'a "quoted"\nline / \\',
  'été',
  'Ключи',
  '签名密钥。',
  '🪐',
  '\u0001',
  '\ud83d',
];

/** JSON with its values spelled otherwise; names of members stay. */
function respelled(json: string, ways: Spelling): string {
  return json.replace(/"(?:[^"\\]|\\.)*":?/g, (text) =>
    text.endsWith(':') ? text : spelled(JSON.parse(text) as string, ways),
  );
}

describe.each(DIALECTS.map(({ id }) => id))('%s', (id) => {
  const { example } = ingressFixture(id);

  /** What a body is taken to be without a report of its tokens, and what is answered. */
  function costOf({ path, headers, body }: ReturnType<typeof askExample>, json = body): unknown {
    const route = ingressRoute(path.replace(/\?.*$/, ''));
    if (route === undefined) throw new Error('nothing is there');
    const request = requestAt(route, Buffer.from(json), headers, 100);
    const dialect = dialectOf(route, dialectByHeaders(route, headers), request);
    const { kept, ...parsed } = readOf(dialect, request);
    const { query, documents } = parsed;
    const rows = Array.from({ length: documents.count }, (_, index) => ({ index, score: 0.5 }));
    const usage = { inputTokens: 1, searchUnits: 1, estimated: true };
    const ranking = { rows, usage, warnings: [], written: undefined };
    const asked = { ...parsed, model: 'm' };
    const clock = { nowMs: 0, elapsedMs: 0 };
    const reply = encodeJson(dialect.reply('rr_1', asked, ranking, kept, clock)).toString();
    return { tokens: estimateTokens(query, documents), reply: JSON.parse(reply) as unknown };
  }

  it('takes as many tokens however a body is spelled', () => {
    const documents = fc.array(fc.constantFrom(...TEXTS), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(documents, spelling, (some, ways) => {
        const asked = askExample(id, example, { ...ASKED, documents: some });
        expect(costOf(asked, respelled(asked.body, ways))).toEqual(costOf(asked));
      }),
      { numRuns: 200 },
    );
  });
});
