import { createHash } from 'node:crypto';
import { JsonFragment } from '../../bytes/index.js';
import { cutToTokens, unitsBeyond } from '../../core/tokens.js';
import { forModel, type ByModel, type PartCall, type UpstreamCall } from '../provider.js';
import { prefixOf, type EmbeddedText } from './forms.js';

/** Work with pauses, in which nothing is asked. */
type Pauses<T> = Generator<readonly PartCall[], T, undefined>;

/** What an API takes of a text, and of the texts of a call. */
export interface TextLimits {
  /** UTF-8 bytes of one call, for all texts together, which keep it within its token limit. */
  readonly batchBytes?: number;
  /** Tokens of one text, if a longer one is refused; absent if the API cuts texts itself. */
  readonly textTokens?: ByModel<number>;
  /** The same in characters: counted as UTF-16 units; a text has at least as many of them as characters. */
  readonly textCharacters?: (model: string) => number | undefined;
}

/** The most of a text that is sent. */
interface Most {
  readonly tokens: number;
  readonly characters: number;
}

const WHOLE: Most = { tokens: Infinity, characters: Infinity };

function mostOf({ textTokens, textCharacters }: TextLimits, call: UpstreamCall): Most {
  if (call.options.truncation === false) return WHOLE;
  return {
    tokens: textTokens === undefined ? Infinity : forModel(textTokens, call.model),
    characters: textCharacters?.(call.model) ?? Infinity,
  };
}

/** The part of a too long document that is sent. */
interface CutText {
  readonly json: JsonFragment;
  /** In UTF-8. */
  readonly bytes: number;
}

/** No text has more than three tokens per unit, and no JSON fewer bytes than its text has units. */
const MOST_TOKENS_PER_UNIT = 3;

/** The query in the form that the model needs, cut if the API would refuse its length. */
export function queryFor(api: TextLimits, call: UpstreamCall): EmbeddedText {
  const text = cutTo(mostOf(api, call), prefixOf('query', call) + call.query);
  return { purpose: 'query', text };
}

/** As much of a text as the API takes. */
function cutTo({ tokens, characters }: Most, text: string): string {
  const whole = text.slice(0, characters).toWellFormed();
  return whole.length * MOST_TOKENS_PER_UNIT > tokens ? cutToTokens(whole, tokens) : whole;
}

/**
 * The documents of a call in the form that the model needs: where nothing has to be cut, in the caller's bytes. Strings of all texts
 * would be megabytes on the heap, for the collector to move. A text that occurs twice is one.
 */
export class DistinctTexts {
  /** For each document, the number of its text. */
  readonly numbers: Uint32Array;
  /** How many texts there are. */
  count = 0;
  /** By which the texts are remembered, if they are. */
  readonly keys: string[] = [];
  readonly #call: UpstreamCall;
  readonly #most: Most;
  /** The units of a text that are looked at, where it may have to be cut. */
  readonly #units: number;
  /** The prefix of each text, as JSON after its opening quote. */
  readonly #head: Buffer | undefined;
  readonly #prefix: string;
  /** The documents that are cut. */
  readonly #cut = new Map<number, CutText>();
  /** Of each text, the document that has it first, and its size in UTF-8 if anything depends on it. */
  readonly #firsts: Uint32Array;
  readonly #sizes: Float64Array | undefined;

  constructor(api: TextLimits, call: UpstreamCall) {
    const { count } = call.documents;
    this.#call = call;
    this.#most = mostOf(api, call);
    this.#units = Math.min(unitsBeyond(this.#most.tokens), this.#most.characters);
    this.#prefix = prefixOf('document', call).toWellFormed();
    this.#head =
      this.#prefix === '' ? undefined : Buffer.from(JSON.stringify(this.#prefix)).subarray(0, -1);
    this.numbers = new Uint32Array(count);
    this.#firsts = new Uint32Array(count);
    this.#sizes = api.batchBytes === undefined ? undefined : new Float64Array(count);
  }

