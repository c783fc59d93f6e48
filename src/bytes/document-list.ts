import { type JsonBody, JsonFragment } from './fragment.js';
import type { NewTexts } from './written-texts.js';
import type { Pace, Steps } from './steps.js';

/** One document of a parsed request: the text to rank, and what the caller sent. */
export interface DocumentPart {
  /** The text to rank; absent if the document is only an image. */
  readonly text?: string;
  /** An image as the caller named it: an http(s) or `data:` URL, or base64. */
  readonly image?: string;
  /** What the caller sent: a string, or the object. */
  readonly source: unknown;
}

/** Text and image of a document as JSON strings; one of them may be absent. */
export interface Content {
  readonly text?: JsonFragment;
  readonly image?: JsonFragment;
}

/** How documents are shown in rows: under which name, and whether by their texts alone. */
export interface Shown {
  readonly name: string;
  readonly areTexts: boolean;
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
  /** Whether any document has an image, with or without text. */
  readonly hasImages: boolean;
  /** Whether any document is only an image, which only a model that takes images can rank. */
  readonly hasLoneImages: boolean;
  /** A JSON array of strings. */
  texts(): JsonFragment;
  /** The text of one document; an image without text reads as an empty string. */
  text(index: number): string;
  /** The same in pieces, so that nobody has to wait while megabytes are decoded. */
  pieces(index: number): Iterable<string>;
  /** A lower bound of the tokens of one text, or a number above `upTo`. */
  leastTokens(index: number, upTo: number, pace: Pace): Steps<number>;
  /** The text of one document, or its beginning: at least so many UTF-16 units of it. */
  beginning(index: number, units: number): string;
  /** The same as JSON, without making a string of it where it came as bytes. */
  textJson(index: number): JsonFragment;
  /** A JSON array of objects, each with the text under `key`, plus the image if there is one. */
  objects(key?: string): JsonFragment;
  /**
   * A JSON array of elements that wrap the text: `before`, the text as a JSON string, `after`. Together the three must be
   * valid JSON.
   */
  around(before: string | ((index: number) => string), after: string): JsonFragment;
  /** A JSON array of what the caller sent: strings and whole objects, in the caller's own bytes. */
  sources(): JsonFragment;
  /**
   * A JSON array of what the caller sent, reduced to these members; `undefined` if a document lacks one of them as a string.
   */
  picked(fields: readonly string[]): JsonFragment | undefined;
  /** Text and image of each document, for APIs that take them as separate objects. */
  contents(): readonly Content[];
  /** The same as values, with what the caller sent. */
  parts(): readonly DocumentPart[];
  /** The document as a reply shows it: `{"text": …}` for a string, otherwise the caller's own object. */
  echo(index: number): JsonBody;
  /**
   * Rows of a reply, which are objects of numbers with a comma in between, each with the document at its index as its last
   * member: `document`, as a reply shows it, or as `shown` says. There must be one row at least.
   */
  echoes(indexes: readonly number[], rows: Buffer, shown?: Shown): JsonFragment;
  /** Indexes of the documents that contain only white space. */
  blanks(): readonly number[];
  /** The same documents reduced to those at `indexes`, numbered from 0 again. */
  pick(indexes: readonly number[]): Documents;
  /** UTF-8 bytes of one text, at least: as JSON if it arrived as JSON. */
  textBytes(index: number): number;
  /** The most of these. */
  longestBytes(): number;
  /** The same documents with `text` replacing the blank ones. */
  fillBlanks(text: string): Documents;
  /** The same documents with some texts replaced by these, which nobody else reads; images and the caller's originals stay. */
  withTextsInSteps(texts: NewTexts): Steps<Documents>;
  /** The same documents as texts only, for models that take nothing else; the caller's originals stay. */
  withoutImages(): Documents;
  /**
   * Does in advance, with a pause after every step, the work that would hold up others if documents are large; `areEchoed`
   * also what `echo` needs.
   */
  prepare(pause: () => Promise<void>, areEchoed?: boolean): Promise<void>;
}
