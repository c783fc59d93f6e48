import { copyBytes, Owned, UNCOUNTED_BYTES } from '../memory.js';
import { inSteps, Pace, type Steps } from '../steps.js';
import { EnclosedJson } from './enclosed.js';
import { writeAround } from './room.js';
import { NumberRows } from './rows.js';
import { LyingText } from './vector-reader.js';
import { WrittenTexts } from './written-texts.js';

/** A JSON value did not have the shape that its reader expected. The message names the path and never quotes content. */
export class JsonShapeError extends Error {
  override readonly name = 'JsonShapeError';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return value === undefined ? 'nothing' : typeof value;
}

/** Lists of rows and of numbers may have been read into something else. */
function isArray(value: unknown): boolean {
  return Array.isArray(value) || value instanceof NumberRows || value instanceof Float64Array;
}

type Step = string | number | readonly string[];

/**
 * Reads unknown JSON step by step. A mismatch throws a `JsonShapeError` that names the path, so that a converter is
 * written as if the reply were well formed.
 */
export class Json {
  /** The parsed value; a list of rows may be `NumberRows`, and one of numbers a `Float64Array`. */
  readonly value: unknown;
  readonly #parent: Json | undefined;
  /** What was read from the parent: a member, the first of several, or an element; the root has a name instead. */
  readonly #step: Step;

  constructor(value: unknown, step: Step = '$', parent?: Json) {
    this.value = value instanceof LyingText ? value.toString() : value;
    this.#step = step;
    this.#parent = parent;
  }

  /** The member `name`; an absent member reads as `undefined`, which `optional` readers pass on. */
  field(name: string): Json {
    if (!this.isObject()) throw this.mismatch('an object');
    const members = this.value as Readonly<Record<string, unknown>>;
    return new Json(Object.hasOwn(members, name) ? members[name] : undefined, name, this);
  }

  /** Like `field`, but if the parent is not an object, the member counts as absent too. */
  maybe(name: string): Json {
    return this.isObject() ? this.field(name) : new Json(undefined, name, this);
  }

  /** The first of `names` that is present and not null. */
  firstOf(...names: readonly string[]): Json {
    for (const name of names) {
      const found = this.maybe(name);
      if (found.isPresent()) return found;
    }
    return new Json(undefined, names, this);
  }

  item(index: number): Json {
    return new Json(this.array()[index], index, this);
  }

  /** The length of an array. */
  count(): number {
    return this.value instanceof NumberRows ? this.value.count : this.array().length;
  }

  /** The first element of an array, which is not made of all of them; absent if there is none. */
  first(): Json {
    const { value } = this;
    return new Json(value instanceof NumberRows ? value.first() : this.array()[0], 0, this);
  }

  map<T>(read: (item: Json, index: number) => T): T[] {
    return this.array().map((value, index) => read(new Json(value, index, this), index));
  }

  array(): readonly unknown[] {
    if (this.value instanceof NumberRows) return this.value.objects();
    if (this.value instanceof Float64Array) return Array.from(this.value);
    if (!Array.isArray(this.value)) throw this.mismatch('an array');
    return this.value;
  }

  string(): string {
    if (typeof this.value !== 'string') throw this.mismatch('a string');
    return this.value;
  }

  number(): number {
    if (typeof this.value !== 'number') throw this.mismatch('a number');
    return this.value;
  }

  /** A number, possibly written as a decimal string. */
  numeric(): number {
    const value = parseNumeric(this.value);
    if (value === undefined) throw this.mismatch('a number');
    return value;
  }

  optionalString(): string | undefined {
    return typeof this.value === 'string' ? this.value : undefined;
  }

  /** A finite number, or a decimal string of one; anything else reads as `undefined`. */
  optionalNumber(): number | undefined {
    const value = parseNumeric(this.value);
    return value !== undefined && Number.isFinite(value) ? value : undefined;
  }

  isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !this.isArray();
  }

  isArray(): boolean {
    return isArray(this.value);
  }

  /** The error to throw if this value is not what was expected. */
  mismatch(expected: string): JsonShapeError {
    return new JsonShapeError(`${this.#path()} should be ${expected} and is ${kindOf(this.value)}`);
  }

  /** The path is built only when something is wrong: most values are read without a mistake. */
  #path(): string {
    const step = this.#step;
    if (this.#parent === undefined) return String(step);
    const path = this.#parent.#path();
    if (typeof step === 'number') return `${path}[${step}]`;
    return typeof step === 'string' ? `${path}.${step}` : `${path}.(${step.join('|')})`;
  }
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** A number, or a string that spells one in decimal; `undefined` for everything else. */
export function parseNumeric(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && DECIMAL.test(value.trim())) return Number(value);
  return undefined;
}

