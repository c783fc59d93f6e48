import type { DocumentPart, Documents } from './document-list.js';
import { ROW } from './scan.js';
import { NewTexts } from './written-texts.js';
import { writtenDocuments, type Standing } from './sent-documents.js';
import { Pace, type Steps } from './steps.js';

/** A longer element has to be parsed in pieces, and so has the whole body. */
const MOST_ELEMENT_BYTES = 65_536;
/** The same where the body has few values: text of the same size takes the parser a fiftieth of what these take. */
const MOST_TEXT_BYTES = 1_048_576;
const FEW_VALUES = 10_000;
/** How much is parsed and written in one step, in bytes, and what an element takes beside its own. */
const STEP_BYTES = 131_072;
const ELEMENT_BYTES = 512;

/** A body, and where the elements of its list are, of which there must be one at least. */
interface ElementList {
  readonly body: Buffer;
  /** How many values the body has, about. */
  readonly values: number;
  /** Rows of a `FoundList` without fields. */
  readonly rows: Uint32Array;
}

/**
 * Documents of elements that are parsed one by one and judged by `read`: of each only its text is kept, as JSON. `undefined` if
 * one is too large for that, or has an image: then the plain parser has to read the body.
 */
export function* elementDocuments(
  list: ElementList,
  read: (item: unknown, index: number) => DocumentPart,
): Steps<Documents | undefined> {
  const texts = new NewTexts();
  try {
    return yield* readOneByOne(list, read, texts);
  } finally {
    // Also of those before one that is refused, or is not for here.
    texts.giveBack();
  }
}

function* readOneByOne(
  { body, values, rows }: ElementList,
  read: (item: unknown, index: number) => DocumentPart,
  texts: NewTexts,
): Steps<Documents | undefined> {
  const most = values < FEW_VALUES ? MOST_TEXT_BYTES : MOST_ELEMENT_BYTES;
  const blanks: number[] = [];
  const standing: Standing[] = [];
  const pace = new Pace(STEP_BYTES);
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0] = rows.subarray(row, row + 2);
    if (end - start > most) return undefined;
    const index = row / ROW;
    const item: unknown = JSON.parse(body.toString('utf8', start, end));
    const { text, image, source } = read(item, index);
    if (text === undefined || image !== undefined) return undefined;
    if (source !== item && source !== text) return undefined;
    standing.push(source !== item ? 'text' : item === text ? 'both' : 'element');
    if (text.trim() === '') blanks.push(index);
    texts.set(index, text);
    if (pace.fills(end - start + ELEMENT_BYTES)) yield;
  }
  return yield* writtenDocuments({ body, rows, blanks, standing }, texts);
}
