import { GatewayError } from '../core/errors.js';
import {
  fieldDocuments,
  imageDocuments,
  TEXT_AND_IMAGE,
  type Documents,
} from '../bytes/documents.js';
import { LoneHalves } from '../bytes/halves.js';
import {
  areLocatable,
  areTextsAlone,
  excessOf,
  locatedList,
  ROW,
  splitBody,
  Walk,
  type FoundList,
  type ListName,
  type ParseLimits,
  type ScannedBody,
} from '../bytes/scan.js';
import { isRecord } from '../core/records.js';
import { atOnce, inSteps, MANY_DOCUMENTS, Pace, type Steps } from '../bytes/steps.js';
import { PiecewiseParser, type Keeps } from '../bytes/pieces.js';
import { arePlain } from './plain-members.js';

/** The headers of a request, as Node hands them over: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
export type Members = Readonly<Record<string, unknown>>;

/**
 * Values that are written back, in a reply or to a provider, are written recursively: deeper ones would exhaust the stack.
 * The limit on values allows ten thousand documents with fifty members each.
 */
const LIMITS = { depth: 256, values: 500_000, members: 50_000, keyBytes: 1_048_576 };

/** Of a name, its colon, a value and a comma. */
const LEAST_MEMBER_BYTES = 5;

/** Larger bodies are scanned in steps. */
const LARGE_BYTES = 1_048_576;
/** Bytes scanned in one step: half a millisecond at most, whatever they hold. */
const STEP_BYTES = 262_144;

/** Under which names is kept what was made of the list that was found, or of its elements one by one: no list has them. */
const OF_LIST = '';
const OF_ELEMENTS = ' ';

/** Bytes parsed in one go. Many small values take the parser fifty times as long as text of the same size. */
const PARSED_AT_ONCE_BYTES = 65_536;

/** Units of text made of values in one step: nested lists take a millisecond for so many. */
const MADE_UNITS = 32_768;

/** A list with the places of members of its elements. */
interface Located {
  readonly list: FoundList;
  readonly replaced: LoneHalves | undefined;
}

/** Work that takes too long for one go, and has to be done in steps before what asked for it is asked again. */
class NotDoneYet extends Error {
  readonly work: (pause: () => Promise<void>) => Promise<void>;

  constructor(work: (pause: () => Promise<void>) => Promise<void>) {
    super('work is left to be done in steps');
    this.work = work;
  }
}

/** A request that has arrived in full, read only as far as its dialect needs. */
export class IngressRequest {
  /** Valid UTF-8. */
  readonly body: Buffer;
  readonly headers: RequestHeaders;
  readonly maxDocuments: number;
  readonly #params: Readonly<Record<string, string>>;
  #scanned: ScannedBody | undefined;
  #isScanned = false;
  /** The same, whatever elements are. */
  #elements: ScannedBody | undefined;
  #areElementsSought = false;
  #value: Members | undefined;
  /** Whether the value was parsed in pieces. */
  #isPieced = false;
  #isPlain: boolean | undefined;
  /** What of the body is kept if it is parsed in pieces. */
  #keeps: Keeps = 'all';
  /** What was made of lists of this body in steps, by their names. */
  #made: Map<string, readonly unknown[]> | undefined;

  constructor(
    body: Buffer,
    headers: RequestHeaders,
    params: Readonly<Record<string, string>>,
    maxDocuments: number,
  ) {
    this.body = body;
    this.headers = headers;
    this.#params = params;
    this.maxDocuments = maxDocuments;
  }