/** A short JSON text that is known to be valid and is written as it stands. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text in pieces, in order. */
export interface JsonPieces {
  readonly size: number;
  readonly copy: (target: Buffer, start: number) => void;
  readonly iterate: () => Iterable<Buffer>;
}

/** JSON text that is known to be valid and is written as it stands: documents are spliced in, never copied by value. */
export class JsonFragment {
  readonly size: number;
  readonly #pieces: JsonPieces | undefined;
  readonly #isLast: boolean;
  #bytes: Buffer | undefined;

  /** @param isLast whether the bytes around it are no longer needed and may be overwritten. */
  constructor(text: Buffer | JsonPieces, isLast = false) {
    this.#isLast = isLast;
    if (Buffer.isBuffer(text)) {
      this.#bytes = text;
      this.size = text.length;
    } else {
      this.#pieces = text;
      this.size = text.size;
    }
  }

  /** The whole text, if it need not be joined. */
  get lying(): Buffer | undefined {
    return this.#bytes;
  }

  /** The whole text; joined when first asked for. */
  get bytes(): Buffer {
    if (this.#bytes === undefined) {
      const joined = Buffer.allocUnsafe(this.size);
      this.copy(joined, 0);
      this.#bytes = joined;
    }
    return this.#bytes;
  }

  /** The text with `before` and `after` written around it in place; `undefined` if that is not allowed or not possible. */
  within(before: string, after: string): Buffer | undefined {
    return this.#isLast && this.#bytes !== undefined
      ? writeAround(this.#bytes, before, after)
      : undefined;
  }

  /** Writes it into `target`; returns the number of bytes. */
  copy(target: Buffer, start: number): number {
    if (this.#bytes !== undefined) return copyBytes(this.#bytes, target, start);
    this.#pieces?.copy(target, start);
    return this.size;
  }

  toString(): string {
    return this.bytes.toString('utf8');
  }

  pieces(): Iterable<Buffer> {
    return this.#bytes === undefined && this.#pieces !== undefined
      ? this.#pieces.iterate()
      : [this.bytes];
  }
}

/**
 * What a converter may return as a body: plain JSON with fragments anywhere. Undefined members are left out, and halves of
 * surrogate pairs in strings are replaced.
 */
export type JsonBody =
  | string
  | number
  | boolean
  | null
  | undefined
  | JsonFragment
  | JsonText
  | readonly JsonBody[]
  | { readonly [name: string]: JsonBody };

/** The UTF-8 bytes of `body`; fragments are copied byte for byte. */
export function encodeJson(body: JsonBody): Buffer {
  return joined(partsOf(body)).bytes;
}

/** Shorter fragments are sooner copied than written by themselves. */
const LEAST_ENCLOSED_BYTES = 8_192;
/** Longer bodies come in several reads, and are joined with room around them. */
export const MOST_ENCLOSED_BYTES = 131_072;

/** The same in the hands of an owner, but a long fragment stays where it lies if nothing can be written around it there. */
export function encodeEnclosed(body: JsonBody): Owned | EnclosedJson {
  const parts = partsOf(body);
  const [before, fragment, after] = parts;
  if (parts.length !== 3 || typeof before !== 'string' || typeof after !== 'string') {
    return joined(parts);
  }
  const middle = typeof fragment === 'object' ? fragment.lying : undefined;
  if (middle === undefined || middle.length < LEAST_ENCLOSED_BYTES) return joined(parts);
  const enclosed = new EnclosedJson(before, middle, after);
  if (enclosed.size > MOST_ENCLOSED_BYTES) return joined(parts);
  const inPlace = aroundFragment(parts);
  return inPlace === undefined ? enclosed : Owned.lent(inPlace);
}

/** To copy more is a turn of its own, or several. */
const LARGE_BYTES = 1_048_576;
/** Up to this size a list with text around it is copied in one go: that takes half a millisecond, and half of what steps take. */
const AT_ONCE_BYTES = 2_097_152;
const FEW_PARTS = 3;
/** How much is copied in one step. */
const STEP_BYTES = 262_144;

/** The same for a reply: what is large is left in pieces, to be joined into memory that can be given back. */
export function encodeReply(body: JsonBody): Buffer | JsonFragment {
  return joinReply(partsOf(body));
}

/** The same for JSON in parts. */
export function joinReply(parts: readonly Part[]): Buffer | JsonFragment {
  const size = lengthOf(parts);
  if (size < UNCOUNTED_BYTES) return joined(parts).bytes;
  return new JsonFragment({
    size,
    iterate: () => piecesOf(parts),
    copy: (target: Buffer, start: number) => {
      copyParts(parts, target, start);
    },
  });
}

/** A text put together from pieces whose sizes are known: to ask the engine for its size would copy it. */
export class SizedText {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: number;

  constructor(text: string, bytes: number) {
    this.text = text;
    this.bytes = bytes;
  }

  toString(): string {
    return this.text;
  }
}

/** A reply whose own texts would take long to write: it is written in steps. */
export class UnwrittenJson {
  readonly body: JsonBody;

  constructor(body: JsonBody) {
    this.body = body;
  }

  toString(): string {
    return encodeJson(this.body).toString('utf8');
  }
}

/** Like `encodeJson`, with a pause after every step of about a millisecond, for bodies that would hold up others. */
export async function encodeJsonInSteps(
  body: JsonBody,
  pause: () => Promise<void>,
): Promise<Owned> {
  const parts = await inSteps(partsInSteps(body), pause);
  const size = await inSteps(lengthInSteps(parts), pause);
  if (size <= AT_ONCE_BYTES && parts.length <= FEW_PARTS) {
    if (size > LARGE_BYTES) await pause();
    return joined(parts);
  }
  const inPlace = aroundFragment(parts);
  return inPlace === undefined ? joinInSteps(piecesOf(parts), size, pause) : Owned.lent(inPlace);
}

/** Pieces of so many bytes in one buffer, with pauses in between, and before and after so much memory is taken. */
export async function joinInSteps(
  pieces: Iterable<Buffer>,
  size: number,
  pause: () => Promise<void>,
): Promise<Owned> {
  const isLarge = size > LARGE_BYTES;
  // To ask for it may set off a collection, which is a step by itself.
  if (isLarge) await pause();
  const whole = Owned.uncleared(size);
  if (isLarge) await pause();
  let at = 0;
  let paused = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += STEP_BYTES) {
      at += copyBytes(piece, whole.bytes, at, from, from + STEP_BYTES);
      if (at - paused < STEP_BYTES) continue;
      await pause();
      paused = at;
    }
  }
  return whole;
}

