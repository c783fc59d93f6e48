import { faultByWords, pickFields, readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY, type UpstreamCall } from './provider.js';

const LISTWISE = /listwise/i;
const TOO_MUCH = /at most [\d,]+ (items|characters)|too_long/i;

/** Only the listwise models are documented to read an instruction. */
function instruction({ model, options }: UpstreamCall): string | undefined {
  return LISTWISE.test(model) ? options.instruction : undefined;
}

/** Mixedbread: `input` for the documents, `top_k` for the number of rows, `score` in the rows. */
export const mixedbread = defineProvider({
  id: 'mixedbread',
  title: 'Mixedbread',
  baseUrl: 'https://api.mixedbread.com',
  path: '/v1/reranking',
  credentials: REQUIRED_API_KEY,
  body: (call) => {
    const picked = pickFields(call);
    return {
      model: call.model,
      query: call.query,
      input: picked ?? call.documents.texts(),
      top_k: call.topN,
      return_input: false,
      rank_fields: picked === undefined ? undefined : call.options.rankFields,
      instruction: instruction(call),
    };
  },
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'score'),
    usage: readUsage(reply),
  }),
  fault: faultByWords([400, TOO_MUCH, 'limit'], [422, TOO_MUCH, 'limit']),
  profile: {
    ...HOSTED,
    limits: { documents: { default: 1_000 }, queryCharacters: 32_000 },
    echo: 'optional',
    documents: { objects: true, images: { default: false } },
    ranking: { default: 'pointwise', models: [{ match: LISTWISE, value: 'listwise' }] },
  },
  exampleModels: ['mixedbread-ai/mxbai-rerank-large-v2', 'mixedbread-ai/mxbai-rerank-base-v2'],
  notes: [
    "The prefix mixedbread-ai/ is part of a model's name.",
    "Whether the listwise models are served on this route, and take an instruction, is not documented: the caller's instruction is sent to those models alone.",
  ],
});
