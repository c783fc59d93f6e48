import { copyBytes, Owned, UNCOUNTED_BYTES } from './memory.js';
import { inSteps, Pace, type Steps } from './steps.js';
import { EnclosedJson } from './enclosed.js';
import { JsonFragment, JsonText, MadeList, type JsonBody } from './fragment.js';
import { WrittenTexts, type WrittenText } from './written-texts.js';

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

/** To make an element may take long: the clock is looked at after each few. */
const MADE_UNITS = 8_192;

/** How much of a text is serialized in one step. */
const STEP_UNITS = 262_144;

/** A text as JSON, serialized in steps. */
export async function quotedInSteps(
  text: string,
  pause: () => Promise<void>,
): Promise<WrittenText> {
  const written = new WrittenTexts();
  const pieces: Buffer[] = [QUOTE];
  let meantBytes = 0;
  for (const slice of slicesOf(text)) {
    pieces.push(withinQuotes(written.add(slice)));
    meantBytes += Buffer.byteLength(slice);
    await pause();
  }
  pieces.push(QUOTE);
  const size = pieces.reduce((bytes, { length }) => bytes + length, 0);
  const { bytes } = await joinInSteps(pieces, size, pause);
  written.giveBack();
  return { json: bytes, meantBytes };
}

const QUOTE = Buffer.from('"');

function* quotedPieces(text: string): Generator<Buffer, undefined, undefined> {
  const written = new WrittenTexts();
  yield QUOTE;
  for (const slice of slicesOf(text)) yield withinQuotes(written.add(slice));
  yield QUOTE;
}

function withinQuotes(json: Buffer): Buffer {
  return json.subarray(QUOTE.length, -QUOTE.length);
}

function* slicesOf(text: string): Generator<string, undefined, undefined> {
  for (let at = 0; at < text.length;) {
    const end = at + STEP_UNITS;
    // Not between the halves of a surrogate pair.
    const cut = (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
    yield text.slice(at, cut);
    at = cut;
  }
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
  if (value instanceof MadeList) {
    const elements = Array.from({ length: value.count }, (_, index) => value.elementAt(index));
    return write(elements, text, parts);
  }
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
  if (value instanceof MadeList) {
    let open = text + '[';
    for (let index = 0; index < value.count; index += 1) {
      const before = index === 0 ? open : open + ',';
      open = yield* writeInSteps(value.elementAt(index), before, parts, pace);
      if (pace.fills(MADE_UNITS)) yield;
    }
    return open + ']';
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
