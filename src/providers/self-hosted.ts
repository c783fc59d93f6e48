import {
  textSetting,
  type HttpProvider,
  type ProviderProfile,
  type ScoreScale,
  type SettingSpec,
} from './provider.js';

/** Models that read all documents of a request together, wherever they run. */
export const LISTWISE_MODELS = /jina-reranker-v3|mxbai-rerank\S*listwise/i;

/** Models whose scores are cosines. */
export const COSINE_MODELS = /jina-reranker-v3/i;

const COSINE_SCORES = [{ match: COSINE_MODELS, value: 'cosine' }] as const;

/** What is so of most providers; each profile states its differences. */
export const USUAL: ProviderProfile = {
  limits: {},
  truncates: true,
  sorted: true,
  topN: 'honoured',
  echo: 'never',
  documents: { objects: false, images: { default: false } },
  blanks: 'accepted',
  scoreScale: { default: 'probability' },
  ranking: { default: 'pointwise' },
  billing: 'tokens',
};

/** The profile of most servers that an operator runs. */
export const SELF_HOSTED: ProviderProfile = {
  ...USUAL,
  truncates: false,
  scoreScale: { default: 'probability', models: COSINE_SCORES },
  ranking: { default: 'pointwise', models: [{ match: LISTWISE_MODELS, value: 'listwise' }] },
  billing: 'none',
};

/** The scale of a server's scores, which is another for these models. */
export function scaleUnless(
  usual: ScoreScale,
  match: RegExp,
  value: ScoreScale,
): ProviderProfile['scoreScale'] {
  return { default: usual, models: [{ match, value }, ...COSINE_SCORES] };
}

/** For servers whose limit is a startup option; read by `documentLimit`. */
export const MAX_DOCUMENTS = {
  maxDocuments: {
    type: 'number',
    least: 1,
    describe: 'documents that the server takes in one request; unset: as it is started by default',
  },
} as const satisfies Record<string, SettingSpec>;

/** The setting of a server that answers on several paths, and the path that it names. */
export function pathSetting(path: string): {
  readonly settings: { readonly path: SettingSpec };
  readonly path: HttpProvider['path'];
} {
  return {
    settings: {
      path: { type: 'string', default: path, describe: 'path of the route, below the base URL' },
    },
    path: ({ settings }) => {
      const own = textSetting(settings, 'path');
      return own.startsWith('/') ? own : `/${own}`;
    },
  };
}
