import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { RankingFault, type NeuralRanker, type NeuralRequest } from './ranker.js';
import { Turns, unlessAborted } from './llama-turns.js';

/** The part of the package `node-llama-cpp` used here, as its documentation words it. */
export interface LlamaModule {
  getLlama(options: {
    readonly gpu: 'auto';
    readonly build: 'never';
    readonly skipDownload: boolean;
    readonly progressLogs: boolean;
    readonly maxThreads: number;
    readonly logLevel: 'error';
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  createRankingContext(options: {
    readonly threads: number;
    readonly contextSize: { readonly max: number };
  }): Promise<LlamaRankingContext>;
  dispose(): Promise<void>;
}

export interface LlamaRankingContext {
  /** The probability, 0..1, that the document is relevant to the query. */
  rank(
    query: string,
    document: string,
    options: { readonly onOverflow: 'maxChunk' },
  ): Promise<number>;
  dispose(): Promise<void>;
}

export interface LlamaEngineOptions {
  readonly load: () => Promise<LlamaModule>;
  /** How many requests may wait for one context before the next is turned away. */
  readonly maxWaiting?: number;
  /** The machine's cores. */
  readonly cores?: number;
}

/** One context and the requests that want it. */
interface Lane {
  readonly context: Promise<LlamaRankingContext>;
  readonly turns: Turns;
}

const PACKAGE = 'node-llama-cpp';
const MAX_WAITING = 32;

/** Loads the package if it is installed; it is a peer dependency that most installations do without. */
export function loadLlama(): Promise<LlamaModule> {
  // Named by a constant, so that neither compiler nor bundler requires it.
  return import(PACKAGE) as Promise<LlamaModule>;
}

/**
 * Runs GGUF rerankers in this process. A file is loaded once, when first asked for, and shared by all channels that name
 * it; requests take turns, first come, first served, so that under load some are answered in time rather than none.
 */
export class LlamaEngine implements NeuralRanker {
  readonly #load: () => Promise<LlamaModule>;
  readonly #maxWaiting: number;
  readonly #cores: number;
  readonly #models = new Map<string, Promise<LlamaModel>>();
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #llama: Promise<Llama> | undefined;
  /** llama.cpp throws "failed" and writes the reason to its log. */
  #lastWords = '';

  constructor({
    load,
    maxWaiting = MAX_WAITING,
    cores = availableParallelism(),
  }: LlamaEngineOptions) {
    this.#load = load;
    this.#maxWaiting = maxWaiting;
    this.#cores = cores;
  }

  /** Scores in the order of the documents. An abort takes effect between two documents. */
  async rank(request: NeuralRequest, signal: AbortSignal): Promise<readonly number[]> {
    const either = AbortSignal.any([signal, this.#stop.signal]);
    const run = this.#rank(request, either);
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
    }
  }

  /** Ends running requests after their current document, and frees the memory. */
  async close(): Promise<void> {
    this.#stop.abort(new RankingFault('transient', 'the gateway is stopping'));
    await Promise.allSettled(this.#running);
    const opened = [...this.#lanes.values()].map(({ context }) => context);
    // Innermost first; whatever failed to open needs no disposal.
    for (const parts of [opened, [...this.#models.values()], [this.#llama]]) {
      await Promise.allSettled(parts.map(async (part) => (await part)?.dispose()));
    }
  }

  async #rank(request: NeuralRequest, signal: AbortSignal): Promise<readonly number[]> {
    signal.throwIfAborted();
    const lane = this.#laneFor(request);
    const leave = await lane.turns.take(signal);
    try {
      const context = await unlessAborted(lane.context, signal);
      const { query, documents } = request;
      const scores: number[] = [];
      for (let index = 0; index < documents.count; index += 1) {
        signal.throwIfAborted();
        scores.push(await scoreOf(context, query, documents.text(index)));
      }
      return scores;
    } finally {
      leave();
    }
  }

  #laneFor(request: NeuralRequest): Lane {
    const threads = request.threads ?? Math.max(1, this.#cores - 1);
    const key = JSON.stringify([request.modelPath, threads, request.contextTokens]);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const context = this.#open(request, threads);
    const lane = { context, turns: new Turns(this.#maxWaiting) };
    this.#lanes.set(key, lane);
    // The next request finds a file that is put in place later.
    context.catch(() => this.#lanes.delete(key));
    return lane;
  }

  async #open(
    { modelPath, contextTokens }: NeuralRequest,
    threads: number,
  ): Promise<LlamaRankingContext> {
    const model = await this.#modelAt(modelPath);
    try {
      return await model.createRankingContext({ threads, contextSize: { max: contextTokens } });
    } catch (error) {
      throw this.#unusable(`The model "${modelPath}" cannot be used to rank`, error);
    }
  }

  #modelAt(path: string): Promise<LlamaModel> {
    const known = this.#models.get(path);
    if (known !== undefined) return known;
    const model = this.#loadModel(path);
    this.#models.set(path, model);
    model.catch(() => this.#models.delete(path));
    return model;
  }

  async #loadModel(modelPath: string): Promise<LlamaModel> {
    const llama = await this.#start();
    const found = await stat(modelPath).catch((error: unknown) => {
      throw this.#unusable(`The model file "${modelPath}" cannot be read`, error);
    });
    if (!found.isFile()) {
      throw new RankingFault('misconfigured', `The model path "${modelPath}" is not a file.`);
    }
    try {
      return await llama.loadModel({ modelPath });
    } catch (error) {
      throw this.#unusable(`The model file "${modelPath}" cannot be loaded`, error);
    }
  }

  #start(): Promise<Llama> {
    if (this.#llama === undefined) {
      const llama = this.#startLlama();
      this.#llama = llama;
      llama.catch(() => (this.#llama = undefined));
    }
    return this.#llama;
  }

  async #startLlama(): Promise<Llama> {
    let llama: LlamaModule;
    try {
      llama = await this.#load();
    } catch (error) {
      if (!isMissing(error)) throw this.#unusable(`The package ${PACKAGE} cannot be loaded`, error);
      throw new RankingFault(
        'misconfigured',
        `The package ${PACKAGE} is not installed. Run "npm install ${PACKAGE}" in the gateway's folder and start it again.`,
      );
    }
    try {
      return await llama.getLlama({
        gpu: 'auto',
        // The package's default downloads and compiles llama.cpp if no binary fits: not in a server.
        build: 'never',
        skipDownload: true,
        progressLogs: false,
        // The package's default is four even on two cores, where spinning threads make ranking two hundred times slower.
        maxThreads: this.#cores,
        logLevel: 'error',
        logger: (_level, message) => {
          this.#lastWords = message.trim();
        },
      });
    } catch (error) {
      throw this.#unusable(`llama.cpp does not run on this machine`, error);
    }
  }

  #unusable(what: string, error: unknown): RankingFault {
    const reasons = [error instanceof Error ? error.message : '', this.#lastWords];
    this.#lastWords = '';
    const why = reasons.filter((reason) => reason !== '').join('; ');
    return new RankingFault('misconfigured', why === '' ? `${what}.` : `${what}: ${why}`);
  }
}

async function scoreOf(
  context: LlamaRankingContext,
  query: string,
  document: string,
): Promise<number> {
  try {
    // A long document is ranked by its best part.
    return await context.rank(query, document, { onOverflow: 'maxChunk' });
  } catch (error) {
    if (error instanceof Error && /too long to fit|exceed the context size/i.test(error.message)) {
      throw new RankingFault('limit', 'the query leaves no room for a document in the model');
    }
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    error.message.includes(`'${PACKAGE}'`)
  );
}
