import { lexicalSlices } from '../rankers/lexical.js';
import { defineInProcessProvider } from './provider.js';
import { USUAL } from './self-hosted.js';

/** Characters read between two looks at the clock: few, since code that the engine has not optimized yet is slow. */
const SLICE_CHARS = 1_024;
/** How long to rank before others get a turn. */
const TURN_MS = 0.5;

/**
 * Ranks in this process by BM25 over character 4-grams: no network, no account, no model. It is lexical: it knows which
 * characters query and document share, and nothing about meaning. Scores lie in 0..1 and are comparable only within one
 * request.
 */
export const local = defineInProcessProvider({
  id: 'local',
  title: 'Local (lexical)',
  exampleModels: ['lexical'],
  rank: async ({ query, documents }, signal, _neural, pause) => {
    const slices = lexicalSlices(query, documents, SLICE_CHARS);
    let turnEndsMs = performance.now() + TURN_MS;
    for (;;) {
      const slice = slices.next();
      if (slice.done === true) {
        return {
          rows: slice.value.map((score, index) => ({ index, score })),
          warning: 'Ranked by local/lexical: characters in common, not meaning.',
        };
      }
      if (performance.now() < turnEndsMs) continue;
      await pause();
      signal.throwIfAborted();
      turnEndsMs = performance.now() + TURN_MS;
    }
  },
  profile: {
    ...USUAL,
    truncates: false,
    sorted: false,
    topN: 'ignored',
    documents: { objects: true, images: { default: false } },
    // Word weights come from all documents of the request.
    ranking: { default: 'listwise' },
    billing: 'none',
  },
  notes: [
    'Lexical: it compares characters and does not understand meaning. Use it to get started, in tests, and as a last resort.',
    'Scores are comparable within one request only, and not with those of a model.',
  ],
});