  /** A parameter of the path, decoded. */
  param(name: string): string {
    try {
      return decodeURIComponent(this.#params[name] ?? '');
    } catch (error) {
      throw new GatewayError('invalid_request', 'The path is not valid.', { cause: error });
    }
  }

  /** The body, split at the first of `names` that is a list of strings in it. */
  scan(names: readonly ListName[]): ScannedBody | undefined {
    const scanned = this.scanAny(names);
    return scanned?.list.hasObjects === true ? undefined : scanned;
  }

  /** The same, but the list may also hold objects that each have a `text`, and no image. */
  scanAny(names: readonly ListName[]): ScannedBody | undefined {
    const split = this.split(names);
    return split !== undefined && areTextsAlone(split.list) ? split : undefined;
  }

  /** The same, whatever objects have; searched for once. */
  split(names: readonly ListName[]): ScannedBody | undefined {
    if (!this.#isScanned) {
      const walk = new Walk(this.body, names, this.maxDocuments);
      walk.go();
      if ((walk.list?.count ?? 0) > MANY_DOCUMENTS) {
        throw new NotDoneYet((pause) => this.#splitInSteps(walk, pause).then(pause));
      }
      this.#scanned = atOnce(splitBody(this.body, walk));
      this.#isScanned = true;
    }
    const found = this.#scanned?.list.name;
    const isOne = names.some(
      ({ name, text, fields }) =>
        name === found?.name && text === found.text && fields === found.fields,
    );
    return isOne ? this.#scanned : undefined;
  }

  /**
   * The body, split at its list by one of `names` if its elements are to be read one by one, whatever they are; `undefined` if the
   * body has to be parsed, as every small one has.
   */
  elements(names: readonly ListName[]): ScannedBody | undefined {
    if (this.body.length <= PARSED_AT_ONCE_BYTES || this.#value !== undefined) return undefined;
    if (!this.#areElementsSought) throw new NotDoneYet((pause) => this.#seekElements(names, pause));
    const found = this.#elements;
    return names.some(({ name }) => name === found?.name) ? found : undefined;
  }

  async #seekElements(names: readonly ListName[], pause: () => Promise<void>): Promise<void> {
    // They are read as they came.
    await inSteps(this.#undoScan(), pause);
    const located = names.flatMap(({ name }) => locatedList(name));
    const walk = new Walk(this.body, located, this.maxDocuments);
    try {
      while (!walk.go(STEP_BYTES)) await pause();
    } finally {
      walk.end();
    }
    const split = await inSteps(splitBody(this.body, walk, LARGE_BYTES), pause);
    this.#areElementsSought = true;
    if (split !== undefined && this.isModest(split) && hasShortElements(split)) {
      this.#elements = split;
    }
  }

  /**
   * The result of `read`. For a large request, the parts of the body that it needs are found ahead of time, in steps with a
   * pause after each. Parsing a body of more than a few kilobytes is a last resort and takes steps too, and so does what
   * `makeEach` makes, so `read` may be called more than once.
   */
  read<T>(
    names: () => readonly ListName[],
    read: () => T,
    pause: () => Promise<void>,
    keeps: Keeps = 'all',
  ): T | Promise<T> {
    this.#keeps = keeps;
    if (this.body.length > LARGE_BYTES) return this.#readInSteps(names(), read, pause);
    this.#made = undefined;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NotDoneYet)) throw error;
      return this.#workAndRead(error, read, pause);
    }
  }

  async #readInSteps<T>(
    names: readonly ListName[],
    read: () => T,
    pause: () => Promise<void>,
  ): Promise<T> {
    await this.#scanInSteps(names, pause);
    this.#made = undefined;
    return this.#workAndRead(undefined, read, pause);
  }

  /** Does what stopped `read`, then reads again, until nothing stops it. */
  async #workAndRead<T>(
    stopped: NotDoneYet | undefined,
    read: () => T,
    pause: () => Promise<void>,
  ): Promise<T> {
    let left = stopped;
    for (;;) {
      await left?.work(pause);
      try {
        return read();
      } catch (error) {
        if (!(error instanceof NotDoneYet)) throw error;
        left = error;
      }
    }
  }

  /** What `make` makes of each of the `items` under that name; for a large body in steps, so it must have no effects. */
  makeEach<T>(
    name: string,
    items: readonly unknown[],
    make: (item: unknown, index: number) => T,
    unitsOf: (made: T) => number,
  ): readonly T[] {
    if (this.body.length <= PARSED_AT_ONCE_BYTES) return items.map(make);
    const made = this.#made?.get(name);
    if (made !== undefined) return made as readonly T[];
    throw new NotDoneYet(async (pause) => {
      const parts = await inSteps(makeInSteps(items, make, unitsOf), pause);
      (this.#made ??= new Map()).set(name, parts);
    });
  }

  async #scanInSteps(names: readonly ListName[], pause: () => Promise<void>): Promise<void> {
    const walk = new Walk(this.body, names, this.maxDocuments);
    try {
      while (!walk.go(STEP_BYTES)) await pause();
    } finally {
      walk.end();
    }
    await this.#splitInSteps(walk, pause);
  }

  async #splitInSteps(walk: Walk, pause: () => Promise<void>): Promise<void> {
    this.#scanned = await inSteps(splitBody(this.body, walk, LARGE_BYTES), pause);
    this.#isScanned = true;
  }

