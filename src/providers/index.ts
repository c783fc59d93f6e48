import { aliyunOpensearch } from './aliyun-opensearch.js';
import { azureFoundry, azureServerless, azureServerlessV1 } from './azure.js';
import { azureCosmosRerank, azureDataAi } from './azure-data-ai.js';
import { baidu } from './baidu.js';
import { bedrock } from './bedrock.js';
import { bedrockInvoke } from './bedrock-invoke.js';
import { CHAT_PROVIDERS } from './chat/apis.js';
import { bentoml } from './bentoml.js';
import { bifrost } from './bifrost.js';
import { cloudflare, cloudflareGateway } from './cloudflare.js';
import { cohere, cohereV1 } from './cohere.js';
import { contextual } from './contextual.js';
import {
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeCompatibleWorkspace,
  dashscopeInternational,
  dashscopeUs,
  dashscopeWorkspace,
} from './dashscope.js';
import { deepinfra } from './deepinfra.js';
import { dockerModelRunner } from './docker-model-runner.js';
import { elastic } from './elastic.js';
import { embedRerank } from './embed-rerank.js';
import { EMBEDDING_PROVIDERS } from './embeddings/index.js';
import { fireworks } from './fireworks.js';
import { gitee, giteeMultimodal, moark, moarkInternational, moarkMultimodal } from './gitee.js';
import { google, googleEu, googleUs } from './google.js';
import { gptServer } from './gpt-server.js';
import { gpustack } from './gpustack.js';
import { infinity } from './infinity.js';
import { isaacus } from './isaacus.js';
import { jina } from './jina.js';
import { jinaSagemaker } from './jina-sagemaker.js';
import { kserve } from './kserve.js';
import { litellm } from './litellm.js';
import { llama } from './llama.js';
import { lemonade, llamacpp, llamaSwap } from './llamacpp.js';
import { local } from './local.js';
import { localai } from './localai.js';
import { mixedbread } from './mixedbread.js';
import { mlxVlm, vllmMlx } from './mlx-vlm.js';
import { mosec } from './mosec.js';
import { nebius } from './nebius.js';
import { newApi } from './new-api.js';
import { nexa } from './nexa.js';
import { nim } from './nim.js';
import { jiekou, novita, ppio } from './novita.js';
import { nvidia, nvidiaHub, nvidiaRetrieval } from './nvidia.js';
import { oci } from './oci.js';
import { ogx } from './ogx.js';
import { ollama } from './ollama.js';
import { openaiCompatible } from './openai-compatible.js';
import { opengatellm } from './opengatellm.js';
import { openrouter } from './openrouter.js';
import { openvino } from './openvino.js';
import { pinecone } from './pinecone.js';
import { portkey, portkeyHosted } from './portkey.js';
import { primeIntellect } from './prime-intellect.js';
import type { Provider } from './provider.js';
import { rankllm } from './rankllm.js';
import {
  ai302,
  aihubmix,
  aiping,
  apiyi,
  blsc,
  coreshub,
  dmxapi,
  fptCloud,
  futurmix,
  greenpt,
  huaweiMaas,
  huaweiMaasSingapore,
  lemondata,
  matrixorigin,
  mws,
  n1n,
  qiniu,
  ragcon,
  rongcloud,
  ucloudModelverse,
} from './relays.js';
import { rerankGateway } from './rerank-gateway.js';
import { scaleway } from './scaleway.js';
import { sglang } from './sglang.js';
import { sie } from './sie.js';
import { siliconflow, siliconflowInternational } from './siliconflow.js';
import { ascendTei, huggingface, tei, teiVertex } from './tei.js';
import { tencentEs } from './tencent-es.js';
import { tencentLkeap } from './tencent-lkeap.js';
import { together } from './together.js';
import { triton } from './triton.js';
import { vercel } from './vercel.js';
import { vikingdb } from './vikingdb.js';
import { aphrodite, vllm, vllmProductionStack, vllmScore } from './vllm.js';
import { volcengine } from './volcengine.js';
import { voyage, voyageMongodb } from './voyage.js';
import { watsonx, watsonxOnPrem } from './watsonx.js';
import { xinference } from './xinference.js';
import { zeroentropy, zeroentropyEu } from './zeroentropy.js';
import { zhipu } from './zhipu.js';

/** Providers with a rerank API; channels name them by id. Adding one takes one line here. */
const RERANKERS: readonly Provider[] = [
  ai302,
  aihubmix,
  aiping,
  aliyunOpensearch,
  aphrodite,
  apiyi,
  ascendTei,
  azureCosmosRerank,
  azureDataAi,
  azureFoundry,
  azureServerless,
  azureServerlessV1,
  baidu,
  bedrock,
  bedrockInvoke,
  bentoml,
  bifrost,
  blsc,
  cloudflare,
  cloudflareGateway,
  cohere,
  cohereV1,
  contextual,
  coreshub,
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeCompatibleWorkspace,
  dashscopeInternational,
  dashscopeUs,
  dashscopeWorkspace,
  deepinfra,
  dmxapi,
  dockerModelRunner,
  elastic,
  embedRerank,
  fireworks,
  fptCloud,
  futurmix,
  gitee,
  giteeMultimodal,
  google,
  googleEu,
  googleUs,
  gptServer,
  gpustack,
  greenpt,
  huaweiMaas,
  huaweiMaasSingapore,
  huggingface,
  infinity,
  isaacus,
  jiekou,
  jina,
  jinaSagemaker,
  kserve,
  lemonade,
  lemondata,
  litellm,
  llama,
  llamacpp,
  llamaSwap,
  local,
  localai,
  matrixorigin,
  mixedbread,
  mlxVlm,
  moark,
  moarkInternational,
  moarkMultimodal,
  mosec,
  mws,
  n1n,
  nebius,
  newApi,
  nexa,
  nim,
  novita,
  nvidia,
  nvidiaHub,
  nvidiaRetrieval,
  oci,
  ogx,
  ollama,
  openaiCompatible,
  opengatellm,
  openrouter,
  openvino,
  pinecone,
  portkey,
  portkeyHosted,
  ppio,
  primeIntellect,
  qiniu,
  ragcon,
  rankllm,
  rerankGateway,
  rongcloud,
  scaleway,
  sglang,
  sie,
  siliconflow,
  siliconflowInternational,
  tei,
  teiVertex,
  tencentEs,
  tencentLkeap,
  together,
  triton,
  ucloudModelverse,
  vercel,
  vikingdb,
  vllm,
  vllmMlx,
  vllmProductionStack,
  vllmScore,
  volcengine,
  voyage,
  voyageMongodb,
  watsonx,
  watsonxOnPrem,
  xinference,
  zeroentropy,
  zeroentropyEu,
  zhipu,
];

const PROVIDERS: readonly Provider[] = [...RERANKERS, ...EMBEDDING_PROVIDERS, ...CHAT_PROVIDERS];

const BY_ID: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.map((provider) => [provider.id, provider]),
);

export function allProviders(): readonly Provider[] {
  return PROVIDERS;
}

export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id);
}
