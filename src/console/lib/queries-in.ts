import {
  documentsOfFile,
  documentsOfTable,
  formatOfPaste,
  tableOf,
} from '../../core/documents-in.js';

/** A query with the documents that it is judged by. */
export interface Judged {
  readonly query: string;
  readonly documents: readonly string[];
  /** The label of each document; one without a label counts as not relevant. */
  readonly relevance: readonly number[];
}

export interface QueriesIn {
  readonly queries: readonly Judged[];
  /** What could not be used, with its place. */
  readonly problems: readonly string[];
}

const QUERY_NAMES = ['query', 'question', 'q'];

/** Many queries with labelled documents: JSON lines, a JSON list, or a table with a row for each pair. Pure. */
export function queriesOf(name: string, text: string): QueriesIn {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  if (ending === 'csv' || ending === 'tsv') return ofTable(name, text);
  const lines = ending === 'json' ? itemsOf(text) : text.split('\n');
  const found = lines.map((line, at) => (line.trim() === '' ? undefined : ofItem(line, at + 1)));
  return {
    queries: found.flatMap((one) => (typeof one === 'object' ? [one] : [])),
    problems: found.flatMap((one) => (typeof one === 'string' ? [one] : [])),
  };
}

/** The same of what was pasted, whose form shows in the text. */
export function queriesOfPaste(text: string): QueriesIn {
  if (text.trimStart().startsWith('[')) return queriesOf('a.json', text);
  const format = formatOfPaste(text);
  return queriesOf(format === 'csv' || format === 'tsv' ? `a.${format}` : 'a.jsonl', text);
}

/** Each element of a JSON list as a text of its own; anything else is a single element. */
function itemsOf(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [text];
  } catch (error) {
    if (error instanceof SyntaxError) return [text];
    throw error;
  }
}

/** A query, or why it is none. */
function ofItem(line: string, at: number): Judged | string {
  const { query, documents, labels, problems } = documentsOfFile('a.json', line);
  if (query === undefined || query.trim() === '') return `${at}: no query`;
  // A list of labels would no longer stand beside the right documents.
  if (documents.length === 0 || problems.length > 0)
    return `${at}: ${problems[0] ?? 'no documents'}`;
  const beside = labelsIn(line);
  return judged(query, documents, beside.length > 0 ? beside : labels, at);
}

/** Labels as a list of their own, in the order of the documents. */
function labelsIn(line: string): readonly unknown[] {
  const { labels, relevance } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const list = labels ?? relevance;
  return Array.isArray(list) ? list : [];
}

function judged(
  query: string,
  documents: readonly string[],
  labels: readonly unknown[],
  at: number,
): Judged | string {
  const relevance = documents.map((_, index) => {
    const label = labels[index];
    return typeof label === 'number' && label > 0 ? label : 0;
  });
  return relevance.some((label) => label > 0)
    ? { query: query.trim(), documents, relevance }
    : `${at}: no document is labelled as relevant`;
}

/** Rows of the same query belong together, wherever they are. */
function ofTable(name: string, text: string): QueriesIn {
  const table = tableOf(name, text);
  const column =
    table?.head.findIndex((head) => QUERY_NAMES.includes(head.trim().toLowerCase())) ?? -1;
  if (table === undefined || column < 0) return { queries: [], problems: ['1: no column “query”'] };
  const rows = new Map<string, (readonly string[])[]>();
  for (const row of table.body) {
    const query = row[column]?.trim() ?? '';
    rows.set(query, [...(rows.get(query) ?? []), row]);
  }
  const found = Array.from(rows, ([query, body], at) => {
    if (query === '') return `${at + 1}: no query`;
    const { documents, labels } = documentsOfTable({ ...table, body });
    return judged(query, documents, labels, at + 1);
  });
  return {
    queries: found.flatMap((one) => (typeof one === 'object' ? [one] : [])),
    problems: found.flatMap((one) => (typeof one === 'string' ? [one] : [])),
  };
}
