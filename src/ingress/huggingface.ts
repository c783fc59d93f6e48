import type { DocumentPart } from '../core/documents.js';
import { encodeReply } from '../core/json/json.js';
import { GatewayError } from '../core/errors.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  isObject,
  modelOf,
  nestedDocuments,
  oneQuery,
  stringPart,
  type IngressRequest,
} from './read.js';
import { byPosition, scoreJson } from './write.js';

/** Whether each score is a bare number, or that of a classifier's label. */
interface Kept {
  readonly form: 'labels' | 'scores';
}

/** Hugging Face's pairs of sentences, as cross-encoders and sentence similarity are served there. */
export const huggingface = defineDialect<Kept>({
  id: 'huggingface',
  title: 'Hugging Face inference, pairs of sentences',
  listed: true,
  lists: [],
  paths: ['/models/{model+}', '/hf-inference/models/{model+}'],
  examples: [
    { inputs: EXAMPLE.texts.map((text) => ({ text: EXAMPLE.query, text_pair: text })) },
    { inputs: { source_sentence: EXAMPLE.query, sentences: EXAMPLE.texts } },
  ],
  parse: (request) => {
    const { inputs } = request.value();
    const isSimilarity = isObject(inputs) && 'sentences' in inputs;
    const { query, documents } = isSimilarity
      ? readSimilarity(request, inputs)
      : readPairs(request, isObject(inputs) ? [inputs] : inputs);
    return {
      model: modelOf(request.param('model').replace(/\/pipeline\/[\w-]+$/, '')),
      query,
      documents,
      topN: documents.count,
      returnDocuments: false,
      options: {},
      kept: { form: isSimilarity ? 'scores' : 'labels' },
    };
  },
  reply: (_id, _request, { rows }, { form }) =>
    encodeReply(
      byPosition(rows).map(({ score }) =>
        form === 'scores' ? scoreJson(score) : [{ label: 'LABEL_0', score: scoreJson(score) }],
      ),
    ),
  error: ({ message }) => ({ body: JSON.stringify({ error: message }) }),
});

function readSimilarity(request: IngressRequest, inputs: Readonly<Record<string, unknown>>) {
  const { source_sentence: source, sentences } = inputs;
  const documents = nestedDocuments(request, 'inputs.sentences', sentences, 'strings', stringPart);
  if (typeof source !== 'string') throw badPairs('inputs.source_sentence must be a string.');
  return { query: oneQuery([source], documents.count, 'inputs'), documents };
}

function readPairs(request: IngressRequest, inputs: unknown) {
  const queries: string[] = [];
  const read = (item: unknown, name: string, index: number): DocumentPart => {
    const [text, pair] = sidesOf(item);
    if (typeof text !== 'string' || typeof pair !== 'string') {
      throw badPairs(`${name}[${index}] must have "text" and "text_pair" as strings.`);
    }
    queries.push(text);
    return { text: pair, source: pair };
  };
  const kinds = 'pairs with "text" and "text_pair"';
  const documents = nestedDocuments(request, 'inputs', inputs, kinds, read);
  return { query: oneQuery(queries, documents.count, 'inputs'), documents };
}

/** Both sides of a pair, as an object or as two elements. */
function sidesOf(item: unknown): readonly [unknown, unknown] {
  if (Array.isArray(item)) return item.length === 2 ? [item[0], item[1]] : [undefined, undefined];
  return isObject(item) ? [item.text, item.text_pair] : [undefined, undefined];
}

function badPairs(message: string): GatewayError {
  return new GatewayError('invalid_documents', message, { param: 'inputs' });
}
