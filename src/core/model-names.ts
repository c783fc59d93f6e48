/**
 * What clients put before the name of a model to say whose it is. Taken off where no model has the whole name: a client
 * that is pointed here keeps the name that it was given for its old host.
 */
const PREFIX =
  /^(?:accounts\/fireworks\/models|azure_ai|bedrock|cohere|dashscope|deepinfra|fireworks(?:_ai)?|hosted_vllm|huggingface|infinity|isaacus|jina(?:_ai|ai)?|litellm_proxy|mixedbread(?:-ai)?|nvidia(?:_nim)?|ollama|openai|openrouter|pinecone|tei|together(?:_ai)?|vercel|vertex_ai|vllm|voyage(?:ai)?|watsonx|xinference|zeroentropy)\/(?=.)/i;

/** Other names of models: alias to model. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * The model that a caller means by `name`: the one that has the whole name, else the one that it is an alias of, else either
 * without what clients put before it. `undefined` where there is none.
 */
export function resolveModel(
  name: string,
  exists: (model: string) => boolean,
  ...aliases: readonly Aliases[]
): string | undefined {
  for (let rest = name; ;) {
    if (exists(rest)) return rest;
    for (const list of aliases) {
      const model = Object.hasOwn(list, rest) ? list[rest] : undefined;
      if (model !== undefined && exists(model)) return model;
    }
    const shorter = rest.replace(PREFIX, '');
    if (shorter === rest) return undefined;
    rest = shorter;
  }
}
