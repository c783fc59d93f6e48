import { Json, JsonShapeError } from '../../core/json.js';

/** What a server says about itself when asked. */
export interface Signs {
  /** Providers that it says it is. */
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly mostDocuments: number | undefined;
}

/** A GET that changes nothing, and what its JSON says. */
interface Question {
  readonly path: string;
  readonly read: (reply: Json) => Partial<Signs>;
}

/** From the most specific to the most common. */
const QUESTIONS: readonly Question[] = [
  {
    // TEI: what it has loaded, and its limits.
    path: '/info',
    read: (reply) => {
      const model = reply.field('model_id').string();
      const isReranker = reply.maybe('model_type').maybe('reranker').isPresent();
      const embeds = reply.maybe('model_type').maybe('embedding').isPresent();
      return {
        providers: isReranker ? ['tei'] : embeds ? ['tei-embeddings'] : [],
        models: [model],
        mostDocuments: reply.maybe('max_client_batch_size').optionalNumber(),
      };
    },
  },
  {
    path: '/get_model_info',
    read: (reply) => ({ providers: ['sglang'], models: [reply.field('model_path').string()] }),
  },
  {
    path: '/props',
    read: (reply) => {
      reply.field('default_generation_settings');
      return { providers: reply.maybe('build_info').isPresent() ? ['llamacpp'] : [] };
    },
  },
  {
    path: '/v2',
    read: (reply) => ({ providers: reply.field('name').string() === 'triton' ? ['triton'] : [] }),
  },
  {
    path: '/v1/health/ready',
    read: (reply) => ({
      providers: reply.field('object').string() === 'health.response' ? ['nim'] : [],
    }),
  },
  {
    path: '/api/version',
    read: (reply) => {
      reply.field('version').string();
      return { providers: ['ollama'] };
    },
  },
  {
    path: '/api/tags',
    read: (reply) => ({ models: reply.field('models').map((item) => item.field('name').string()) }),
  },
  {
    path: '/version',
    read: (reply) => {
      reply.field('version').string();
      return { providers: ['vllm'] };
    },
  },
  { path: '/v1/models', read: readModels },
  { path: '/models', read: readModels },
];

/** The provider that is a gateway such as this. */
const GATEWAY = 'rerank-gateway';

/** How servers name themselves in their list of models. */
const OWNERS = new Set([
  'aphrodite',
  'infinity',
  'lemonade',
  'llama-swap',
  'llamacpp',
  GATEWAY,
  'sglang',
  'vllm',
]);

function readModels(reply: Json): Partial<Signs> {
  const items = reply.isArray() ? reply : reply.field('data');
  const owners = items.map((item) => String(item.maybe('owned_by').value));
  return {
    models: items.map((item) => item.field('id').string()),
    providers: owners.filter((owner) => OWNERS.has(owner)),
  };
}

/** A reply to one of the questions; `undefined` if none came, or one without JSON. */
export type AskSign = (path: string) => Promise<Json | undefined>;

/** Asks all questions and combines the answers. */
export async function readSigns(ask: AskSign): Promise<Signs> {
  const providers = new Set<string>();
  const models = new Set<string>();
  let mostDocuments: number | undefined;
  for (const { path, read } of QUESTIONS) {
    const told = readOne(await ask(path), read);
    for (const provider of told.providers ?? []) providers.add(provider);
    for (const model of told.models ?? []) models.add(model);
    mostDocuments ??= told.mostDocuments;
  }
  // This gateway answers like other servers too; only its list of models says what it really is.
  const named = providers.has(GATEWAY) ? [GATEWAY] : [...providers];
  return { providers: named, models: [...models], mostDocuments };
}

function readOne(reply: Json | undefined, read: Question['read']): Partial<Signs> {
  if (reply === undefined) return {};
  try {
    return read(reply);
  } catch (error) {
    // It answers something else there, which says nothing.
    if (error instanceof JsonShapeError) return {};
    throw error;
  }
}
