import { azureFoundry, azureServerless, azureServerlessV1 } from './azure.js';
import { bedrock } from './bedrock.js';
import { bedrockInvoke } from './bedrock-invoke.js';
import { cohere, cohereV1 } from './cohere.js';
import {
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeInternational,
  dashscopeUs,
} from './dashscope.js';
import { google, googleEu, googleUs } from './google.js';
import { infinity } from './infinity.js';
import { jina } from './jina.js';
import { lemonade, llamacpp, llamaSwap } from './llamacpp.js';
import { oci } from './oci.js';
import { openaiCompatible } from './openai-compatible.js';
import { local } from './local.js';
import type { Provider } from './provider.js';
import { siliconflow, siliconflowInternational } from './siliconflow.js';
import { ascendTei, huggingface, tei, teiVertex } from './tei.js';
import { tencentEs } from './tencent-es.js';
import { tencentLkeap } from './tencent-lkeap.js';
import { vikingdb } from './vikingdb.js';
import { aphrodite, vllm, vllmProductionStack, vllmScore } from './vllm.js';
import { volcengine } from './volcengine.js';
import { voyage, voyageMongodb } from './voyage.js';
import { watsonx, watsonxOnPrem } from './watsonx.js';
import { xinference } from './xinference.js';

/** Every provider, by the id that channels name. Adding one is one line here. */
const PROVIDERS: readonly Provider[] = [
  aphrodite,
  ascendTei,
  azureFoundry,
  azureServerless,
  azureServerlessV1,
  bedrock,
  bedrockInvoke,
  cohere,
  cohereV1,
  dashscope,
  dashscopeCompatible,
  dashscopeCompatibleInternational,
  dashscopeCompatibleUs,
  dashscopeInternational,
  dashscopeUs,
  google,
  googleEu,
  googleUs,
  huggingface,
  infinity,
  jina,
  lemonade,
  llamacpp,
  llamaSwap,
  local,
  oci,
  openaiCompatible,
  siliconflow,
  siliconflowInternational,
  tei,
  teiVertex,
  tencentEs,
  tencentLkeap,
  vikingdb,
  vllm,
  vllmProductionStack,
  vllmScore,
  volcengine,
  voyage,
  voyageMongodb,
  watsonx,
  watsonxOnPrem,
  xinference,
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
