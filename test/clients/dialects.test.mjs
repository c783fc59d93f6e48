import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { BedrockAgentRuntimeClient, RerankCommand } from '@aws-sdk/client-bedrock-agent-runtime';
import { BedrockRuntimeClient, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { createVoyage } from '@ai-sdk/voyage';
import { createGateway, rerank } from 'ai';
import { InferenceClient } from '@huggingface/inference';
import Mixedbread from '@mixedbread/sdk';
import { OpenRouter } from '@openrouter/sdk';
import { createMixedbread } from 'mixedbread-ai-provider';
import { Pinecone } from '@pinecone-database/pinecone';
import Together from 'together-ai';
import { createVoyage as createCommunityVoyage } from 'voyage-ai-provider';
import { VoyageAIClient } from 'voyageai';
import ZeroEntropy from 'zeroentropy';
import { ACCESS_KEY_ID, BEST, DOCUMENTS, QUERY, startGateway } from './gateway.mjs';

let gateway;

before(async () => {
  gateway = await startGateway();
});

after(() => gateway.stop());

const WRONG_KEY = `sk-${'x'.repeat(48)}`;

describe('voyageai', () => {
  const client = (apiKey = gateway.key) =>
    new VoyageAIClient({ environment: `${gateway.url}/v1`, apiKey, maxRetries: 0 });

  it('ranks, and gives documents back as strings', async () => {
    const { data, usage } = await client().rerank({
      model: 'local',
      query: QUERY,
      documents: DOCUMENTS,
      topK: 2,
      returnDocuments: true,
    });

    assert.equal(data.length, 2);
    assert.equal(data[0].index, BEST);
    assert.equal(data[0].document, DOCUMENTS[BEST]);
    assert.ok(usage.totalTokens > 0);
  });

  it('ranks where the body has no mark of its own', async () => {
    const { data } = await client().rerank({ model: 'local', query: QUERY, documents: DOCUMENTS });

    assert.equal(data[0].index, BEST);
  });

  it('throws its own errors', async () => {
    await assert.rejects(
      client(WRONG_KEY).rerank({ model: 'local', query: QUERY, documents: DOCUMENTS, topK: 1 }),
      (error) => error.statusCode === 401,
    );
  });
});

describe('ai with @ai-sdk/voyage', () => {
  it('ranks texts', async () => {
    const voyage = createVoyage({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const { ranking } = await rerank({
      model: voyage.reranking('local'),
      query: QUERY,
      documents: DOCUMENTS,
      topN: 2,
      maxRetries: 0,
    });

    assert.deepEqual([ranking.length, ranking[0].originalIndex], [2, BEST]);
  });

  it('ranks without a number of rows', async () => {
    const voyage = createVoyage({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const { ranking } = await rerank({
      model: voyage.reranking('local'),
      query: QUERY,
      documents: DOCUMENTS,
      maxRetries: 0,
    });

    assert.equal(ranking[0].originalIndex, BEST);
  });
});

for (const [name, create] of [
  ['voyage-ai-provider', createCommunityVoyage],
  ['mixedbread-ai-provider', createMixedbread],
]) {
  describe(`ai with ${name}`, () => {
    const ask = (id, apiKey = gateway.key) =>
      rerank({
        model: create({ baseURL: `${gateway.url}/v1`, apiKey }).reranking(id),
        query: QUERY,
        documents: DOCUMENTS,
        topN: 2,
        maxRetries: 0,
      });

    it('ranks texts', async () => {
      const { ranking } = await ask('local');

      assert.deepEqual([ranking.length, ranking[0].originalIndex], [2, BEST]);
    });

    it('reads the message of an error', async () => {
      await assert.rejects(ask('nobody'), /nobody/);
      await assert.rejects(ask('local', WRONG_KEY), /API key/);
    });
  });
}

describe('ai with its gateway', () => {
  it('ranks texts and objects', async () => {
    const provider = createGateway({ baseURL: `${gateway.url}/v3/ai`, apiKey: gateway.key });
    for (const documents of [DOCUMENTS, DOCUMENTS.map((text) => ({ text }))]) {
      const { ranking } = await rerank({
        model: provider.rerankingModel('local'),
        query: QUERY,
        documents,
        topN: 2,
        maxRetries: 0,
      });

      assert.deepEqual([ranking.length, ranking[0].originalIndex], [2, BEST]);
    }
  });

  it('reads the message of an error', async () => {
    const provider = createGateway({ baseURL: `${gateway.url}/v3/ai`, apiKey: gateway.key });
    await assert.rejects(
      rerank({
        model: provider.rerankingModel('nobody'),
        query: QUERY,
        documents: DOCUMENTS,
        maxRetries: 0,
      }),
      /nobody/,
    );
  });
});

describe('@mixedbread/sdk', () => {
  const client = (apiKey = gateway.key) =>
    new Mixedbread({ baseURL: gateway.url, apiKey, maxRetries: 0 });

  it('ranks, and gives input back', async () => {
    const { data, usage } = await client().rerank({
      model: 'mixedbread-ai/local',
      query: QUERY,
      input: DOCUMENTS,
      top_k: 2,
      return_input: true,
    });

    assert.equal(data.length, 2);
    assert.equal(data[0].index, BEST);
    assert.equal(data[0].input, DOCUMENTS[BEST]);
    assert.ok(usage.total_tokens > 0);
  });

  it('throws its own errors', async () => {
    const ask = { model: 'local', query: QUERY, input: DOCUMENTS };
    await assert.rejects(client(WRONG_KEY).rerank(ask), Mixedbread.AuthenticationError);
    await assert.rejects(client().rerank({ ...ask, model: 'nobody' }), Mixedbread.NotFoundError);
    await assert.rejects(
      client().rerank({ ...ask, input: [] }),
      Mixedbread.UnprocessableEntityError,
    );
  });
});

describe('@pinecone-database/pinecone', () => {
  const client = (apiKey = gateway.key) =>
    new Pinecone({ apiKey, controllerHostUrl: gateway.url, maxRetries: 0 });

  it('ranks, and gives documents back', async () => {
    const { data, usage } = await client().inference.rerank({
      model: 'local',
      query: QUERY,
      documents: DOCUMENTS,
      topN: 2,
    });

    assert.equal(data.length, 2);
    assert.equal(data[0].index, BEST);
    assert.equal(data[0].document.text, DOCUMENTS[BEST]);
    assert.equal(usage.rerankUnits, 1);
  });

  it('throws its own errors', async () => {
    await assert.rejects(
      client(WRONG_KEY).inference.rerank({ model: 'local', query: QUERY, documents: DOCUMENTS }),
      (error) => error.name === 'PineconeAuthorizationError',
    );
  });
});

describe('zeroentropy', () => {
  it('ranks, and throws its own errors', async () => {
    const client = (apiKey = gateway.key) =>
      new ZeroEntropy({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    const ask = { model: 'local', query: QUERY, documents: DOCUMENTS, top_n: 2 };
    const { results } = await client().models.rerank(ask);

    assert.deepEqual([results.length, results[0].index], [2, BEST]);
    await assert.rejects(client(WRONG_KEY).models.rerank(ask), ZeroEntropy.AuthenticationError);
  });
});

describe('together-ai', () => {
  it('ranks, and throws its own errors', async () => {
    const client = (apiKey = gateway.key) =>
      new Together({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    const ask = { model: 'local', query: QUERY, documents: DOCUMENTS, top_n: 2 };
    const { results } = await client().rerank.create(ask);

    assert.deepEqual([results.length, results[0].index], [2, BEST]);
    await assert.rejects(client(WRONG_KEY).rerank.create(ask), Together.AuthenticationError);
  });
});

describe('@huggingface/inference', () => {
  it('scores sentences, and reads the message of an error', async () => {
    const scores = (key) =>
      new InferenceClient(key, { endpointUrl: `${gateway.url}/models/local` }).sentenceSimilarity({
        inputs: { source_sentence: QUERY, sentences: DOCUMENTS },
      });
    const scored = await scores(gateway.key);

    assert.equal(scored.indexOf(Math.max(...scored)), BEST);
    await assert.rejects(scores(WRONG_KEY), /API key is not valid/);
  });
});

describe('@openrouter/sdk', () => {
  it('ranks, with a document on every row', async () => {
    const client = new OpenRouter({ serverURL: `${gateway.url}/api/v1`, apiKey: gateway.key });
    const reply = await client.rerank.rerank({
      requestBody: { model: 'local', query: QUERY, documents: DOCUMENTS, topN: 2 },
    });

    assert.equal(reply.results.length, 2);
    assert.equal(reply.results[0].index, BEST);
    assert.equal(reply.results[0].document.text, DOCUMENTS[BEST]);
  });
});

describe('the AWS SDK', () => {
  const settings = (secretAccessKey = gateway.key) => ({
    region: 'eu-west-1',
    endpoint: gateway.url,
    maxAttempts: 1,
    credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey },
  });
  const ask = new RerankCommand({
    queries: [{ type: 'TEXT', textQuery: { text: QUERY } }],
    sources: DOCUMENTS.map((text) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        numberOfResults: 2,
        modelConfiguration: { modelArn: 'arn:aws:bedrock:eu-west-1::foundation-model/local' },
      },
    },
  });

  it('ranks with a signature', async () => {
    const { results } = await new BedrockAgentRuntimeClient(settings()).send(ask);

    assert.deepEqual([results.length, results[0].index], [2, BEST]);
  });

  it('ranks many and large requests at once', async () => {
    // A gateway that gets no processor for a second answers 503, after which the SDK asks again by default.
    const client = new BedrockAgentRuntimeClient({ ...settings(), maxAttempts: 5 });
    const text = 'The moons of Saturn. '.repeat(20_000);
    const more = { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text } } };
    const large = { ...ask.input, sources: [...ask.input.sources, more] };

    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        client.send(n % 10 === 0 ? new RerankCommand(large) : ask),
      ),
    );
    client.destroy();

    assert.ok(replies.every(({ results }) => results.length === 2));
  });

  const invoke = new InvokeModelCommand({
    modelId: 'local',
    contentType: 'application/json',
    body: JSON.stringify({ query: QUERY, documents: DOCUMENTS, top_n: 2, api_version: 2 }),
  });

  for (const [how, client] of [
    ['a signature', () => new BedrockRuntimeClient(settings())],
    [
      'an API key as a bearer token',
      () =>
        new BedrockRuntimeClient({
          ...settings(WRONG_KEY),
          token: { token: gateway.key },
          authSchemePreference: ['httpBearerAuth'],
        }),
    ],
  ]) {
    it(`invokes a model with ${how}`, async () => {
      const reply = await client().send(invoke);
      const { results } = JSON.parse(reply.body.transformToString());

      assert.deepEqual([results.length, results[0].index], [2, BEST]);
    });
  }

  it('throws its own errors', async () => {
    const rejected = (name) => (error) => {
      assert.equal(error.name, name);
      assert.equal(error.$metadata.httpStatusCode, 403);
      return true;
    };
    await assert.rejects(
      new BedrockAgentRuntimeClient(settings(WRONG_KEY)).send(ask),
      rejected('InvalidSignatureException'),
    );
  });
});
