/** Documents out of what people paste or drop: lines, paragraphs, JSON, JSON lines, CSV and TSV. Pure. */
export interface DocumentsIn {
  readonly query: string | undefined;
  readonly documents: readonly string[];
  /** How relevant each document is said to be, 0 to 3. */
  readonly labels: readonly (number | undefined)[];
  /** What could not be read, by line. */
  readonly problems: readonly string[];
}

const LABEL_NAMES = ['label', 'relevance', 'grade', 'rel'];
const TEXT_NAMES = ['text', 'content', 'document', 'body', 'passage', 'chunk', 'page_content'];

/** One a line; where a line is blank, paragraphs. */
export function documentsOfText(text: string): string[] {
  const normal = text.replaceAll('\r\n', '\n').trim();
  const parts = /\n[ \t]*\n/.test(normal) ? normal.split(/\n[ \t]*\n+/) : normal.split('\n');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

export function documentsOfFile(name: string, text: string): DocumentsIn {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  if (ending === 'json') return ofJson(text);
  if (ending === 'jsonl' || ending === 'ndjson') return ofJsonLines(text);
  if (ending === 'csv' || ending === 'tsv') return ofTable(text, ending === 'csv' ? ',' : '\t');
  const documents = documentsOfText(text);
  return { query: undefined, documents, labels: documents.map(() => undefined), problems: [] };
}

/** A list, a request body, or the reply of a vector store. */
function ofJson(text: string): DocumentsIn {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return nothing(error instanceof Error ? error.message : String(error));
  }
  if (Array.isArray(value)) return ofList(value, undefined);
  if (typeof value !== 'object' || value === null) {
    return nothing('no list and no object');
  }
  const members = value as Readonly<Record<string, unknown>>;
  const query = typeof members.query === 'string' ? members.query : undefined;
  for (const name of ['documents', 'texts', 'passages', 'hits', 'matches', 'results']) {
    const list = members[name];
    if (Array.isArray(list)) return ofList(list, query);
  }
  return { ...nothing('no list of documents in it'), query };
}

function nothing(problem: string): DocumentsIn {
  return { query: undefined, documents: [], labels: [], problems: [problem] };
}

function ofList(list: readonly unknown[], query: string | undefined): DocumentsIn {
  const problems: string[] = [];
  const found = list.flatMap((item, index) => {
    const text = textOf(item);
    if (text === undefined) problems.push(`${index + 1}: no text`);
    return text === undefined ? [] : [{ text, label: labelOf(item) }];
  });
  return { query, ...apart(found), problems };
}

function ofJsonLines(text: string): DocumentsIn {
  const problems: string[] = [];
  const found = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const item: unknown = JSON.parse(line);
      const read = textOf(item);
      if (read === undefined) problems.push(`${index + 1}: no text`);
      return read === undefined ? [] : [{ text: read, label: labelOf(item) }];
    } catch (error) {
      problems.push(`${index + 1}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  return { query: undefined, ...apart(found), problems };
}

interface Labelled {
  readonly text: string;
  readonly label: number | undefined;
}

function apart(found: readonly Labelled[]): Pick<DocumentsIn, 'documents' | 'labels'> {
  return { documents: found.map(({ text }) => text), labels: found.map(({ label }) => label) };
}

function labelOf(item: unknown): number | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const members = item as Readonly<Record<string, unknown>>;
  return LABEL_NAMES.map((name) => gradeOf(members[name])).find((grade) => grade !== undefined);
}

/** 0 to 3, as a number or as text. */
function gradeOf(value: unknown): number | undefined {
  const grade = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof grade === 'number' && [0, 1, 2, 3].includes(grade) ? grade : undefined;
}

function textOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item.trim() === '' ? undefined : item;
  if (typeof item !== 'object' || item === null) return undefined;
  const members = item as Readonly<Record<string, unknown>>;
  for (const name of TEXT_NAMES) {
    const text = textOf(members[name]);
    if (text !== undefined) return text;
  }
  return textOf(members.metadata) ?? textOf(members.payload) ?? textOf(members._source);
}

/** The column with a name of a text, else the one with the longest texts. */
function ofTable(text: string, separator: string): DocumentsIn {
  const rows = cells(text, separator);
  const [head = [], ...body] = rows;
  const named = head.findIndex((name) => TEXT_NAMES.includes(name.trim().toLowerCase()));
  const lengths = head.map((_, at) => body.reduce((sum, row) => sum + (row[at]?.length ?? 0), 0));
  const column = named >= 0 ? named : lengths.indexOf(Math.max(...lengths));
  const chosen = named >= 0 || head.length > 1 ? body : rows;
  const problems: string[] = [];
  const labels = head.findIndex((name) => LABEL_NAMES.includes(name.trim().toLowerCase()));
  const found = chosen.flatMap((row, index) => {
    const cell = row[column]?.trim() ?? '';
    if (cell === '') problems.push(`${index + 2}: no text`);
    return cell === '' ? [] : [{ text: cell, label: gradeOf(row[labels]) }];
  });
  return { query: undefined, ...apart(found), problems };
}

/** Fields of RFC 4180: quotes hold separators and line ends, two of them are one. */
function cells(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const source = text.replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at] ?? '';
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\n') {
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else cell += character;
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell]);
  return rows.filter((fields) => fields.some((field) => field.trim() !== ''));
}
