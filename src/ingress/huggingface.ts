import type { DocumentPart, OpenBody } from '../bytes/index.js';
import { GatewayError } from '../core/errors.js';
import { defineDialect, type Asked } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  isRecord,
  listNames,
  modelOf,
  oneQuery,
  stringsIn,
  type IngressRequest,
  type Members,
  type WantedList,
} from './read.js';
import { byPosition, scoreJson } from './write.js';

/** Whether each score is a bare number, alone or under a name, or that of a classifier's label. */
interface Kept {
  readonly form: 'labels' | 'scores' | 'named';
}

/** Sentences that are compared with one, and passages as Khoj sends them to an endpoint of its own. */
const SENTENCES = listNames('inputs.sentences', 'inputs.passages');
/** The texts to rank, and the query of each. */
const PAIRS = [{ name: 'inputs', fields: ['text_pair', 'text'] }];
const LISTS = [...SENTENCES, ...PAIRS];
const QUOTE = 0x22;

/** Hugging Face's pairs of sentences, as cross-encoders and sentence similarity are served there. */
export const huggingface = defineDialect<Kept>({
  id: 'huggingface',
  title: 'Hugging Face inference, pairs of sentences',
  listed: true,
  lists: LISTS,
  paths: ['/models/{model+}', '/hf-inference/models/{model+}'],
  examples: [
    { inputs: EXAMPLE.texts.map((text) => ({ text: EXAMPLE.query, text_pair: text })) },
    { inputs: { source_sentence: EXAMPLE.query, sentences: EXAMPLE.texts } },
  ],
  parse: (request) => {
    const { inputs } = request.members();
    const isList = request.list?.name === 'inputs';
    if (isList || !isRecord(inputs)) return pairs(request, isList ? [] : inputs);
    const isOf = (name: string): boolean =>
      request.list?.name === `inputs.${name}` || name in inputs;
    if (isOf('sentences')) return listed(request, inputs, 'source_sentence', 'scores');
    return isOf('passages') ? listed(request, inputs, 'query', 'named') : pairs(request, inputs);
  },
  reply: (_id, _request, { rows }, { form }) => {
    const scores = byPosition(rows).map(({ score }) => scoreJson(score));
    if (form === 'labels') return scores.map((score) => [{ label: 'LABEL_0', score }]);
    return form === 'named' ? { scores } : scores;
  },
  error: ({ message }) => ({ body: JSON.stringify({ error: message }) }),
});

/** One text, under a name, and a list of texts. */
function listed(
  request: IngressRequest,
  inputs: Members,
  name: string,
  form: Kept['form'],
): Asked<Kept> {
  const query = (count: number): string => {
    const text = inputs[name];
    if (typeof text !== 'string') throw badPairs(`inputs.${name} must be a string.`);
    return oneQuery([text], count, 'inputs');
  };
  return asked(request, stringsIn(SENTENCES), query, form);
}

function pairs(request: IngressRequest, inputs: unknown): Asked<Kept> {
  const queries: string[] = [];
  const read = (item: unknown, index: number): DocumentPart => {
    const [text, pair] = sidesOf(item);
    if (typeof text !== 'string' || typeof pair !== 'string') throw notPair(index);
    queries.push(text);
    return { text: pair, source: pair };
  };
  const list: WantedList = {
    lists: PAIRS,
    elements: 'objects',
    fields: ['text_pair'],
    areTextsAlone: true,
    kinds: 'pairs with "text" and "text_pair"',
    read,
    instead: isRecord(inputs) ? [inputs] : undefined,
  };
  const query = (count: number): string => {
    const sent = queries.length > 0 ? queries : sentQueries(request.body, count);
    return oneQuery(sent, count, 'inputs');
  };
  return asked(request, list, query, 'labels');
}

function asked(
  request: IngressRequest,
  list: WantedList,
  query: (count: number) => string,
  form: Kept['form'],
): Asked<Kept> {
  const model = modelOf(request.param('model').replace(/\/pipeline\/[\w-]+$/, ''));
  return {
    list,
    found: (documents) => ({
      model,
      query: query(documents.count),
      documents,
      topN: documents.count,
      returnDocuments: false,
      options: {},
      kept: { form },
    }),
  };
}

/** The queries of pairs that were not parsed: nearly always one, written in the same way each time. */
function sentQueries(body: OpenBody, count: number): string[] {
  const queries: string[] = [];
  let last: Buffer | undefined;
  let text = '';
  for (let index = 0; index < count; index += 1) {
    const [sent, pair] = [body.field(index, 'text'), body.field(index, 'text_pair')];
    if (sent?.[0] !== QUOTE || pair?.[0] !== QUOTE) throw notPair(index);
    if (last?.equals(sent) !== true) text = JSON.parse(sent.toString()) as string;
    last = sent;
    queries.push(text);
  }
  return queries;
}

/** Both sides of a pair, as an object or as two elements. */
function sidesOf(item: unknown): readonly [unknown, unknown] {
  if (Array.isArray(item)) return item.length === 2 ? [item[0], item[1]] : [undefined, undefined];
  return isRecord(item) ? [item.text, item.text_pair] : [undefined, undefined];
}

function notPair(index: number): GatewayError {
  return badPairs(`inputs[${index}] must have "text" and "text_pair" as strings.`);
}

function badPairs(message: string): GatewayError {
  return new GatewayError('invalid_documents', message, { param: 'inputs' });
}