/** Putting a fragment among others takes as long as serializing a text of this length. */
const FRAGMENT_UNITS = 500;

/** How much of a text is serialized in one step. */
const STEP_UNITS = 262_144;

/** A text as JSON, serialized in steps. */
export async function quotedInSteps(text: string, pause: () => Promise<void>): Promise<Buffer> {
  const written = new WrittenTexts();
  const pieces: Buffer[] = [];
  for (const piece of quotedPieces(text, written)) {
    pieces.push(piece);
    await pause();
  }
  const size = pieces.reduce((bytes, { length }) => bytes + length, 0);
  const { bytes } = await joinInSteps(pieces, size, pause);
  written.giveBack();
  return bytes;
}

const QUOTE = Buffer.from('"');

function* quotedPieces(
  text: string,
  written = new WrittenTexts(),
): Generator<Buffer, undefined, undefined> {
  yield QUOTE;
  for (let at = 0; at < text.length;) {
    const end = at + STEP_UNITS;
    // Not between the halves of a surrogate pair.
    const cut = (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
    yield written.add(text.slice(at, cut)).subarray(1, -1);
    at = cut;
  }
  yield QUOTE;
}

type Part = string | JsonFragment;

/** Written around documents in place, it lies in their memory. */
function joined(parts: readonly Part[]): Owned {
  const [first] = parts;
  if (parts.length === 1 && typeof first === 'string') return Owned.lent(Buffer.from(first));
  const inPlace = aroundFragment(parts);
  if (inPlace !== undefined) return Owned.lent(inPlace);
  const size = lengthOf(parts);
  const isSmall = size < UNCOUNTED_BYTES;
  const whole = isSmall ? Owned.lent(Buffer.allocUnsafe(size)) : Owned.uncleared(size);
  copyParts(parts, whole.bytes, 0);
  return whole;
}

function copyParts(parts: readonly Part[], target: Buffer, start: number): void {
  let at = start;
  for (const part of parts) {
    at += typeof part === 'string' ? target.write(part, at) : part.copy(target, at);
  }
}

function* piecesOf(parts: readonly Part[]): Iterable<Buffer> {
  for (const part of parts) {
    if (typeof part === 'string') yield Buffer.from(part);
    else yield* part.pieces();
  }
}

/** The parts written around their only fragment, if there is room around it. */
function aroundFragment(parts: readonly Part[]): Buffer | undefined {
  const [before, fragment, after] = parts;
  if (parts.length !== 3 || typeof fragment !== 'object') return undefined;
  if (typeof before !== 'string' || typeof after !== 'string') return undefined;
  return fragment.within(before, after);
}

/** The text between fragments, and the fragments. */
function partsOf(body: JsonBody): readonly Part[] {
  const parts: Part[] = [];
  const rest = write(body, '', parts);
  parts.push(rest);
  return parts;
}

/** The same, in steps: long texts are taken apart, and many short ones end a step too. */
function* partsInSteps(body: JsonBody): Steps<readonly Part[]> {
  const parts: Part[] = [];
  const rest = yield* writeInSteps(body, '', parts, new Pace());
  parts.push(rest);
  return parts;
}

function lengthOf(parts: readonly Part[]): number {
  let length = 0;
  for (const part of parts) {
    length += typeof part === 'string' ? Buffer.byteLength(part) : part.size;
  }
  return length;
}

/** The same for as many parts as there may be. */
function* lengthInSteps(parts: readonly Part[]): Steps<number> {
  const pace = new Pace();
  let length = 0;
  for (const part of parts) {
    length += typeof part === 'string' ? Buffer.byteLength(part) : part.size;
    if (pace.fills(1)) yield;
  }
  return length;
}

/** Appends `value` to `text`; a fragment flushes the text before it into `parts`. Returns the open text. */
function write(value: JsonBody, text: string, parts: Part[]): string {
  if (typeof value !== 'object' || value === null) return text + scalarText(value);
  if (value instanceof JsonFragment) {
    parts.push(text, value);
    return '';
  }
  if (value instanceof JsonText) return text + value.text;
  if (isList(value)) {
    let open = text + '[';
    for (let index = 0; index < value.length; index += 1) {
      open = write(value[index], index === 0 ? open : open + ',', parts);
    }
    return open + ']';
  }
  let open = text + '{';
  let first = true;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    open = write(member, `${open}${first ? '' : ','}${keyText(name)}`, parts);
    first = false;
  }
  return open + '}';
}

