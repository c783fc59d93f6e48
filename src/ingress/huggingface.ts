import { lineDocuments, type DocumentPart, type Documents } from '../bytes/documents.js';
import { GatewayError } from '../core/errors.js';
import { encodeReply, UnwrittenJson } from '../bytes/encode.js';
import { FIELD, ROW } from '../bytes/scan.js';
import { NO_BYTES } from '../bytes/memory.js';
import { MANY_DOCUMENTS, Pace, type Steps } from '../bytes/steps.js';
import { defineDialect } from './dialect.js';
import { EXAMPLE } from './example.js';
import {
  checkCount,
  isRecord,
  listName,
  listNames,
  modelOf,
  oneQuery,
  readDocuments,
  stringList,
  type IngressRequest,
  type Members,
  type ScannedBody,
} from './read.js';
import { byPosition, scoreJson } from './write.js';

/** Whether each score is a bare number, or that of a classifier's label. */
interface Kept {
  readonly form: 'labels' | 'scores';
}

const SENTENCES = listNames('inputs.sentences');
/** The texts to rank, and the query of each. */
const PAIRS = [listName('inputs', { fields: ['text_pair', 'text'] })];
const [PAIR, QUERY, WIDTH] = [ROW, ROW + FIELD, ROW + 2 * FIELD];
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
    const { query, documents, form } = readInputs(request);
    return {
      model: modelOf(request.param('model').replace(/\/pipeline\/[\w-]+$/, '')),
      query,
      documents,
      topN: documents.count,
      returnDocuments: false,
      options: {},
      kept: { form },
    };
  },
  reply: (_id, _request, { rows }, { form }) => {
    const body = byPosition(rows).map(({ score }) =>
      form === 'scores' ? scoreJson(score) : [{ label: 'LABEL_0', score: scoreJson(score) }],
    );
    return rows.length > MANY_DOCUMENTS ? new UnwrittenJson(body) : encodeReply(body);
  },
  error: ({ message }) => ({ body: JSON.stringify({ error: message }) }),
});

interface Inputs {
  readonly query: string;
  readonly documents: Documents;
  readonly form: Kept['form'];
}

function readInputs(request: IngressRequest): Inputs {
  const scanned = request.scanAny(LISTS);
  if (scanned?.name === 'inputs') return scannedPairs(request, scanned);
  const { inputs } = scanned?.members ?? request.value();
  const isSimilarity = isRecord(inputs) && (scanned !== undefined || 'sentences' in inputs);
  return isSimilarity ? readSimilarity(request, inputs) : readPairs(request, inputs);
}

function readSimilarity(request: IngressRequest, inputs: Members): Inputs {
  const documents = stringList(request, SENTENCES);
  const { source_sentence: source } = inputs;
  if (typeof source !== 'string') throw badPairs('inputs.source_sentence must be a string.');
  return { query: oneQuery([source], documents.count, 'inputs'), documents, form: 'scores' };
}

function scannedPairs(request: IngressRequest, scanned: ScannedBody): Inputs {
  checkCount(scanned.list.count, request.maxDocuments, scanned.name);
  const pairs = request.make(scanned, () => pairsOf(scanned));
  return pairs ?? readPairs(request, request.value().inputs);
}

/** The documents and the query of pairs whose sides are all strings. */
function* pairsOf(scanned: ScannedBody): Steps<Inputs | undefined> {
  const { body, list, replaced } = scanned;
  const { rows } = list;
  const queries: string[] = [];
  const pace = new Pace();
  let last: Buffer = NO_BYTES;
  let text = '';
  for (let row = 0; row < rows.length; row += WIDTH) {
    const [start = 0, end = 0] = rows.subarray(row + QUERY);
    if (body[start] !== QUOTE || body[rows[row + PAIR] ?? 0] !== QUOTE) throw notPair(row / WIDTH);
    // As it came: halves of characters may differ.
    const sent =
      replaced === undefined
        ? body.subarray(start, end)
        : Buffer.concat([...replaced.originals(body, start, end)]);
    // Nearly always one, written in the same way each time.
    if (!sent.equals(last)) text = JSON.parse(sent.toString()) as string;
    last = sent;
    queries.push(text);
    if (pace.fills(sent.length)) yield;
  }
  const documents = yield* lineDocuments({ body, list, replaced, heads: [''] });
  if (documents === undefined) return undefined;
  return { documents, query: oneQuery(queries, documents.count, 'inputs'), form: 'labels' };
}

function readPairs(request: IngressRequest, inputs: unknown): Inputs {
  const queries: string[] = [];
  const read = (item: unknown, index: number): DocumentPart => {
    const [text, pair] = sidesOf(item);
    if (typeof text !== 'string' || typeof pair !== 'string') throw notPair(index);
    queries.push(text);
    return { text: pair, source: pair };
  };
  const kinds = 'pairs with "text" and "text_pair"';
  const documents = readDocuments(
    request,
    'inputs',
    kinds,
    read,
    isRecord(inputs) ? [inputs] : inputs,
  );
  return { query: oneQuery(queries, documents.count, 'inputs'), documents, form: 'labels' };
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
