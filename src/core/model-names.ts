import { own } from './records.js';

/**
 * Prefixes that clients put before a model's name to name its vendor. They are removed if no model has the whole name, so
 * that a client pointed at this gateway can keep the name it used with its old host.
 */
const PREFIX =
  /^(?:accounts\/fireworks\/models|azure_ai|bedrock|cohere|dashscope|deepinfra|fireworks(?:_ai)?|hosted_vllm|huggingface|infinity|isaacus|jina(?:_ai|ai)?|litellm_proxy|mixedbread(?:-ai)?|nvidia(?:_nim)?|ollama|openai|openrouter|pinecone|tei|together(?:_ai)?|vercel|vertex_ai|vllm|voyage(?:ai)?|watsonx|xinference|zeroentropy)\/(?=.)/i;

/** Names of vendors' rerankers, which many clients send by default. */
const OF_VENDOR =
  /(?:^|[/.])(?:amazon\.rerank|bce-reranker|bge-reranker|gte-rerank|jina-(?:reranker|colbert)|kanon|llama-(?:[\d.]+-)?nv-?rerankqa|ms-marco|mxbai-rerank|nv-rerank|ops-|pinecone-rerank|qwen3-(?:vl-)?reranker?|rerank-(?:\w+-)?v?\d|rerank-(?:english|lite|multilingual)|semantic-ranker|zerank)/i;

/** Whether a client may have a model's name built in. */
export function isBuiltIn(name: string): boolean {
  return OF_VENDOR.test(name);
}

/** Other names for models: alias to model. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * The model that a caller means by `name`: the one with exactly that name, else the one that it is an alias of, else either
 * without the client's prefix. `undefined` if there is none.
 */
export function resolveModel(
  name: string,
  exists: (model: string) => boolean,
  ...aliases: readonly Aliases[]
): string | undefined {
  for (let rest = name; ;) {
    if (exists(rest)) return rest;
    for (const list of aliases) {
      const model = own(list, rest);
      if (model !== undefined && exists(model)) return model;
    }
    const shorter = rest.replace(PREFIX, '');
    if (shorter === rest) return undefined;
    rest = shorter;
  }
}