  async #parseInSteps(pause: () => Promise<void>): Promise<void> {
    await inSteps(this.#undoScan(), pause);
    // What is refused need not become values first.
    if (!(await this.#isSurelyRead(pause))) asObject(await this.#parsePieces('nothing', pause));
    this.#value = asObject(await this.#parsePieces(this.#keeps, pause));
    this.#isPieced = true;
  }

  /** Whether the body is JSON for all that a walk can tell, without too much of anything. */
  async #isSurelyRead(pause: () => Promise<void>): Promise<boolean> {
    const walk = new Walk(this.body);
    try {
      while (!walk.go(STEP_BYTES)) await pause();
    } finally {
      walk.end();
    }
    return walk.isValid && walk.values < LIMITS.members;
  }

  async #parsePieces(keeps: Keeps, pause: () => Promise<void>): Promise<unknown> {
    const parser = new PiecewiseParser(this.body, LIMITS, undefined, undefined, keeps);
    for (;;) {
      const result = parser.step();
      if (result?.kind === 'value') return result.value;
      if (result?.kind === 'excess') throw excessError(result.excess);
      if (result !== undefined) {
        throw new GatewayError(
          'invalid_json',
          `The body is not valid JSON (at byte ${result.byte}).`,
        );
      }
      await pause();
    }
  }

  /** The whole body, parsed once. */
  value(): Members {
    if (this.#value === undefined && this.body.length > PARSED_AT_ONCE_BYTES) {
      throw new NotDoneYet((pause) => this.#parseInSteps(pause));
    }
    if (this.#value === undefined) {
      atOnce(this.#undoScan());
      this.#value = parseObject(this.body);
    }
    return this.#value;
  }

  /** Whoever parses the body shall find it as it came. */
  *#undoScan(): Steps<undefined> {
    const replaced = this.#scanned?.replaced;
    if (replaced === undefined) return;
    this.#scanned = undefined;
    yield* replaced.undo(this.body);
  }

  /** Whether `members`, those of this body, are the usual few; checked once. */
  isPlain(members: Members): boolean {
    // What was parsed in pieces may have thousands of members, and has the time for the schema.
    this.#isPlain ??= !this.#isPieced && arePlain(members);
    return this.#isPlain;
  }

  /** The members of the body; without the list if that need not be parsed. */
  members(names: readonly ListName[]): Members {
    return (this.split(names) ?? this.elements(names))?.members ?? this.value();
  }

  /**
   * The documents of the list in `scanned`, ranked by `fields` in the caller's bytes; `undefined` if the body has to be parsed.
   * @param areAllNeeded whether that is so where a document lacks one of them.
   */
  byFields(
    scanned: ScannedBody,
    fields: readonly string[],
    areAllNeeded = false,
  ): Documents | undefined {
    if (!areLocatable(fields)) return undefined;
    return this.#documentsAt(scanned, locatedList(scanned.name), fields, ({ list, replaced }) =>
      fieldDocuments({ body: this.body, list, replaced, fields, areAllNeeded }),
    );
  }

