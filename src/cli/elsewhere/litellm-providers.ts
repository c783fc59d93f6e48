/** What LiteLLM's name of a provider means here. */
export interface ProviderRule {
  /** The provider, by the address of the server and the name of the model there. */
  readonly provider: string | ((base: string | undefined, model: string) => string);
  /** The variables that LiteLLM reads the key from, if a deployment names none. */
  readonly keys: readonly string[];
  /** The variable that it reads the address from. */
  readonly base?: string;
  /** Whether the server may be asked without a key. */
  readonly open?: true;
  /** Whether the path of the address is the server's own, rather than that of the version. */
  readonly keepsPath?: true;
  /** LiteLLM's parameters that become credentials, each with the variable that stands in for it. */
  readonly credentials?: Readonly<Record<string, readonly [param: string, variable?: string]>>;
  readonly settings?: Readonly<Record<string, readonly [param: string, variable?: string]>>;
}

const host = (base: string | undefined): string =>
  base !== undefined && URL.canParse(base) ? new URL(base).hostname : '';

const RULES: Readonly<Record<string, ProviderRule>> = {
  cohere: { provider: 'cohere', keys: ['COHERE_API_KEY', 'CO_API_KEY'], base: 'COHERE_API_BASE' },
  jina_ai: { provider: 'jina', keys: ['JINA_AI_API_KEY'] },
  together_ai: { provider: 'together', keys: ['TOGETHERAI_API_KEY', 'TOGETHER_API_KEY'] },
  voyage: { provider: 'voyage', keys: ['VOYAGE_API_KEY'], base: 'VOYAGE_API_BASE' },
  deepinfra: { provider: 'deepinfra', keys: ['DEEPINFRA_API_KEY'], base: 'DEEPINFRA_API_BASE' },
  fireworks_ai: {
    provider: 'fireworks',
    keys: ['FIREWORKS_AI_API_KEY', 'FIREWORKS_API_KEY'],
    base: 'FIREWORKS_AI_API_BASE',
  },
  dashscope: {
    provider: 'dashscope-compatible',
    keys: ['DASHSCOPE_API_KEY'],
    base: 'DASHSCOPE_API_BASE_RERANK',
  },
  scaleway: { provider: 'scaleway', keys: ['SCW_SECRET_KEY', 'SCALEWAY_API_KEY'] },
  litellm_proxy: {
    provider: 'litellm',
    keys: ['LITELLM_PROXY_API_KEY'],
    base: 'LITELLM_PROXY_API_BASE',
  },
  infinity: {
    ...{ provider: 'infinity', keys: ['INFINITY_API_KEY'], base: 'INFINITY_API_BASE' },
    ...{ open: true, keepsPath: true },
  },
  hosted_vllm: {
    ...{ provider: 'vllm', keys: ['HOSTED_VLLM_API_KEY'], base: 'HOSTED_VLLM_API_BASE' },
    open: true,
  },
  huggingface: {
    provider: (base) => (host(base).endsWith('.huggingface.cloud') ? 'huggingface' : 'tei'),
    ...{ keys: ['HUGGINGFACE_API_KEY', 'HF_TOKEN'], base: 'HUGGINGFACE_API_BASE' },
    ...{ open: true, keepsPath: true },
  },
  nvidia_nim: {
    provider: (_, model) => (model.startsWith('ranking/') ? 'nim' : 'nvidia-retrieval'),
    ...{ keys: ['NVIDIA_NIM_API_KEY'], base: 'NVIDIA_NIM_API_BASE' },
  },
  azure_ai: {
    provider: (base = '') => {
      if (!/\.(models|inference)\.ai\.azure\.com$/.test(host(base))) return 'azure-foundry';
      return base.includes('/v2') ? 'azure-serverless' : 'azure-serverless-v1';
    },
    ...{ keys: ['AZURE_AI_API_KEY'], base: 'AZURE_AI_API_BASE' },
  },
  bedrock: {
    provider: 'bedrock',
    keys: [],
    credentials: {
      access_key_id: ['aws_access_key_id', 'AWS_ACCESS_KEY_ID'],
      secret_access_key: ['aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'],
    },
    settings: { region: ['aws_region_name', 'AWS_REGION_NAME'] },
  },
  vertex_ai: {
    provider: 'google',
    ...{ keys: [], open: true },
    credentials: { credentials_json: ['vertex_credentials', 'VERTEXAI_CREDENTIALS'] },
    settings: { project: ['vertex_project', 'VERTEXAI_PROJECT'] },
  },
  watsonx: {
    provider: 'watsonx',
    ...{ keys: ['WATSONX_API_KEY', 'WATSONX_APIKEY'], base: 'WATSONX_API_BASE' },
    settings: { project_id: ['project_id', 'WATSONX_PROJECT_ID'] },
  },
};

export function ruleFor(provider: string): ProviderRule | undefined {
  return Object.hasOwn(RULES, provider) ? RULES[provider] : undefined;
}

/** The address of a server without the paths of versions and routes, which channels add. */
export function serverOf(base: string, keepsPath = false): string {
  const server = base.replace(/\/+$/, '').replace(/\/reranks?$/, '');
  if (keepsPath) return server;
  return server
    .replace(/\/openai$/, '')
    .replace(/\/v\d+$/, '')
    .replace(/\/(compatible-(mode|api)|inference|providers\/cohere)$/, '');
}
