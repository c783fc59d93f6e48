import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fc } from '../support/property.js';
import { GatewayError } from '../../src/core/errors.js';
import { dialectByHeaders, dialectOf, DIALECTS, ingressRoute } from '../../src/ingress/index.js';
import { encodeJson, readOf, requestAt } from '../support/documents.js';
import { brokenBytes, mutatedJson } from '../support/mutated.js';
import { askExample, ingressFixture } from '../support/ingress-fixtures.js';
import { runs } from '../support/long.js';

const BODIES = runs(300, 5_000);
const ajv = new Ajv2020({ strict: false });

const replies = new Map<string, (reply: unknown) => boolean>();
const errors = new Map<string, (error: unknown) => boolean>();
for (const dialect of DIALECTS) {
  const { schemas: own } = ingressFixture(dialect.id);
  replies.set(dialect.id, ajv.compile(own.reply));
  errors.set(dialect.id, ajv.compile(own.error));
}

describe.each(DIALECTS.map(({ id }) => id))('%s', (id) => {
  const { example } = ingressFixture(id);
  const sample = askExample(id, example, { model: 'm', query: 'q', documents: ['a', 'b'] });
  const route = ingressRoute(sample.path.replace(/\?.*$/, ''));

  /** What is answered: a ranking of as many rows as there have to be, or a refusal, each in its own form. */
  function answer(body: Buffer): { readonly kind: string; readonly text: string } {
    if (route === undefined) throw new Error('nothing is there');
    const { headers } = sample;
    let dialect = dialectByHeaders(route, headers);
    try {
      const request = requestAt(route, body, headers, 100);
      dialect = dialectOf(route, dialect, request);
      const { kept, ...parsed } = readOf(dialect, request);
      const model = parsed.model ?? 'm';
      const { documents, topN, query } = parsed;
      if (query.trim() === '' || topN < 1 || topN > documents.count) throw new Error('not valid');
      const rows = Array.from({ length: topN }, (_, at) => ({ index: at, score: 1 / (at + 1) }));
      const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
      const ranking = { rows, usage, warnings: [], written: undefined };
      const clock = { nowMs: 0, elapsedMs: 1 };
      const reply = dialect.reply('rr_1', { ...parsed, model }, ranking, kept, clock);
      const text = encodeJson(reply).toString();
      return { kind: replies.get(dialect.id)?.(JSON.parse(text)) === true ? 'ok' : 'bad', text };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const { body: text, status = error.status } = dialect.error(error, 'rr_1', {});
      const isOwn = errors.get(dialect.id)?.(JSON.parse(text)) === true;
      return { kind: isOwn && status >= 400 && status < 500 ? 'refused' : 'bad', text };
    }
  }

  it('answers mutated bodies in its own form, and nothing else', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(mutatedJson(sample.body), (body) => {
        const { kind, text } = answer(Buffer.from(body));
        kinds.add(kind);
        expect([kind, text]).not.toEqual(['bad', text]);
      }),
      { numRuns: BODIES },
    );
    expect([...kinds].sort()).toEqual(['ok', 'refused']);
  });

  it('answers bodies with broken bytes in its own form', () => {
    fc.assert(
      fc.property(brokenBytes(sample.body, 127), (body) => {
        const { kind, text } = answer(body);
        expect([kind, text]).not.toEqual(['bad', text]);
      }),
      { numRuns: BODIES },
    );
  });
});
