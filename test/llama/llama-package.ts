import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textDocuments } from '../../src/core/text-documents.js';
import { LlamaEngine, type LlamaModule } from '../../src/rankers/llama.js';
import type { NeuralRequest } from '../../src/rankers/ranker.js';
import { startGateway } from '../support/gateway.js';
import { writeTinyReranker } from '../support/tiny-gguf.js';

/** Where get-llama.mjs has put the real package. */
const PACKAGE = new URL(
  '../../node_modules/.cache/llama/node_modules/node-llama-cpp/dist/index.js',
  import.meta.url,
);

const loadReal = (): Promise<LlamaModule> => import(PACKAGE.href) as Promise<LlamaModule>;

const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is circled by well over a hundred moons.',
  'Olive oil keeps best in the dark.',
];

const never = new AbortController().signal;

let folder: string;
let model: string;
let engine: LlamaEngine;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llama-test-'));
  model = join(folder, 'tiny.gguf');
  writeTinyReranker(model);
  engine = new LlamaEngine({ load: loadReal });
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const requestFor = (fields: Partial<NeuralRequest> = {}): NeuralRequest => ({
  modelPath: model,
  threads: undefined,
  contextTokens: 2048,
  query: 'Which planet has the most moons?',
  documents: textDocuments(DOCUMENTS),
  ...fields,
});

describe('node-llama-cpp, the real package on a tiny model', () => {
  it('gives each document a probability, the same every time', async () => {
    const scores = await engine.rank(requestFor(), never);
    const again = await engine.rank(requestFor(), never);

    expect(scores).toHaveLength(3);
    expect(new Set(scores).size).toBe(3);
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
    expect(again).toEqual(scores);
  });

  it('ranks blank documents, and long ones by their best part', async () => {
    const documents = textDocuments(['', '   ', 'many words '.repeat(200)]);

    const scores = await engine.rank(requestFor({ documents }), never);

    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
  });

  it('ranks a hundred documents in a moment with the threads that it chooses', async () => {
    const documents = textDocuments(Array.from({ length: 100 }, (_, at) => `Document ${at}.`));

    const startedMs = performance.now();
    await engine.rank(requestFor({ documents }), never);

    // With the package's own choice on two cores it is forty seconds.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('says that a query is too long', async () => {
    await expect(
      engine.rank(requestFor({ query: 'moons '.repeat(500) }), never),
    ).rejects.toMatchObject({ kind: 'limit' });
  });

  it('says what is wrong with a file that is not a model', async () => {
    const modelPath = join(folder, 'text.gguf');
    writeFileSync(modelPath, 'some text');

    await expect(engine.rank(requestFor({ modelPath }), never)).rejects.toMatchObject({
      kind: 'misconfigured',
      message: expect.stringMatching(/text\.gguf" cannot be loaded: .*GGUF/) as unknown,
    });
  });

  it('answers a request through the gateway', async () => {
    const gateway = await startGateway(
      {
        channels: [
          { name: 'neural', provider: 'llama', models: ['tiny'], settings: { model_path: model } },
        ],
      },
      {},
      { loadLlama: loadReal },
    );
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, {
      model: 'tiny',
      query: 'Which planet has the most moons?',
      documents: DOCUMENTS,
    });
    await gateway.close();

    expect(reply.status).toBe(200);
    expect(reply.body.results.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
  });
});
