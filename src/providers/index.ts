import { azureFoundry, azureServerless, azureServerlessV1 } from './azure.js';
import { baidu } from './baidu.js';
import { bedrock } from './bedrock.js';
import { bedrockInvoke } from './bedrock-invoke.js';
import { bentoml } from './bentoml.js';
import { cloudflare, cloudflareGateway } from './cloudflare.js';
import { cohere, cohereV1 } from './cohere.js';
import { contextual } from './contextual.js';
import {
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeInternational,
  dashscopeUs,
} from './dashscope.js';
import { deepinfra } from './deepinfra.js';
import { dockerModelRunner } from './docker-model-runner.js';
import { elastic } from './elastic.js';
import { embedRerank } from './embed-rerank.js';
import { fireworks } from './fireworks.js';
import { gitee, giteeMultimodal, moark, moarkInternational, moarkMultimodal } from './gitee.js';
import { google, googleEu, googleUs } from './google.js';
import { gptServer } from './gpt-server.js';
import { gpustack } from './gpustack.js';
import { infinity } from './infinity.js';
import { isaacus } from './isaacus.js';
import { jina } from './jina.js';
import { jinaSagemaker } from './jina-sagemaker.js';
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
import { ollama } from './ollama.js';
import { openaiCompatible } from './openai-compatible.js';
import { openrouter } from './openrouter.js';
import { openvino } from './openvino.js';
import { pinecone } from './pinecone.js';
import { portkey } from './portkey.js';
import type { Provider } from './provider.js';
import { rankllm } from './rankllm.js';
import {
  ai302,
  aihubmix,
  apiyi,
  fptCloud,
  futurmix,
  greenpt,
  huaweiMaas,
  huaweiMaasSingapore,
  mws,
  n1n,
  qiniu,
  ragcon,
  ucloudModelverse,
} from './relays.js';
import { rerankGateway } from './rerank-gateway.js';
import { scaleway } from './scaleway.js';
import { sglang } from './sglang.js';
import { siliconflow, siliconflowInternational } from './siliconflow.js';
import { ascendTei, huggingface, tei, teiVertex } from './tei.js';
import { tencentEs } from './tencent-es.js';
import { tencentLkeap } from './tencent-lkeap.js';
import { together } from './together.js';
import { triton } from './triton.js';
import { vikingdb } from './vikingdb.js';
import { aphrodite, vllm, vllmProductionStack, vllmScore } from './vllm.js';
import { volcengine } from './volcengine.js';
import { voyage, voyageMongodb } from './voyage.js';
import { watsonx, watsonxOnPrem } from './watsonx.js';
import { xinference } from './xinference.js';
import { zeroentropy, zeroentropyEu } from './zeroentropy.js';
import { zhipu } from './zhipu.js';

/** Every provider, by the id that channels name. Adding one is one line here. */
const PROVIDERS: readonly Provider[] = [
  ai302,
  aihubmix,
  aphrodite,
  apiyi,
  ascendTei,
  azureFoundry,
  azureServerless,
  azureServerlessV1,
  baidu,
  bedrock,
  bedrockInvoke,
  bentoml,
  cloudflare,
  cloudflareGateway,
  cohere,
  cohereV1,
  contextual,
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeInternational,
  dashscopeUs,
  deepinfra,
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
  lemonade,
  litellm,
  llama,
  llamacpp,
  llamaSwap,
  local,
  localai,
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
  ollama,
  openaiCompatible,
  openrouter,
  openvino,
  pinecone,
  portkey,
  ppio,
  qiniu,
  ragcon,
  rankllm,
  rerankGateway,
  scaleway,
  sglang,
  siliconflow,
  siliconflowInternational,
  tei,
  teiVertex,
  tencentEs,
  tencentLkeap,
  together,
  triton,
  ucloudModelverse,
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

const BY_ID: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.map((provider) => [provider.id, provider]),
);

export function allProviders(): readonly Provider[] {
  return PROVIDERS;
}

export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id);
}
