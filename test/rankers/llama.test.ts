import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load-config.js';
import { textDocuments } from '../../src/core/text-documents.js';
import { LlamaEngine } from '../../src/rankers/llama.js';
import type { NeuralRequest } from '../../src/rankers/ranker.js';
import { deferred } from '../support/deferred.js';
import { startGateway } from '../support/gateway.js';
import { llamaDouble } from '../support/llama-double.js';

let folder: string;
let model: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llama-test-'));
  model = join(folder, 'model.gguf');
  writeFileSync(model, 'the double does not read it');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const never = new AbortController().signal;

const requestFor = (fields: Partial<NeuralRequest> = {}): NeuralRequest => ({
  modelPath: model,
  threads: undefined,
  contextTokens: 2048,
  query: 'four',
  documents: textDocuments(['four', 'twelve signs']),
  ...fields,
});

const missing = (): Promise<never> =>
  Promise.reject(
    Object.assign(new Error("Cannot find package 'node-llama-cpp' imported from here"), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
  );

describe('the engine of provider llama, on a double of its package', () => {
  it('loads a file once, however many ask for it at the same time', async () => {
    const { load, calls } = llamaDouble();
    const engine = new LlamaEngine({ load, cores: 2 });

    const scores = await Promise.all(
      Array.from({ length: 8 }, () => engine.rank(requestFor(), never)),
    );

    expect(new Set(scores.map(String))).toEqual(new Set(['0.5,0.75']));
    expect(calls.starts).toHaveLength(1);
    expect(calls.models).toEqual([model]);
    expect(calls.contexts).toHaveLength(1);
  });

  it.each([
    ['one less than there are cores', 8, undefined, 7],
    ['one on a single core', 1, undefined, 1],
    ['as many as the channel says', 8, 3, 3],
  ])('computes with threads: %s', async (_name, cores, threads, expected) => {
    const { load, calls } = llamaDouble();
    const engine = new LlamaEngine({ load, cores });

    await engine.rank(requestFor({ threads }), never);

    expect(calls.contexts).toEqual([{ threads: expected, contextSize: { max: 2048 } }]);
    expect(calls.starts[0]).toMatchObject({ maxThreads: cores });
  });

  it('shares the model between channels that differ in their settings', async () => {
    const { load, calls } = llamaDouble();
    const engine = new LlamaEngine({ load, cores: 4 });

    await engine.rank(requestFor({ threads: 1 }), never);
    await engine.rank(requestFor({ threads: 2 }), never);

    expect(calls.models).toEqual([model]);
    expect(calls.contexts.map(({ threads }) => threads)).toEqual([1, 2]);
  });

  it('never downloads or compiles anything', async () => {
    const { load, calls } = llamaDouble();

    await new LlamaEngine({ load }).rank(requestFor(), never);

    expect(calls.starts[0]).toMatchObject({ build: 'never', skipDownload: true });
  });

  it('names the package that is missing and how to get it', async () => {
    const engine = new LlamaEngine({ load: missing });

    await expect(engine.rank(requestFor(), never)).rejects.toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining('npm install node-llama-cpp') as unknown,
    });
  });

  it('finds the package once it is installed', async () => {
    const { load } = llamaDouble();
    const loads = [missing, load];
    const engine = new LlamaEngine({ load: () => (loads.shift() ?? missing)() });

    await expect(engine.rank(requestFor(), never)).rejects.toThrow('is not installed');
    await expect(engine.rank(requestFor(), never)).resolves.toHaveLength(2);
  });

  it('tells what llama.cpp wrote of a fault, and not again of the next one', async () => {
    const words = ['bad magic'];
    const { load, calls } = llamaDouble({
      beforeModel: () => {
        for (const word of words.splice(0)) calls.starts[0]?.logger('error', `${word}\n`);
        return Promise.reject(new Error('failed'));
      },
    });
    const engine = new LlamaEngine({ load });

    await expect(engine.rank(requestFor(), never)).rejects.toThrow(/: failed; bad magic$/);
    await expect(engine.rank(requestFor(), never)).rejects.toThrow(/: failed$/);
  });

  it('names the file that is missing, and finds it once it is there', async () => {
    const { load } = llamaDouble();
    const engine = new LlamaEngine({ load });
    const modelPath = join(folder, 'later.gguf');
    const first = engine.rank(requestFor({ modelPath }), never);

    await expect(first).rejects.toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining(`model file "${modelPath}" cannot be read`) as unknown,
    });
    writeFileSync(modelPath, 'here');

    await expect(engine.rank(requestFor({ modelPath }), never)).resolves.toHaveLength(2);
  });

  it('says so when the path is a folder', async () => {
    const engine = new LlamaEngine({ load: llamaDouble().load });

    await expect(engine.rank(requestFor({ modelPath: folder }), never)).rejects.toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining('is not a file') as unknown,
    });
  });

  it('takes a query that leaves no room for documents as too long', async () => {
    const engine = new LlamaEngine({ load: llamaDouble().load });

    await expect(
      engine.rank(requestFor({ query: 'x'.repeat(2_000) }), never),
    ).rejects.toMatchObject({ kind: 'limit' });
  });

  it('lets requests take turns, and turns the one away that finds too many waiting', async () => {
    const gate = deferred();
    const { load, calls } = llamaDouble({
      beforeRank: async () => {
        await gate.promise;
      },
    });
    const engine = new LlamaEngine({ load, maxWaiting: 1 });
    const ask = (name: string) =>
      engine.rank(requestFor({ documents: textDocuments([`${name}1`, `${name}2`]) }), never);

    const first = ask('a');
    const second = ask('b');
    await expect(ask('c')).rejects.toMatchObject({ kind: 'busy' });
    gate.resolve();
    await Promise.all([first, second]);

    expect(calls.ranked).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('stops between two documents, and lets the next request begin', async () => {
    const stop = new AbortController();
    const { load, calls } = llamaDouble({
      beforeRank: (document) => {
        if (document === 'a1') stop.abort(new Error('gone'));
        return Promise.resolve();
      },
    });
    const engine = new LlamaEngine({ load });

    const first = engine.rank(
      requestFor({ documents: textDocuments(['a1', 'a2', 'a3']) }),
      stop.signal,
    );
    const second = engine.rank(requestFor({ documents: textDocuments(['b1']) }), never);

    await expect(first).rejects.toThrow('gone');
    await second;
    expect(calls.ranked).toEqual(['a1', 'b1']);
  });

  it('lets those who give up while they wait or while the model loads go at once', async () => {
    const gate = deferred();
    const stop = new AbortController();
    const { load, calls } = llamaDouble({
      beforeModel: async () => {
        await gate.promise;
      },
    });
    const engine = new LlamaEngine({ load });

    const loading = engine.rank(requestFor(), stop.signal);
    const waiting = engine.rank(requestFor(), stop.signal);
    const patient = engine.rank(requestFor({ documents: textDocuments(['last']) }), never);
    stop.abort(new Error('gone'));

    await expect(loading).rejects.toThrow('gone');
    await expect(waiting).rejects.toThrow('gone');
    gate.resolve();
    await patient;
    expect(calls.ranked).toEqual(['last']);
  });

  it('ends what is running and gives everything back when it is closed', async () => {
    const reached = deferred();
    const gate = deferred();
    const { load, calls } = llamaDouble({
      beforeRank: async () => {
        reached.resolve();
        await gate.promise;
      },
    });
    const engine = new LlamaEngine({ load });
    const running = engine.rank(requestFor(), never);
    const ended = expect(running).rejects.toMatchObject({ kind: 'transient' });
    await reached.promise;

    const closed = engine.close();
    expect(calls.disposed).toEqual([]);
    gate.resolve();
    await closed;

    await ended;
    expect(calls.ranked).toHaveLength(1);
    expect(calls.disposed).toEqual(['context', 'model', 'llama']);
    await expect(engine.rank(requestFor(), never)).rejects.toMatchObject({ kind: 'transient' });
  });

  it('closes when nothing was ever loaded', async () => {
    await expect(new LlamaEngine({ load: missing }).close()).resolves.toBeUndefined();
  });
});

