import { JsonFragment, type Documents, type JsonBody } from '../bytes/index.js';
import type { RankedRow } from '../core/rerank.js';
import type { Ranking } from './dialect.js';
import { scoreTexts } from './write.js';

/**
 * Rows of replies as texts: objects for each row, made only to be written, would cost more than all the rest of a reply.
 */

/** How documents are shown in rows: under which name, and whether by their texts alone. */
type Shown = NonNullable<Parameters<Documents['echoes']>[2]>;

/** A row as a form writes it: an object of these two. */
export type RowText = (index: number, score: string) => string;

/** A row as the main contract and many others have it. */
export const MAIN_ROW: RowText = (index, score) => `{"index":${index},"relevance_score":${score}}`;

/** A document by its text alone, where others show a string as an object with a text. */
export const AS_TEXT: Shown = { name: 'document', areTexts: true };

type Rows = Pick<Ranking, 'rows' | 'written'>;

/** The rows of a ranking as a form writes them, with a comma in between. */
export function rowsText(ranking: Rows, row: RowText): string {
  const written = row === MAIN_ROW ? asWritten(ranking)?.toString('latin1') : undefined;
  if (written !== undefined) return written;
  const scores = scoreTexts(ranking);
  let text = '';
  for (let at = 0; at < scores.length; at += 1) {
    const one = row(ranking.rows[at]?.index ?? 0, scores[at] ?? '');
    text += at === 0 ? one : `,${one}`;
  }
  return text;
}

/** The same, each with its document as the last member. There must be one row at least. */
export function rowsWithDocuments(
  ranking: Rows,
  row: RowText,
  documents: Documents,
  shown?: Shown,
): JsonFragment {
  const indexes = ranking.rows.map(({ index }) => index);
  const written = row === MAIN_ROW ? asWritten(ranking) : undefined;
  const rows = written ?? Buffer.from(rowsText(ranking, row), 'latin1');
  return documents.echoes(indexes, rows, shown);
}

/** Either as a list: with documents, if these are given. */
export function rowsJson(
  ranking: Rows,
  row: RowText,
  documents?: Documents,
  shown?: Shown,
): JsonBody {
  return documents === undefined || ranking.rows.length === 0
    ? new JsonFragment(`[${rowsText(ranking, row)}]`)
    : JsonFragment.joined(['[', rowsWithDocuments(ranking, row, documents, shown), ']']);
}

/** The ranking with other scores, of which those that are the same may be written as they came. */
export function rescored(
  { rows, written }: Rows,
  rescore: (rows: readonly RankedRow[]) => readonly RankedRow[],
): Rows {
  return { rows: rescore(rows), written };
}

/** The rows in the upstream's own bytes, if the ranking still matches them: writing numbers is most of a reply's cost. */
function asWritten({ rows, written }: Rows): Buffer | undefined {
  if (written?.kind !== 'rows') return undefined;
  if (written.rows === rows) return written.bytes;
  if (written.rows.length !== rows.length) return undefined;
  for (let at = 0; at < rows.length; at += 1) {
    const [row, read] = [rows[at], written.rows[at]];
    if (row?.index !== read?.index || row?.score !== read?.score) return undefined;
  }
  return written.bytes;
}
