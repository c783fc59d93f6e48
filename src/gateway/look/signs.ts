import { Json, JsonShapeError } from '../../core/json.js';

/** What a server says about itself when asked. */
export interface Signs {
  /** Providers that it says it is. */
  readonly providers: readonly string[];
  readonly models: readonly string[];
  /** What it says of its models: whether they rerank. Of others it says nothing. */
  readonly reranks: ReadonlyMap<string, boolean>;
  readonly mostDocuments: number | undefined;
}

/** Reads the JSON that a GET brought. */
type Reading = (reply: Json) => Partial<Signs>;

/** GETs that change nothing, from the most specific to the most common, and what their JSON says. */
const QUESTIONS: Readonly<Record<string, Reading>> = {
  // TEI: what it has loaded, and its limits.
  '/info': (reply) => {
    const model = reply.field('model_id').string();
    const isReranker = reply.maybe('model_type').maybe('reranker').isPresent();
    const embeds = reply.maybe('model_type').maybe('embedding').isPresent();
    return {
      providers: isReranker ? ['tei'] : embeds ? ['tei-embeddings'] : [],
      models: [model],
      mostDocuments: reply.maybe('max_client_batch_size').optionalNumber(),
    };
  },
  '/get_model_info': (reply) => ({
    providers: ['sglang'],
    models: [reply.field('model_path').string()],
  }),
  '/props': (reply) => {
    reply.field('default_generation_settings');
    return { providers: reply.maybe('build_info').isPresent() ? ['llamacpp'] : [] };
  },
  '/v2': (reply) => ({ providers: reply.field('name').string() === 'triton' ? ['triton'] : [] }),
  '/v1/health/ready': (reply) => ({
    providers: reply.field('object').string() === 'health.response' ? ['nim'] : [],
  }),
  '/api/version': (reply) => {
    reply.field('version').string();
    return { providers: ['ollama'] };
  },
  '/api/tags': (reply) => ({
    models: reply.field('models').map((item) => item.field('name').string()),
  }),
  '/health/liveliness': (reply) => ({
    providers: reply.string() === "I'm alive!" ? ['litellm'] : [],
  }),
  // LiteLLM: what each of its models is for.
  '/v1/model/info': (reply) => ({
    reranks: reranksOf(reply.field('data'), 'model_name', (item) => item.field('model_info')),
  }),
  '/version': (reply) => {
    reply.field('version').string();
    return { providers: ['vllm'] };
  },
  '/v1/models': readModels,
  '/models': readModels,
};

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
    reranks: reranksOf(items, 'id', (item) => item),
    providers: owners.filter((owner) => OWNERS.has(owner)),
  };
}

/** Which of the listed models rerank: Infinity, Xinference, LiteLLM and gateways such as this say what each is for. */
function reranksOf(items: Json, name: string, aboutOf: (item: Json) => Json): Map<string, boolean> {
  const told = new Map<string, boolean>();
  items.map((item) => {
    const about = aboutOf(item);
    const capabilities = about.maybe('capabilities');
    const kinds = capabilities.isArray()
      ? capabilities.map(({ value }) => value)
      : [about.maybe('model_type').value, about.maybe('mode').value];
    const words = kinds.filter((kind) => typeof kind === 'string');
    const isReranker = words.some((word) => word.includes('rerank'));
    if (words.length > 0) told.set(item.field(name).string(), isReranker);
  });
  return told;
}

/** What rerankers are called, and what embedding models are. */
const RERANKS = /rerank|cross-encoder|ms-marco/i;
const EMBEDS = /embed|minilm|colbert|nomic|arctic|\b(?:e5|bge|gte|jina|mxbai)\b/i;

/** Whether a model embeds, judging by its name. */
export function soundsEmbedding(model: string): boolean {
  return EMBEDS.test(model);
}

/** The models of a server that may rerank, the likeliest first: what it says of them counts, or else their names. */
export function rerankersOf({ models, reranks }: Signs): readonly string[] {
  const may = (model: string) => reranks.get(model) ?? (RERANKS.test(model) || !EMBEDS.test(model));
  const chances = (model: string) => Number(reranks.get(model) ?? RERANKS.test(model));
  return models.filter(may).sort((one, other) => chances(other) - chances(one));
}

/** A reply to one of the questions; `undefined` if none came, or one without JSON. */
export type AskSign = (path: string) => Promise<Json | undefined>;

/** Asks all questions and combines the answers. */
export async function readSigns(ask: AskSign): Promise<Signs> {
  const providers = new Set<string>();
  const models = new Set<string>();
  const reranks = new Map<string, boolean>();
  let mostDocuments: number | undefined;
  for (const [path, read] of Object.entries(QUESTIONS)) {
    const told = readOne(await ask(path), read);
    for (const provider of told.providers ?? []) providers.add(provider);
    for (const model of told.models ?? []) models.add(model);
    for (const [model, does] of told.reranks ?? []) reranks.set(model, does);
    mostDocuments ??= told.mostDocuments;
  }
  // This gateway answers like other servers too; only its list of models says what it really is.
  const named = providers.has(GATEWAY) ? [GATEWAY] : [...providers];
  return { providers: named, models: [...models], reranks, mostDocuments };
}

function readOne(reply: Json | undefined, read: Reading): Partial<Signs> {
  if (reply === undefined) return {};
  try {
    return read(reply);
  } catch (error) {
    // It answers something else there, which says nothing.
    if (error instanceof JsonShapeError) return {};
    throw error;
  }
}
