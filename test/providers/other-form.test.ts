import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { encodeJson } from '../support/documents.js';
import { baidu } from '../../src/providers/baidu.js';
import { deepinfra } from '../../src/providers/deepinfra.js';
import { readPages } from '../../src/providers/pages.js';
import type { HttpProvider, UpstreamCall } from '../../src/providers/provider.js';
import { defaultSettings } from '../../src/providers/settings.js';

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** Answers call after call, and keeps the path and the members that each carried. */
async function play(
  provider: HttpProvider,
  answers: readonly Answer[],
  settings: UpstreamCall['settings'] = {},
) {
  const call: UpstreamCall = {
    model: provider.exampleModels[0] ?? '',
    query: 'q',
    documents: textDocuments(['a', 'b']),
    topN: 2,
    options: {},
    settings: { ...defaultSettings(provider), ...settings },
  };
  const asked: { path: string; members: string[] }[] = [];
  const send = (form: UpstreamCall) => {
    const { status, json } = answers[asked.length] ?? { status: 500, json: {} };
    const path = typeof provider.path === 'string' ? provider.path : provider.path(form);
    const body = JSON.parse(encodeJson(provider.body(form)).toString()) as object;
    asked.push({ path, members: Object.keys(body) });
    return Promise.resolve({ status, headers: {}, text: JSON.stringify(json) });
  };
  const reading = await readPages(provider, call, await send(call), send, () => 0);
  return { asked, outcome: reading.kind === 'ranking' ? 'ranking' : reading.failure.kind };
}

const WANTS_QUERY = {
  status: 422,
  json: { detail: [{ loc: ['body', 'query'], msg: 'field required', type: 'missing' }] },
};
const NO_ROUTE = { status: 404, json: { message: 'no route and no service found' } };
const RANKED = {
  results: [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ],
};

describe('a provider with two forms', () => {
  it('is asked in the other one if its refusal names it', async () => {
    const seen = await play(deepinfra, [
      WANTS_QUERY,
      { status: 200, json: { scores: [0.9, 0.1] } },
    ]);

    expect(seen.asked.map(({ members }) => members[0])).toEqual(['queries', 'query']);
    expect(seen.outcome).toBe('ranking');
  });

  it('is asked no more than twice', async () => {
    const seen = await play(deepinfra, [WANTS_QUERY, WANTS_QUERY, WANTS_QUERY]);

    expect(seen.asked).toHaveLength(2);
    expect(seen.outcome).toBe('rejected');
  });

  it('is asked once if the channel names the form', async () => {
    const seen = await play(deepinfra, [WANTS_QUERY], { queryKey: 'queries' });

    expect(seen.asked).toHaveLength(1);
    expect(seen.outcome).toBe('rejected');
  });

  it('is asked once if the refusal is about something else', async () => {
    const refusal = {
      status: 422,
      json: { detail: [{ loc: ['body', 'documents'], msg: 'too short', type: 'value_error' }] },
    };

    const seen = await play(deepinfra, [refusal]);

    expect(seen.asked).toHaveLength(1);
  });

  it('is asked on its former path if the present one is gone', async () => {
    const seen = await play(baidu, [NO_ROUTE, { status: 200, json: RANKED }]);

    expect(seen.asked.map(({ path }) => path)).toEqual(['/v2/rerank', '/v2/rerankers']);
    expect(seen.outcome).toBe('ranking');
  });

  it('is not asked on its former path for a model that it does not have', async () => {
    const refusal = { status: 404, json: { error: { code: 'invalid_model', message: 'no' } } };

    const seen = await play(baidu, [refusal]);

    expect(seen.asked).toHaveLength(1);
    expect(seen.outcome).toBe('misconfigured');
  });
});