function* writeInSteps(value: JsonBody, text: string, parts: Part[], pace: Pace): Steps<string> {
  if (typeof value === 'string' && value.length > STEP_UNITS) {
    parts.push(text);
    for (const piece of quotedPieces(value)) {
      parts.push(new JsonFragment(piece));
      if (pace.fills(piece.length)) yield;
    }
    return '';
  }
  if (typeof value !== 'object' || value === null) {
    const open = text + scalarText(value);
    if (!pace.fills(typeof value === 'string' ? value.length : 1)) return open;
    parts.push(new JsonFragment(Buffer.from(open)));
    yield;
    return '';
  }
  if (value instanceof JsonFragment || value instanceof JsonText) {
    if (pace.fills(FRAGMENT_UNITS)) yield;
    return write(value, text, parts);
  }
  if (isList(value)) {
    let open = text + '[';
    for (let index = 0; index < value.length; index += 1) {
      open = yield* writeInSteps(value[index], index === 0 ? open : open + ',', parts, pace);
    }
    return open + ']';
  }
  let open = text + '{';
  let first = true;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    open = yield* writeInSteps(member, `${open}${first ? '' : ','}${keyText(name)}`, parts, pace);
    first = false;
  }
  return open + '}';
}

function scalarText(value: string | number | boolean | null | undefined): string {
  if (typeof value === 'string') return quoted(value.toWellFormed());
  // As `JSON.stringify` does it, which takes longer to be called.
  return typeof value === 'number' && Number.isFinite(value)
    ? String(value)
    : JSON.stringify(value ?? null);
}

/** Names of members as they are written: bodies and replies have the same ones in every row. */
const keyTexts = new Map<string, string>();
/** Names may come from settings and callers, too. */
const MOST_KEYS = 500;

function keyText(name: string): string {
  const known = keyTexts.get(name);
  if (known !== undefined) return known;
  const text = `${quoted(name)}:`;
  if (keyTexts.size < MOST_KEYS && name.length <= MOST_KEY_UNITS) keyTexts.set(name, text);
  return text;
}

const MOST_KEY_UNITS = 64;

/** Text that needs no JSON escapes; longer text is left to the engine, which scans it faster. */
const PLAIN = /^[\w ,.:;/@?()+-]{0,100}$/;

/** A string as JSON. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function isList(value: readonly JsonBody[] | object): value is readonly JsonBody[] {
  return Array.isArray(value);
}
