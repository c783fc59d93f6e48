import type { LlamaModule } from '../../src/rankers/llama.js';

/** What was asked of the double. */
export interface LlamaCalls {
  readonly starts: Parameters<LlamaModule['getLlama']>[0][];
  readonly models: string[];
  readonly contexts: { readonly threads: number; readonly contextSize: { readonly max: number } }[];
  /** Documents ranked, in order. */
  readonly ranked: string[];
  /** What was given back, in order. */
  readonly disposed: string[];
}

/**
 * Stands in for the package `node-llama-cpp`, after its documented interface: it shows how the engine uses the package, and
 * nothing about the package. `npm run test:llama` runs the real one. Scores are the share of the query's length.
 */
export function llamaDouble(
  behaviour: {
    readonly beforeModel?: () => Promise<void>;
    readonly beforeRank?: (document: string) => Promise<void>;
  } = {},
): { readonly load: () => Promise<LlamaModule>; readonly calls: LlamaCalls } {
  const calls: LlamaCalls = { starts: [], models: [], contexts: [], ranked: [], disposed: [] };
  const disposing = (what: string) => () => {
    calls.disposed.push(what);
    return Promise.resolve();
  };
  const package_: LlamaModule = {
    getLlama: (options) => {
      calls.starts.push(options);
      return Promise.resolve({
        loadModel: async ({ modelPath }) => {
          calls.models.push(modelPath);
          await behaviour.beforeModel?.();
          return {
            createRankingContext: (contextOptions) => {
              calls.contexts.push(contextOptions);
              return Promise.resolve({
                rank: async (query, document) => {
                  await behaviour.beforeRank?.(document);
                  calls.ranked.push(document);
                  if (query.length > 1_000) {
                    throw new Error(
                      'The document is too long to fit into the context window with the given query',
                    );
                  }
                  return document.length / (document.length + query.length);
                },
                dispose: disposing('context'),
              });
            },
            dispose: disposing('model'),
          };
        },
        dispose: disposing('llama'),
      });
    },
  };
  return { load: () => Promise.resolve(package_), calls };
}
