import { expect, it } from '@jest/globals';
import { OPEN_POLICY } from '../../src/core/token.js';
import type { ExplainAsk } from '../../src/gateway/look/explain.js';
import type { OperationCall } from '../../src/operations/operation.js';
import { ROUTE_OPERATIONS } from '../../src/operations/routes.js';
import { createToken } from '../store/contract/harness.js';
import { freshManagement, OPERATOR } from '../support/management.js';

const management = freshManagement();

/** What is asked for a body, of a gateway with a default model and a key with one of its own. */
async function askedFor(body: object): Promise<ExplainAsk> {
  const asked: ExplainAsk[] = [];
  const { store, deps } = management;
  const { token } = await createToken(store, {
    policy: { ...OPEN_POLICY, defaultModel: 'of the key' },
  });
  const explain = (ask: ExplainAsk): Promise<never> => {
    asked.push(ask);
    return Promise.reject(new Error('enough'));
  };
  const call = {
    deps: { ...deps, explain, about: { defaultModel: 'of the gateway' } },
    ...{ params: {}, query: {}, actor: OPERATOR, login: {} },
    body: 'token_id' in body ? { ...body, token_id: token.id } : body,
  } as unknown as OperationCall;
  const operation = ROUTE_OPERATIONS.find(({ id }) => id === 'explainRoute');
  await expect(operation?.prepare(call).run()).rejects.toThrow('enough');
  const [ask] = asked;
  if (ask === undefined) throw new Error('nothing was asked');
  return ask;
}

it.each([
  [{}, 'of the gateway', 2, 2],
  [{ token_id: 0 }, 'of the key', 2, 2],
  [{ token_id: 0, model: 'named' }, 'named', 2, 2],
  [{ document_count: 7, top_n: 3 }, 'of the gateway', 7, 3],
  [{ documents: ['a', 'b', 'c'], document_count: 7, top_n: 9 }, 'of the gateway', 3, 3],
])(
  'an explanation of %j is of %s, with %i documents of which %i are asked for',
  async (body, model, documents, topN) => {
    const { request } = await askedFor(body);

    expect([request.model, request.documents.count, request.topN]).toEqual([
      model,
      documents,
      topN,
    ]);
  },
);
