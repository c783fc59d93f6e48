import type { Shown } from './documents.js';
import { Compiled, type Constant, type Exports } from './instance.js';
import { ROW } from './scanner.js';
import { WEAVER } from './weaver-module.js';

/**
 * Writes the rows of a reply with a document each in WebAssembly (`src/bytes/wasm/weaver.ts`): Node's own copy takes longer to be
 * called for a document than to copy it.
 */

interface WeaverExports extends Exports {
  readonly MEMBER: Constant;
  readonly MEMBER_SIZE: Constant;
  readonly PLACES: Constant;
  readonly MAX_PLACES: Constant;
  readonly ROWS: Constant;
  readonly ROWS_SIZE: Constant;
  readonly BODY: Constant;
  readonly BODY_SIZE: Constant;
  readonly WRITTEN: Constant;
  readonly WRITTEN_SIZE: Constant;
  prepare(): void;
  added(): number;
  echo(documents: number, bytes: number, member: number, bare: number): number;
}

/** Documents in a body: rows of a list, and at which of a row's numbers to look. */
interface Placed {
  readonly body: Buffer;
  readonly rows: Uint32Array;
  readonly place: number;
}

class Weaver {
  readonly #code = new Compiled<WeaverExports>(WEAVER).instance();
  readonly #memory = Buffer.from(this.#code.memory.buffer);
  readonly #words = new Uint32Array(this.#code.memory.buffer, this.#code.PLACES.value);

  constructor() {
    this.#code.prepare();
  }

  /**
   * Rows, which are objects of numbers, each with the document of its index as its last member `name`, whose strings become
   * objects with a text unless they are shown as they are; `undefined` if they are too large.
   */
  echo(
    { body, rows, place }: Placed,
    indexes: readonly number[],
    text: Buffer,
    { name, areTexts }: Shown,
  ): Buffer | undefined {
    const code = this.#code;
    const member = Buffer.from(`,"${name}":`);
    const count = indexes.length;
    const isTooMuch = count > code.MAX_PLACES.value || text.length > code.ROWS_SIZE.value;
    if (isTooMuch || body.length > code.BODY_SIZE.value) return undefined;
    if (member.length > code.MEMBER_SIZE.value) return undefined;
    let size = text.length + count * (code.added() + member.length);
    const start = code.BODY.value;
    for (let at = 0; at < count; at += 1) {
      const row = (indexes[at] ?? 0) * ROW + place;
      const [from, to] = [rows[row] ?? 0, rows[row + 1] ?? 0];
      this.#words[at * 2] = start + from;
      this.#words[at * 2 + 1] = start + to;
      size += to - from;
    }
    if (size > code.WRITTEN_SIZE.value) return undefined;
    this.#memory.set(member, code.MEMBER.value);
    this.#memory.set(body, start);
    this.#memory.set(text, code.ROWS.value);
    const bytes = code.echo(count, text.length, member.length, areTexts ? 1 : 0);
    const written = code.WRITTEN.value;
    return Buffer.from(this.#memory.subarray(written, written + bytes));
  }
}

let only: Weaver | undefined;

/** The one there is: it keeps nothing from one call to the next. */
export function weaver(): Weaver {
  only ??= new Weaver();
  return only;
}
