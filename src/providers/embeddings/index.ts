import type { Provider } from '../provider.js';
import {
  bedrockEmbeddings,
  cohereEmbeddings,
  geminiEmbeddings,
  huggingfaceEmbeddings,
  jinaEmbeddings,
  voyageEmbeddings,
} from './hosted.js';
import {
  azureOpenaiEmbeddings,
  deepinfraEmbeddings,
  embeddings,
  mistralEmbeddings,
  nebiusEmbeddings,
  openaiEmbeddings,
  siliconflowEmbeddings,
  togetherEmbeddings,
} from './openai.js';
import { jinaMaxsim, ollamaEmbeddings, teiEmbeddings, vllmMaxsim } from './servers.js';

/** Embedding models as rankers. */
export const EMBEDDING_PROVIDERS: readonly Provider[] = [
  azureOpenaiEmbeddings,
  bedrockEmbeddings,
  cohereEmbeddings,
  deepinfraEmbeddings,
  embeddings,
  geminiEmbeddings,
  huggingfaceEmbeddings,
  jinaEmbeddings,
  jinaMaxsim,
  mistralEmbeddings,
  nebiusEmbeddings,
  ollamaEmbeddings,
  openaiEmbeddings,
  siliconflowEmbeddings,
  teiEmbeddings,
  togetherEmbeddings,
  vllmMaxsim,
  voyageEmbeddings,
];
