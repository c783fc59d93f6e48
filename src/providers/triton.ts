import { Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import type { UpstreamRanking } from '../core/rerank.js';
import { readPositional, readRows } from './dialects.js';
import {
  defineProvider,
  OPTIONAL_API_KEY,
  optionalTextSetting,
  textSetting,
  type UpstreamCall,
} from './provider.js';
import { MAX_DOCUMENTS, SELF_HOSTED } from './self-hosted.js';

/** Two columns of strings, with the query repeated, or one of pairs, row after row. */
function inputs({ query, documents, settings }: UpstreamCall): JsonBody {
  const { count } = documents;
  const quoted = JSON.stringify(query.toWellFormed());
  const pairs = optionalTextSetting(settings, 'pairInput');
  if (pairs !== undefined) {
    const data = documents.texts(`${quoted},`, '');
    return [{ name: pairs, shape: [count, 2], datatype: 'BYTES', data }];
  }
  const column = (setting: string, data: JsonBody): JsonBody => ({
    name: textSetting(settings, setting),
    shape: [count, 1],
    datatype: 'BYTES',
    data,
  });
  return [
    column('queryInput', new Array<string>(count).fill(query)),
    column('documentInput', documents.texts()),
  ];
}

/** Scores are flat and belong to the documents by position, unless an output names the indexes. */
function decode(reply: Json, { documents, settings }: UpstreamCall): UpstreamRanking {
  const output = (name: string): Json | undefined =>
    reply
      .field('outputs')
      .map((tensor) => tensor)
      .find((tensor) => tensor.maybe('name').value === name)
      ?.field('data');
  const name = textSetting(settings, 'scoreOutput');
  const scores = output(name);
  if (scores === undefined)
    throw reply.field('outputs').mismatch(`a list with an output "${name}"`);
  const indexName = optionalTextSetting(settings, 'indexOutput');
  if (indexName === undefined) return { rows: readPositional(scores, documents.count) };
  const indexes = output(indexName)?.array() ?? [];
  const rows = scores.array().map((score, at) => ({ index: indexes[at], score }));
  return { rows: readRows(new Json(rows), 'index', 'score') };
}

/** Triton Inference Server (KServe v2). The deployment determines the names of tensors. */
export const triton = defineProvider({
  id: 'triton',
  title: 'Triton Inference Server (KServe v2)',
  path: ({ model, settings }) => {
    const version = optionalTextSetting(settings, 'version');
    const suffix = version === undefined ? '' : `/versions/${encodeURIComponent(version)}`;
    return `/v2/models/${encodeURIComponent(model)}${suffix}/infer`;
  },
  credentials: OPTIONAL_API_KEY,
  settings: {
    ...MAX_DOCUMENTS,
    version: { type: 'string', describe: 'version of the model; unset: the server chooses' },
    queryInput: { type: 'string', default: 'query', describe: 'input that takes the query' },
    documentInput: { type: 'string', default: 'passage', describe: 'input that takes a document' },
    pairInput: {
      type: 'string',
      describe: 'one input for pairs of query and document, in place of the two',
    },
    scoreOutput: { type: 'string', default: 'logit', describe: 'output with the scores' },
    indexOutput: {
      type: 'string',
      describe:
        'output with the indexes, for ensembles that sort; unset: the order of the documents',
    },
  },
  body: (call) => ({
    inputs: inputs(call),
    outputs: [
      textSetting(call.settings, 'scoreOutput'),
      optionalTextSetting(call.settings, 'indexOutput'),
    ].flatMap((name) => (name === undefined ? [] : [{ name }])),
  }),
  decode,
  profile: {
    ...SELF_HOSTED,
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'logit' },
  },
  exampleModels: ['reranker'],
  notes: [
    'A model takes as many documents at once as its max_batch_size says: set maxDocuments to it.',
  ],
});
