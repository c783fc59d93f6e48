import { isRecord } from './records.js';

/** Documents from what people paste or drop: lines, paragraphs, JSON, JSON lines, CSV and TSV. Pure. */
export interface DocumentsIn {
  readonly query: string | undefined;
  readonly documents: readonly string[];
  /** The relevance that each document is labelled with, 0 to 3. */
  readonly labels: readonly (number | undefined)[];
  /** What each document is called where it comes from. */
  readonly ids: readonly (string | undefined)[];
  /** What could not be read, with its line number. */
  readonly problems: readonly string[];
}

/** Of what is kept of an id, in characters: it is only shown. */
const MAX_ID = 100;
const LABEL_NAMES = ['label', 'relevance', 'grade', 'rel'];
const TITLE_NAMES = ['title', 'headline', 'heading'];
const ID_NAMES = ['id', '_id', 'doc_id', 'document_id', 'docid'];
const TEXT_NAMES = ['text', 'content', 'document', 'body', 'passage', 'chunk', 'page_content'];

/** One document per line, or per paragraph if there are blank lines. */
export function documentsOfText(text: string): string[] {
  const normal = text.replaceAll('\r\n', '\n').trim();
  const parts = /\n[ \t]*\n/.test(normal) ? normal.split(/\n[ \t]*\n+/) : normal.split('\n');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Writes documents as text from which `documentsOfText` reads them back. */
export function textOfDocuments(documents: readonly string[]): string {
  const texts = documents.map((text) => text.replaceAll(/\r\n?/g, '\n').trim());
  const isLines = texts.length < 2 || texts.every((text) => !text.includes('\n'));
  // The lines of a single document would be read as separate documents.
  if (isLines) return texts.map((text) => text.replaceAll(/\s*\n\s*/g, ' ')).join('\n');
  return texts.map((text) => text.replaceAll(/\n[ \t]*\n\s*/g, '\n')).join('\n\n');
}

/** The text of a file: UTF-16 if it has the byte order mark, else UTF-8 if valid, else the encoding of Chinese programs. */
export function textOfBytes(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // It is not valid UTF-8.
    return new TextDecoder('gb18030').decode(bytes);
  }
}

