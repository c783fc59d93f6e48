import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERRORS, GatewayError, type ErrorCode } from '../../src/core/errors.js';
import { dialectByHeaders, dialectOf, DIALECTS, ingressRoute } from '../../src/ingress/index.js';
import { encodeJson, partsOf, readOf, requestAt } from '../support/documents.js';
import {
  FIXTURE_DOCUMENTS,
  FIXTURE_QUERY,
  ingressFixture,
  ingressFixtureIds,
  ownPath,
  RANKED,
  type IngressCase,
} from '../support/ingress-fixtures.js';

const MAX_DOCUMENTS = 1_000;
const ajv = new Ajv2020({ code: { optimize: false }, strict: false, allErrors: true });

function readCase(id: string, sample: IngressCase) {
  const { path: target = ownPath(id) } = sample;
  const path = target.replace(/\?.*$/, '');
  const route = ingressRoute(path);
  if (route === undefined) throw new Error(`nothing is at ${path}`);
  const { headers = {} } = sample;
  const body = Buffer.from(sample.text ?? JSON.stringify(sample.body));
  const request = requestAt(route, body, headers, MAX_DOCUMENTS, sample.setting);
  const dialect = dialectOf(route, dialectByHeaders(route, headers), request, sample.setting);
  return { dialect, parse: () => readOf(dialect, request) };
}

/** What is thrown, which has to be an error of the gateway's. */
function errorOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

it('has a fixture for every dialect, and a dialect for every fixture', () => {
  expect(ingressFixtureIds().sort()).toEqual(DIALECTS.map(({ id }) => id).sort());
});

describe.each(DIALECTS.map((dialect) => [dialect.id, dialect] as const))('%s', (id, dialect) => {
  const { schemas, cases } = ingressFixture(id);
  const isReply = ajv.compile(schemas.reply);
  const isError = ajv.compile(schemas.error);

  it('has a case that is answered, and one that is refused', () => {
    expect(cases.some(({ reply }) => reply !== undefined)).toBe(true);
    expect(cases.some(({ error }) => error !== undefined)).toBe(true);
  });

  const answered = cases.filter(({ error }) => error === undefined);
  it.each(answered.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
    const { dialect: chosen, parse } = readCase(id, sample);
    expect(chosen.id).toBe(id);
    const { kept, ...parsed } = parse();
    const { documents } = parsed;
    const { request: wanted = {} } = sample;
    const ranked = sample.ranked ?? RANKED.filter(([index]) => index < documents.count);

    expect({
      ...parsed,
      model: parsed.model ?? null,
      documents: partsOf(documents).map(({ text, image }) => text ?? image),
    }).toEqual({
      model: wanted.model === undefined ? 'moon' : wanted.model,
      query: wanted.query ?? FIXTURE_QUERY,
      documents: wanted.documents ?? FIXTURE_DOCUMENTS,
      topN: wanted.top_n ?? documents.count,
      returnDocuments: wanted.return_documents ?? false,
      options: wanted.options ?? {},
    });

    const reply: unknown = JSON.parse(
      encodeJson(
        chosen.reply(
          'rr_1',
          { ...parsed, model: parsed.model ?? 'moon' },
          {
            rows: ranked.slice(0, parsed.topN).map(([index, score]) => ({ index, score })),
            usage: { inputTokens: 12, searchUnits: 1, estimated: false },
            warnings: [],
            written: undefined,
          },
          kept,
          { nowMs: Date.UTC(2026, 0, 2), elapsedMs: 250 },
        ),
      ).toString(),
    );

    if (sample.reply !== undefined) expect(reply).toEqual(sample.reply);
    expect([isReply(reply), isReply.errors]).toEqual([true, null]);
    expect(Array.isArray(reply) && chosen.listed !== true).toBe(false);
  });

  const refused = cases.filter(({ error }) => error !== undefined);
  it.each(refused.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
    const error = errorOf(() => readCase(id, sample).parse());
    const { body, status = error.status } = dialect.error(error, 'rr_1', {});

    expect({ status, json: JSON.parse(body) as unknown }).toEqual(sample.error);
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('writes %s in its own form', (code) => {
    const written = dialect.error(new GatewayError(code, 'What was wrong.'), 'rr_1', {});
    const json: unknown = JSON.parse(written.body);

    expect([isError(json), isError.errors]).toEqual([true, null]);
    expect(written.body).toContain('What was wrong.');
    expect(written.status ?? 400).toBeGreaterThanOrEqual(400);
  });
});