  /** Finds them; with keys that are unique over all models and settings, if they are `remembered`. */
  *find(areRemembered: boolean): Pauses<undefined> {
    const known = new Map<string, number>();
    let bytes = 0;
    for (let index = 0; index < this.numbers.length; index += 1) {
      const cut = this.#cutOf(index);
      const key = this.#keyOf(index, cut, areRemembered);
      let number = known.get(key);
      if (number === undefined) {
        number = this.count;
        this.count += 1;
        known.set(key, number);
        this.#firsts[number] = index;
        if (cut !== undefined) this.#cut.set(index, cut);
        if (areRemembered) this.keys.push(key);
        if (this.#sizes !== undefined) this.#sizes[number] = cut?.bytes ?? this.#sizeOf(index);
      }
      this.numbers[index] = number;
      bytes += this.#call.documents.textBytes(index) + TEXT_BYTES;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      yield [];
    }
  }

  /** Whether not all of a document is sent. */
  get isAnyCut(): boolean {
    return this.#cut.size > 0;
  }

  /** A text as it is sent. */
  text(number: number): EmbeddedText {
    const index = this.#firsts[number] ?? 0;
    const cut = this.#cut.get(index);
    if (cut !== undefined) return { purpose: 'document', text: cut.json };
    const json = jsonOf(this.#call, index);
    const whole =
      this.#head === undefined
        ? new JsonFragment(json)
        : JsonFragment.joined([this.#head, json.subarray(1)]);
    return { purpose: 'document', text: whole };
  }

  /** In UTF-8; 0 where the API does not bound a call's bytes. */
  size(number: number): number {
    return this.#sizes?.[number] ?? 0;
  }

  /** A document as it is sent, if it has to be cut. */
  #cutOf(index: number): CutText | undefined {
    const { documents } = this.#call;
    const prefix = this.#prefix;
    const bytes = prefix.length + documents.textBytes(index);
    const most = this.#most;
    if (bytes <= most.characters && bytes * MOST_TOKENS_PER_UNIT <= most.tokens) return undefined;
    const beginning = documents.text(index, this.#units);
    const text = cutTo(most, prefix + beginning);
    const isCut = beginning.length >= this.#units || text.length < prefix.length + beginning.length;
    if (!isCut) return undefined;
    return { json: new JsonFragment(JSON.stringify(text)), bytes: Buffer.byteLength(text) };
  }

  /** UTF-8 bytes of a document with what stands before it, counted if its JSON has escapes. */
  #sizeOf(index: number): number {
    const json = jsonOf(this.#call, index);
    const before = Buffer.byteLength(this.#prefix);
    if (!json.includes(BACKSLASH)) return before + json.length - 2;
    return before + Buffer.byteLength(this.#call.documents.text(index));
  }

  /** A key that identifies a text: within one call, or over all models and settings. */
  #keyOf(index: number, cut: CutText | undefined, isRemembered: boolean): string {
    const { model, settings } = this.#call;
    const json = usuallyWritten(cut?.json.bytes ?? jsonOf(this.#call, index));
    const before = cut === undefined ? this.#head?.subarray(1) : undefined;
    const size = (before?.length ?? 0) + json.length;
    if (!isRemembered && size <= SHORT_BYTES) {
      return (before?.toString('latin1') ?? '') + json.toString('latin1');
    }
    const hash = createHash('sha256');
    if (before !== undefined) hash.update(before);
    const digest = hash.update(json).digest('base64url');
    return isRemembered ? `${model} ${String(settings.dimensions ?? '')} ${digest}` : digest;
  }
}

/** How much is gone through before others get a turn, and what a text counts for beside its bytes. */
const BYTES_PER_TURN = 262_144;
const TEXT_BYTES = 128;
/** Longer texts are identified by their hash. */
const SHORT_BYTES = 512;

function jsonOf({ documents }: UpstreamCall, index: number): Buffer {
  return documents.json(index).text?.bytes ?? EMPTY;
}

const EMPTY = Buffer.from('""');
const BACKSLASH = 0x5c;
const HEXADECIMAL = Buffer.from('\\u');
const SLASH = Buffer.from('\\/');

/** Whether a part of a JSON string is certain to have no escapes but those that it needs, in their shortest form. */
function isUsual(part: Buffer): boolean {
  return !part.includes(BACKSLASH) || !(part.includes(HEXADECIMAL) || part.includes(SLASH));
}

/** The part between the quotes of a JSON string, as `JSON.stringify` would write it: the same text has one spelling. */
function usuallyWritten(json: Buffer): Buffer {
  if (isUsual(json)) return json.subarray(1, -1);
  return Buffer.from(JSON.stringify(JSON.parse(json.toString('utf8')))).subarray(1, -1);
}