/** The extension of the file that a pasted text would come from; `undefined` for plain documents. */
export function formatOfPaste(text: string): 'json' | 'jsonl' | 'csv' | 'tsv' | undefined {
  const trimmed = text.trim();
  if (isJson(trimmed)) return /^[[{]/.test(trimmed) ? 'json' : undefined;
  const [head = '', second = ''] = trimmed.split('\n');
  if (isJson(head) && isJson(second) && head.startsWith('{')) return 'jsonl';
  const separator = head.includes('\t') ? '\t' : ',';
  const [columns = []] = cells(head, separator);
  const titles = columns.map((title) => title.trim().toLowerCase());
  if (titles.length < 2 || !titles.some((title) => TEXT_NAMES.includes(title))) return undefined;
  return separator === ',' ? 'csv' : 'tsv';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

export function documentsOfFile(name: string, text: string): DocumentsIn {
  const ending = endingOf(name);
  if (ending === 'json') return ofJson(text);
  if (ending === 'jsonl' || ending === 'ndjson') return ofJsonLines(text);
  if (ending === 'csv' || ending === 'tsv') {
    const table = tableOf(name, text);
    return table === undefined ? ofColumn(text) : documentsOfTable(table);
  }
  const found = documentsOfText(text).map((one) => ({
    text: one,
    label: undefined,
    id: undefined,
  }));
  return { query: undefined, ...apart(found), problems: [] };
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
  if (!isRecord(value)) return nothing('no list and no object');
  const query = typeof value.query === 'string' ? value.query : undefined;
  const list = listIn(value);
  return list === undefined
    ? { ...nothing('no list of documents in it'), query }
    : ofList(list, query);
}

type Members = Readonly<Record<string, unknown>>;

/** What requests and vector stores call the list of their documents. */
const LIST_NAMES = [
  ...['documents', 'texts', 'passages'],
  ...['hits', 'matches', 'results', 'result', 'points', 'data'],
];

/** The list may lie a member deeper, and have a list for each of several queries; the first counts. */
function listIn(members: Members): readonly unknown[] | undefined {
  for (const name of LIST_NAMES) {
    const value = members[name];
    if (Array.isArray(value)) {
      const list: readonly unknown[] = value;
      const [first] = list;
      return Array.isArray(first) ? (first as readonly unknown[]) : list;
    }
    if (isRecord(value)) return listIn(value);
  }
  return undefined;
}

function nothing(problem: string): DocumentsIn {
  return { query: undefined, documents: [], labels: [], ids: [], problems: [problem] };
}

function ofList(list: readonly unknown[], query: string | undefined): DocumentsIn {
  const problems: string[] = [];
  const found = list.flatMap((item, index) => foundIn(item, index, problems));
  return { query, ...apart(found), problems };
}

function foundIn(item: unknown, index: number, problems: string[]): Found[] {
  const text = textOf(item);
  if (text === undefined) problems.push(`${index + 1}: no text`);
  return text === undefined ? [] : [{ text, label: labelOf(item), id: idOf(item) }];
}

function ofJsonLines(text: string): DocumentsIn {
  const problems: string[] = [];
  const found = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return foundIn(JSON.parse(line), index, problems);
    } catch (error) {
      problems.push(`${index + 1}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  return { query: undefined, ...apart(found), problems };
}

interface Found {
  readonly text: string;
  readonly label: number | undefined;
  readonly id: string | undefined;
}

function apart(found: readonly Found[]): Pick<DocumentsIn, 'documents' | 'labels' | 'ids'> {
  return {
    documents: found.map(({ text }) => text),
    labels: found.map(({ label }) => label),
    ids: found.map(({ id }) => id),
  };
}

function idOf(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const id = ID_NAMES.map((name) => item[name]).find((value) => value !== undefined);
  return typeof id === 'string' || typeof id === 'number' ? nameOf(String(id)) : undefined;
}

function nameOf(id: string | undefined): string | undefined {
  const name = id?.trim().slice(0, MAX_ID);
  return name === '' ? undefined : name;
}

function labelOf(item: unknown): number | undefined {
  if (!isRecord(item)) return undefined;
  return LABEL_NAMES.map((name) => gradeOf(item[name])).find((grade) => grade !== undefined);
}

/** 0 to 3, as a number or as text. */
function gradeOf(value: unknown): number | undefined {
  const grade = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof grade === 'number' && [0, 1, 2, 3].includes(grade) ? grade : undefined;
}

function textOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item.trim() === '' ? undefined : item;
  if (!isRecord(item)) return undefined;
  for (const name of TEXT_NAMES) {
    const text = textOf(item[name]);
    if (text !== undefined) return text;
  }
  return textOf(item.metadata) ?? textOf(item.payload) ?? textOf(item._source);
}

/** A table from a file, and what its columns hold: −1 for what none of them has. */
export interface Table {
  readonly head: readonly string[];
  readonly body: readonly (readonly string[])[];
  readonly text: number;
  /** Goes in front of the text, on a separate line. */
  readonly title: number;
  readonly id: number;
  readonly label: number;
}

/** The columns of a CSV or TSV file, with a guess at their use; `undefined` if there is only one, so nothing to choose. */
export function tableOf(name: string, content: string): Table | undefined {
  const ending = endingOf(name);
  if (ending !== 'csv' && ending !== 'tsv') return undefined;
  const [head = [], ...body] = cells(content, ending === 'csv' ? ',' : '\t');
  if (head.length < 2) return undefined;
  const columnOf = (names: readonly string[]): number =>
    head.findIndex((title) => names.includes(title.trim().toLowerCase()));
  const named = columnOf(TEXT_NAMES);
  const lengths = head.map((_, at) => body.reduce((sum, row) => sum + (row[at]?.length ?? 0), 0));
  const longest = lengths.indexOf(Math.max(...lengths));
  const text = named >= 0 ? named : longest;
  const beside = (names: readonly string[]): number => {
    const found = columnOf(names);
    return found === text ? -1 : found;
  };
  return {
    ...{ head, body, text },
    ...{ title: beside(TITLE_NAMES), id: beside(ID_NAMES), label: beside(LABEL_NAMES) },
  };
}

/** The documents of a table, from the columns that were picked. */
export function documentsOfTable({ body, text, title, id, label }: Table): DocumentsIn {
  const problems: string[] = [];
  const found = body.flatMap((row, index) => {
    const cell = row[text]?.trim() ?? '';
    if (cell === '') problems.push(`${index + 2}: no text`);
    const head = row[title]?.trim() ?? '';
    const whole = head === '' ? cell : `${head}\n${cell}`;
    return cell === '' ? [] : [{ text: whole, label: gradeOf(row[label]), id: nameOf(row[id]) }];
  });
  return { query: undefined, ...apart(found), problems };
}

/** A table of one column: if the first row is a known title of such a column, it is not a document. */
function ofColumn(text: string): DocumentsIn {
  const rows = cells(text, ',');
  const isHead = TEXT_NAMES.includes(rows[0]?.[0]?.trim().toLowerCase() ?? '');
  const body = isHead ? rows.slice(1) : rows;
  return documentsOfTable({ head: [], body, text: 0, title: -1, id: -1, label: -1 });
}

/** Fields of RFC 4180: quoted fields may contain separators and line breaks, and a doubled quote stands for one. */
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