describe('a channel of provider llama', () => {
  const neural = (settings: Record<string, unknown>) => ({
    channels: [{ name: 'neural', provider: 'llama', models: ['tiny'], settings }],
  });
  const body = { model: 'tiny', query: 'four', documents: ['four', 'twelve signs'] };

  it('answers with the ranking of its model', async () => {
    const { load, calls } = llamaDouble();
    const gateway = await startGateway(neural({ model_path: model }), {}, { loadLlama: load });
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, body);
    await gateway.close();

    expect(reply.status).toBe(200);
    expect(reply.body.results).toEqual([
      { index: 1, relevance_score: 0.75 },
      { index: 0, relevance_score: 0.5 },
    ]);
    expect(calls.disposed).toEqual(['context', 'model', 'llama']);
  });

  it('tells the log what is missing, and the caller only that the provider failed', async () => {
    const gateway = await startGateway(
      neural({ model_path: model }),
      {},
      {
        loadLlama: missing,
      },
    );
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, body);
    await gateway.close();

    expect(reply.status).toBe(502);
    expect(JSON.stringify(reply.body)).not.toMatch(/llama|npm|gguf/);
    expect(gateway.log.join('')).toContain('npm install node-llama-cpp');
  });

  it('is refused at start without a path, or with an invalid number of threads', () => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(
      file,
      JSON.stringify({
        channels: [
          { name: 'a', provider: 'llama', models: ['m'] },
          {
            name: 'b',
            provider: 'llama',
            models: ['m'],
            settings: { model_path: 'm.gguf', threads: 0 },
          },
        ],
      }),
    );
    const load = () => loadConfig({ env: { CONFIG: file, DATA_DIR: folder } });

    expect(load).toThrow(/settings\.model_path is missing/);
    expect(load).toThrow(/settings\.threads: must be a whole number from 1/);
  });
});
