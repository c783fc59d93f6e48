import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fc } from '../support/property.js';
import { GatewayError } from '../../src/core/errors.js';
import { dialectByHeaders, dialectOf, DIALECTS, ingressRoute } from '../../src/ingress/index.js';
import { IngressRequest } from '../../src/ingress/read.js';
import { askExample, ingressFixture } from '../support/ingress-fixtures.js';

/** By hand more: `FUZZ_BODIES=5000`. */
const BODIES = Number(process.env.FUZZ_BODIES ?? 300);
const ajv = new Ajv2020({ strict: false });

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, '', ' ', 0, -1, 1.5, 1e308, true, [], {}, [[]], [{}], ['a', 1]),
  fc.constantFrom<unknown>('\ud800', '\u0000', '__proto__', ['\ud83d'], [''], { text: 1 }),
  fc.constantFrom<unknown>(['q', 'q'], [['a', 'b']], [{ text: 'a' }], { text: 'a' }, 'NONE', '5'),
);

/** A value with one of its members at some depth replaced, left out or added. */
function mutated(value: unknown, path: readonly number[], put: unknown, how: number): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return put;
  if (Array.isArray(value)) {
    if (value.length === 0) return [put];
    const at = step % value.length;
    return value.map((item: unknown, index) =>
      index === at ? mutated(item, rest, put, how) : item,
    );
  }
  const names = Object.keys(value);
  const name = names[step % Math.max(1, names.length)] ?? 'query';
  const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
  if (how === 0) return others;
  if (how === 1) return { ...value, [['top_n', 'top_k', 'texts', 'x'][step % 4] ?? 'x']: put };
  return { ...others, [name]: mutated(member, rest, put, how) };
}

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
    const request = new IngressRequest(body, headers, route.params, 100);
    let dialect = dialectByHeaders(route, headers);
    try {
      dialect = dialectOf(route, dialect, request);
      const { kept, ...parsed } = dialect.parse(request);
      const model = parsed.model ?? 'm';
      const { documents, topN, query } = parsed;
      if (query.trim() === '' || topN < 1 || topN > documents.count) throw new Error('not valid');
      const rows = Array.from({ length: topN }, (_, at) => ({ index: at, score: 1 / (at + 1) }));
      const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
      const ranking = { rows, usage, warnings: [], written: undefined };
      const clock = { nowMs: 0, elapsedMs: 1 };
      const text = dialect.reply('rr_1', { ...parsed, model }, ranking, kept, clock).toString();
      return { kind: replies.get(dialect.id)?.(JSON.parse(text)) === true ? 'ok' : 'bad', text };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const { body: text, status = error.status } = dialect.error(error, 'rr_1');
      const isOwn = errors.get(dialect.id)?.(JSON.parse(text)) === true;
      return { kind: isOwn && status >= 400 && status < 500 ? 'refused' : 'bad', text };
    }
  }

  it('answers mutated bodies in its own form, and nothing else', () => {
    const kinds = new Set<string>();
    const steps = fc.array(fc.nat(12), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(steps, junk, fc.nat(4), (path, put, how) => {
        const body = mutated(JSON.parse(sample.body), path, put, how);
        const { kind, text } = answer(Buffer.from(JSON.stringify(body)));
        kinds.add(kind);
        expect([kind, text]).not.toEqual(['bad', text]);
      }),
      { numRuns: BODIES },
    );
    expect([...kinds].sort()).toEqual(['ok', 'refused']);
  });

  it('answers bodies with broken bytes in its own form', () => {
    const good = Buffer.from(sample.body);
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 0, max: 127 }), (at, byte) => {
        const body = Buffer.from(good);
        body[at] = byte;
        const { kind, text } = answer(body);
        expect([kind, text]).not.toEqual(['bad', text]);
      }),
      { numRuns: BODIES },
    );
  });
});
