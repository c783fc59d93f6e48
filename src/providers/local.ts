import { lexicalSlices } from '../core/lexical.js';
import { defineInProcessProvider } from './provider.js';

/** About one millisecond of work between two looks at what else is waiting. */
const SLICE_CHARS = 32_768;

/**
 * Ranks in this process by BM25 over character 4-grams: no network, no account, no model. It is lexical: it knows the
 * characters that query and document share, and nothing of meaning. Scores lie in 0..1 and are comparable within one
 * request alone.
 */
export const local = defineInProcessProvider({
  id: 'local',
  title: 'Local (lexical)',
  exampleModels: ['lexical'],
  rank: async ({ query, documents }, signal) => {
    const slices = lexicalSlices(query, documents, SLICE_CHARS);
    for (;;) {
      const slice = slices.next();
      if (slice.done === true) {
        return {
          rows: slice.value.map((score, index) => ({ index, score })),
          warning: 'Ranked by local/lexical: characters in common, not meaning.',
        };
      }
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
  },
  profile: {
    limits: {},
    truncates: false,
    sorted: false,
    topN: 'ignored',
    echo: 'never',
    documents: { objects: true, images: { default: false } },
    blanks: 'accepted',
    scoreScale: { default: 'probability' },
    // Word weights come from all documents of the request.
    ranking: { default: 'listwise' },
    billing: 'none',
  },
  notes: [
    'Lexical: it compares characters and does not understand meaning. Use it to get started, in tests, and as a last resort.',
    'Scores are comparable within one request only, and not with those of a model.',
  ],
});
