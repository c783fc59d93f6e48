import type { JsonFragment } from './fragment.js';

/** A document by its values: the text to rank, and what the caller sent. */
export interface DocumentPart {
  /** The text to rank; absent if the document is only an image. */
  readonly text?: string;
  /** An image as the caller named it: an http(s) or `data:` URL, or base64. */
  readonly image?: string;
  /** What the caller sent: a string, or the object. */
  readonly source: unknown;
}

/** The same as JSON: text and image are strings; one of them may be absent. */
export interface DocumentJson {
  readonly text?: JsonFragment;
  readonly image?: JsonFragment;
  readonly source: JsonFragment;
}

/** How documents are shown in rows: under which name, and whether by their texts alone. */
export interface Shown {
  readonly name: string;
  readonly areTexts: boolean;
}

/** Changes to documents that are picked. */
export interface Change {
  /** New texts, by the index that the document has among those that are picked. */
  readonly texts?: ReadonlyMap<number, string>;
  readonly images?: 'none';
}

/**
 * The documents of one request, in the caller's order. Converters receive them as JSON to splice into a body, so that the
 * usual case (strings in, strings out) copies the caller's bytes and never builds a string per document.
 */
export interface Documents {
  readonly count: number;
  /** UTF-8 bytes of all texts as JSON, as it came: byte limits are based on it. */
  readonly sizeBytes: number;
  /**
   * The same of what the texts mean, however it is spelled, with the marks of a list around them: token estimates are based on
   * it.
   */
  readonly meantBytes: number;
  /** Whether any has an image: beside its text, or as all that it is, which only a model that takes images can rank. */
  readonly images: 'none' | 'beside' | 'alone';
  /** Indexes of those that contain only white space. */
  readonly blanks: readonly number[];
  /** UTF-8 bytes of one text as JSON. */
  textBytes(index: number): number;
  /** The text of one document, or its beginning: at least so many UTF-16 units of it. That of an image alone is empty. */
  text(index: number, units?: number): string;
  /** What one document consists of. */
  json(index: number): DocumentJson;
  /** A JSON array of the texts, each between `before` and `after`, which together with it must be valid JSON. */
  texts(before?: string | ((index: number) => string), after?: string): JsonFragment;
  /** A JSON array of what the caller sent: strings and whole objects, in the caller's own bytes. */
  sources(): JsonFragment;
  /**
   * Rows of a reply, which are objects of numbers with a comma in between, each with the document at its index as its last
   * member: `document`, an object with a text where a string was sent, or as `shown` says. There must be one row at least.
   */
  echoes(indexes: readonly number[], rows: Buffer, shown?: Shown): JsonFragment;
  /** Those at `indexes`, numbered from 0 again, or all of them; what the caller sent stays, whatever changes. */
  pick(indexes: readonly number[] | undefined, change?: Change): Documents;
}
