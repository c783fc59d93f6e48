import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createCohere } from '@ai-sdk/cohere';
import { CohereRerank } from '@langchain/cohere';
import { Document } from '@langchain/core/documents';
import { APICallError, rerank } from 'ai';
import { Cohere, CohereClient, CohereClientV2, CohereError } from 'cohere-ai';
import { BEST, DOCUMENTS, QUERY, startGateway } from './gateway.mjs';

const { BadRequestError, NotFoundError, UnauthorizedError } = Cohere;

let gateway;

before(async () => {
  gateway = await startGateway();
});

after(() => gateway.stop());

const WRONG_KEY = `sk-${'x'.repeat(48)}`;

for (const [name, Client] of [
  ['CohereClientV2', CohereClientV2],
  ['CohereClient', CohereClient],
]) {
  describe(`cohere-ai, ${name}`, () => {
    const client = (token = gateway.key) =>
      new Client({ environment: gateway.url, token, maxRetries: 0 });
    const ask = { model: 'local', query: QUERY, documents: DOCUMENTS };

    it('ranks, best first, as many as it asks for', async () => {
      const { id, results, meta } = await client().rerank({ ...ask, topN: 2 });

      assert.equal(typeof id, 'string');
      assert.equal(results.length, 2);
      assert.equal(results[0].index, BEST);
      assert.ok(results[0].relevanceScore > results[1].relevanceScore);
      assert.equal(meta.billedUnits.searchUnits, 1);
    });

    it('throws its own errors', async () => {
      await assert.rejects(client(WRONG_KEY).rerank(ask), (error) => {
        assert.ok(error instanceof UnauthorizedError && error instanceof CohereError);
        assert.equal(error.statusCode, 401);
        assert.equal(error.body.error.code, 'invalid_api_key');
        return true;
      });
      await assert.rejects(client().rerank({ ...ask, query: ' ' }), BadRequestError);
      await assert.rejects(client().rerank({ ...ask, topN: 0 }), BadRequestError);
      await assert.rejects(client().rerank({ ...ask, model: 'nobody' }), NotFoundError);
    });

    it('reads the message of an error', async () => {
      await assert.rejects(client().rerank({ ...ask, documents: [] }), {
        message: /documents must not be empty/,
      });
    });
  });
}

describe('cohere-ai, fields of version 1', () => {
  it('returns documents, and ranks objects by the fields that are named', async () => {
    const client = new CohereClient({ environment: gateway.url, token: gateway.key });

    const { results } = await client.rerank({
      model: 'local',
      query: QUERY,
      documents: DOCUMENTS.map((text, number) => ({ title: text, number: String(number) })),
      rankFields: ['title'],
      returnDocuments: true,
      maxChunksPerDoc: 10,
    });

    assert.equal(results.length, DOCUMENTS.length);
    assert.equal(results[0].index, BEST);
    assert.equal(results[0].document.title, DOCUMENTS[BEST]);
    assert.equal(results[0].document.number, String(BEST));
  });
});

describe('ai with @ai-sdk/cohere', () => {
  const model = (apiKey = gateway.key, id = 'local') =>
    createCohere({ baseURL: `${gateway.url}/v2`, apiKey }).reranking(id);
  const ask = { query: QUERY, documents: DOCUMENTS, maxRetries: 0 };

  it('ranks texts, and gives the documents back', async () => {
    const { ranking, rerankedDocuments } = await rerank({ ...ask, model: model(), topN: 2 });

    assert.equal(ranking.length, 2);
    assert.equal(ranking[0].originalIndex, BEST);
    assert.ok(ranking[0].score > ranking[1].score);
    assert.equal(rerankedDocuments[0], DOCUMENTS[BEST]);
  });

  it('ranks objects', async () => {
    const { rerankedDocuments } = await rerank({
      ...ask,
      model: model(),
      documents: DOCUMENTS.map((text) => ({ text })),
    });

    assert.deepEqual(rerankedDocuments[0], { text: DOCUMENTS[BEST] });
  });

  it('throws its own errors', async () => {
    const failure = (status, message) => (error) => {
      assert.ok(APICallError.isInstance(error));
      assert.equal(error.statusCode, status);
      assert.match(error.message, message);
      assert.equal(error.isRetryable, false);
      return true;
    };

    await assert.rejects(rerank({ ...ask, model: model(WRONG_KEY) }), failure(401, /API key/));
    await assert.rejects(rerank({ ...ask, query: '', model: model() }), failure(400, /query/));
    await assert.rejects(
      rerank({ ...ask, model: model(gateway.key, 'nobody') }),
      failure(404, /nobody/),
    );
  });
});

describe('@langchain/cohere', () => {
  const ranker = (token = gateway.key, fields = {}) =>
    new CohereRerank({
      client: new CohereClient({ environment: gateway.url, token, maxRetries: 0 }),
      model: 'local',
      topN: 2,
      ...fields,
    });

  it('ranks texts', async () => {
    const results = await ranker().rerank(DOCUMENTS, QUERY);

    assert.equal(results.length, 2);
    assert.equal(results[0].index, BEST);
    assert.ok(results[0].relevanceScore > results[1].relevanceScore);
  });

  it('compresses documents to the best, with their scores', async () => {
    const documents = DOCUMENTS.map((pageContent) => new Document({ pageContent }));

    const best = await ranker().compressDocuments(documents, QUERY);

    assert.equal(best.length, 2);
    assert.equal(best[0].pageContent, DOCUMENTS[BEST]);
    assert.equal(typeof best[0].metadata.relevanceScore, 'number');
  });

  it('passes on the errors of its client', async () => {
    await assert.rejects(ranker(WRONG_KEY).rerank(DOCUMENTS, QUERY), UnauthorizedError);
    await assert.rejects(ranker().rerank(DOCUMENTS, ''), BadRequestError);
    await assert.rejects(
      ranker(gateway.key, { model: 'nobody' }).rerank(DOCUMENTS, QUERY),
      NotFoundError,
    );
  });
});
