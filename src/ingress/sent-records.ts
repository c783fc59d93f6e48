import { lineDocuments, type Documents } from '../bytes/documents.js';
import type { GatewayError } from '../core/errors.js';
import { Interleaved } from '../bytes/interleaved.js';
import { JsonFragment, type JsonBody } from '../bytes/fragment.js';
import { FIELD, ROW } from '../bytes/scan.js';
import type { RankedRow } from '../core/rerank.js';
import { Pace, type Steps } from '../bytes/steps.js';
import { documentsError, isRecord, type ScannedBody } from './read.js';
import { scoreText } from './write.js';

/** A record as Google's callers send it, and see it again. */
export interface GoogleRecord {
  readonly id?: JsonBody;
  readonly title?: JsonBody;
  readonly content?: JsonBody;
}

/** The members of records. Those that are ranked, as one text, come first. */
export const RECORD_MEMBERS = ['title', 'content', 'id'] as const;
const HEADS = ['', ''];
const [TITLE, CONTENT, ID] = [ROW, ROW + FIELD, ROW + 2 * FIELD];
const WIDTH = ROW + FIELD * RECORD_MEMBERS.length;
/** The order in which they are judged. */
const JUDGED = [
  ['id', ID],
  ['title', TITLE],
  ['content', CONTENT],
] as const;

const QUOTE = 0x22;

/** Records that stay where they came: a body, and where the members of each are. */
export class SentRecords {
  readonly #sent: ScannedBody;
  readonly #body: Buffer;
  readonly #rows: Uint32Array;

  constructor(sent: ScannedBody) {
    this.#sent = sent;
    this.#body = sent.body;
    this.#rows = sent.list.rows;
  }

  /**
   * What is ranked of them.
   * @throws GatewayError 400 that names a record that cannot be, as `readRecord` does.
   */
  *documents(): Steps<Documents | undefined> {
    const pace = new Pace();
    for (let row = 0; row < this.#rows.length; row += WIDTH) {
      this.#check(row);
      if (pace.fills(1)) yield;
    }
    return yield* lineDocuments({ ...this.#sent, heads: HEADS });
  }

  #check(row: number): void {
    const [body, rows] = [this.#body, this.#rows];
    const index = row / WIDTH;
    if (body[rows[row] ?? 0] === QUOTE) throw noObject(index);
    for (const [name, member] of JUDGED) {
      const start = rows[row + member] ?? 0;
      if (start !== 0 && body[start] !== QUOTE) throw noString(index, name);
    }
    if (rows[row + TITLE] === 0 && rows[row + CONTENT] === 0) throw noText(index);
  }

  /** One of them. */
  at(index: number): GoogleRecord {
    const row = index * WIDTH;
    return {
      id: this.#json(row + ID),
      title: this.#json(row + TITLE),
      content: this.#json(row + CONTENT),
    };
  }

  /** The string whose place is at `place`, if there is one, as it came. */
  #json(place: number): JsonBody {
    const [start, end] = [this.#rows[place] ?? 0, this.#rows[place + 1] ?? 0];
    return start === 0 ? undefined : new JsonFragment(this.#body.subarray(start, end));
  }

  /** Those of the rows of a ranking, as `recordJson` shows them: one at least, since there is no ranking without. */
  shown(rows: readonly RankedRow[], isWhole: boolean): JsonFragment {
    const [body, places] = [this.#body, this.#rows];
    const text = new Interleaved(body, rows.length * RECORD_MEMBERS.length + 1);
    const [beforeTitle, beforeContent] = [text.keep(',"title":'), text.keep(',"content":')];
    let before = '[';
    for (const { index, score } of rows) {
      const row = index * WIDTH;
      before += '{"id":';
      if (places[row + ID] === 0) text.addText(`${before}"${index}"`);
      else text.addBehind(before, places[row + ID] ?? 0, places[row + ID + 1] ?? 0);
      if (isWhole && places[row + TITLE] !== 0) {
        text.add(beforeTitle, places[row + TITLE] ?? 0, places[row + TITLE + 1] ?? 0);
      }
      if (isWhole && places[row + CONTENT] !== 0) {
        text.add(beforeContent, places[row + CONTENT] ?? 0, places[row + CONTENT + 1] ?? 0);
      }
      before = `,"score":${scoreText(score)}},`;
    }
    text.addText(`${before.slice(0, -1)}]`);
    return text.fragment();
  }
}

/** A record as parsed. */
export interface ParsedRecord extends GoogleRecord {
  readonly id: string | undefined;
  readonly title: string | undefined;
  readonly content: string | undefined;
}

/** @throws GatewayError 400 that names the record. */
export function readRecord(item: unknown, index: number): ParsedRecord {
  if (!isRecord(item)) throw noObject(index);
  const [id, title, content] = JUDGED.map(([name]) => {
    const value = item[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw noString(index, name);
  });
  if (title === undefined && content === undefined) throw noText(index);
  return { id, title, content };
}

function noObject(index: number): GatewayError {
  return documentsError(`records[${index}] must be an object.`, 'records');
}

/** The caller finds its records by these alone: none may be replaced quietly. */
function noString(index: number, name: string): GatewayError {
  return documentsError(`records[${index}].${name} must be a string.`, 'records');
}

function noText(index: number): GatewayError {
  return documentsError(`records[${index}] must have a title or content.`, 'records');
}
