import { azureFoundry, azureServerless, azureServerlessV1 } from './azure.js';
import { bedrockInvoke } from './bedrock-invoke.js';
import { bedrock } from './bedrock.js';
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
import { jina } from './jina.js';
import { oci } from './oci.js';
import type { Provider } from './provider.js';
import { siliconflow, siliconflowInternational } from './siliconflow.js';
import { tencentEs } from './tencent-es.js';
import { tencentLkeap } from './tencent-lkeap.js';
import { vikingdb } from './vikingdb.js';
import { volcengine } from './volcengine.js';
import { voyage, voyageMongodb } from './voyage.js';
import { watsonx, watsonxOnPrem } from './watsonx.js';

/** Every provider, by the id that channels name. Adding one is one line here. */
const PROVIDERS: readonly Provider[] = [
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
  jina,
  oci,
  siliconflow,
  siliconflowInternational,
  tencentEs,
  tencentLkeap,
  vikingdb,
  volcengine,
  voyage,
  voyageMongodb,
  watsonx,
  watsonxOnPrem,
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
