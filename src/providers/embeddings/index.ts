export * from './hosted.js';
export {
  azureOpenaiEmbeddings,
  deepinfraEmbeddings,
  embeddings,
  mistralEmbeddings,
  nebiusEmbeddings,
  openaiEmbeddings,
  siliconflowEmbeddings,
  togetherEmbeddings,
} from './openai.js';
export * from './servers.js';