  /** The documents of the list in `scanned`, of which some are images or have one; `undefined` if the body has to be parsed. */
  withImages(scanned: ScannedBody): Documents | undefined {
    const { blanks } = scanned.list;
    const names = locatedList(scanned.name);
    return this.#documentsAt(scanned, names, TEXT_AND_IMAGE, ({ list, replaced }) =>
      imageDocuments({ body: this.body, list, replaced, blanks }),
    );
  }

  /** What `documentsOf` makes of the list in `scanned`, where the places of the fields of `name` are known. */
  located(
    scanned: ScannedBody,
    name: ListName,
    documentsOf: (located: Located) => Steps<Documents | undefined>,
  ): Documents | undefined {
    return this.#documentsAt(scanned, [name], name.fields, documentsOf);
  }

  #documentsAt(
    scanned: ScannedBody,
    names: readonly ListName[],
    fields: readonly string[],
    documentsOf: (located: Located) => Steps<Documents | undefined>,
  ): Documents | undefined {
    return this.make(scanned, () => this.#locate(scanned, names, fields, documentsOf));
  }

  /** Whether no limit can be exceeded by a body whose list was found. */
  isModest({ values, list: { rows } }: ScannedBody): boolean {
    if (values < LIMITS.members) return true;
    for (let at = 0; at < rows.length; at += ROW) {
      if ((rows[at + 1] ?? 0) - (rows[at] ?? 0) > LIMITS.members * LEAST_MEMBER_BYTES) return false;
    }
    return values <= LIMITS.values;
  }

  /** What is made of the list in `scanned`; for a large request, or where it takes long, in steps, and once. */
  make<T>(scanned: ScannedBody, work: () => Steps<T>): T {
    return this.#make(OF_LIST, scanned, work);
  }

  /** The same for what is made of its `elements`. */
  makeOfElements<T>(elements: ScannedBody, work: () => Steps<T>): T {
    return this.#make(OF_ELEMENTS, elements, work);
  }

  #make<T>(name: string, { list }: ScannedBody, work: () => Steps<T>): T {
    const isMany = list.count > MANY_DOCUMENTS;
    if (this.body.length <= PARSED_AT_ONCE_BYTES && !isMany) return atOnce(work());
    const made = this.#made?.get(name) as readonly [T] | undefined;
    if (made !== undefined) return made[0];
    const steps = work();
    const step = isMany || this.body.length > LARGE_BYTES ? undefined : steps.next();
    if (step?.done === true) return step.value;
    throw new NotDoneYet(async (pause) => {
      await pause();
      const result = await inSteps(steps, pause);
      (this.#made ??= new Map()).set(name, [result]);
    });
  }

  *#locate(
    { name, replaced: before, ...scanned }: ScannedBody,
    names: readonly ListName[],
    fields: readonly string[],
    make: (located: Located) => Steps<Documents | undefined>,
  ): Steps<Documents | undefined> {
    const { body } = this;
    // Halves of characters in texts, which may be others than are ranked.
    if (before !== undefined) yield* before.undo(body);
    this.#scanned = { name, ...scanned };
    const walk = new Walk(body, names, this.maxDocuments, 0, fields);
    while (!walk.go(body.length > LARGE_BYTES ? STEP_BYTES : LARGE_BYTES)) yield;
    const { list } = walk;
    if (list === undefined) return undefined;
    const replaced = yield* LoneHalves.replace(body, list.halves);
    if (replaced !== undefined) this.#scanned = { name, ...scanned, replaced };
    return yield* make({ list, replaced });
  }
}

/** Whether no element can have a name that is too long; those that were not located count as one. */
function hasShortElements({ list: { rows, end } }: ScannedBody): boolean {
  let last = end;
  for (let at = 0; at < rows.length; at += ROW) {
    last = rows[at + 1] ?? 0;
    if (last - (rows[at] ?? 0) > LIMITS.keyBytes) return false;
  }
  return end - last <= LIMITS.members * LEAST_MEMBER_BYTES;
}

function* makeInSteps<T>(
  items: readonly unknown[],
  make: (item: unknown, index: number) => T,
  unitsOf: (made: T) => number,
): Steps<T[]> {
  const pace = new Pace(MADE_UNITS);
  const all: T[] = [];
  for (const [index, item] of items.entries()) {
    const made = make(item, index);
    all.push(made);
    if (pace.fills(unitsOf(made))) yield;
  }
  return all;
}

function parseObject(body: Buffer): Members {
  if (body.length === 0) {
    throw new GatewayError('invalid_json', 'The body is empty. Send a JSON object.');
  }
  const excess = excessOf(body, LIMITS);
  if (excess !== undefined) throw excessError(excess);
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? withoutExcerpt(error.message) : '';
    throw new GatewayError('invalid_json', `The body is not valid JSON${reason}.`, {
      cause: error,
    });
  }
  return asObject(value);
}

function asObject(value: unknown): Members {
  if (!isRecord(value)) {
    throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  }
  return value;
}

const EXCESSES: Readonly<Record<Exclude<keyof ParseLimits, 'depth'>, string>> = {
  values: `The body has more than ${LIMITS.values} JSON values`,
  members: `The body has an object with more than ${LIMITS.members} members`,
  keyBytes: `The body has a member whose name is longer than ${LIMITS.keyBytes} bytes`,
};

function excessError(excess: keyof ParseLimits): GatewayError {
  return excess === 'depth'
    ? new GatewayError('invalid_json', `The body is nested more than ${LIMITS.depth} deep.`)
    : new GatewayError(
        'payload_too_large',
        `${EXCESSES[excess]}, the limit regardless of its size.`,
      );
}

/** The place where the parser stopped, without the piece of the body that newer engines quote. */
function withoutExcerpt(message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? '' : ` (at position ${position})`;
}
