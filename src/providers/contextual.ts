import { Json } from '../core/json.js';
import { plainBody, readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type UpstreamCall,
} from './provider.js';

/** One string per document, empty if it has none: a list of another length is refused. */
function metadata({ documents, settings }: UpstreamCall): readonly string[] | undefined {
  const key = optionalTextSetting(settings, 'metadataKey');
  if (key === undefined) return undefined;
  return Array.from({ length: documents.count }, (_, index) => {
    const source = new Json(JSON.parse(documents.json(index).source.toString()));
    return source.maybe(key).optionalString() ?? '';
  });
}

/** Contextual AI: an instruction, and a line of metadata per document. Replies contain nothing but rows. */
export const contextual = defineProvider({
  id: 'contextual',
  title: 'Contextual AI',
  baseUrl: 'https://api.contextual.ai',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  settings: {
    metadataKey: {
      type: 'string',
      default: '',
      describe: 'member of object documents that is sent as their metadata; empty sends none',
    },
  },
  body: (call) => ({
    ...plainBody(call),
    instruction: call.options.instruction,
    metadata: metadata(call),
  }),
  decode: (reply) => ({ rows: readRows(reply.field('results'), 'index', 'relevance_score') }),
  profile: {
    ...HOSTED,
    limits: { requestTokens: { default: 400_000 }, pairTokens: { default: 8_000 } },
    truncates: false,
  },
  exampleModels: [
    'ctxl-rerank-v2-instruct-multilingual',
    'ctxl-rerank-v2-instruct-multilingual-mini',
    'ctxl-rerank-v1-instruct',
  ],
});
