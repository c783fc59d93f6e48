/** JSON text around a long part that stays where it lies: the three are written one after the other and never joined. */
export class EnclosedJson {
  readonly before: string;
  readonly middle: Buffer;
  readonly after: string;
  /** In UTF-8. */
  readonly size: number;

  constructor(before: string, middle: Buffer, after: string) {
    this.before = before;
    this.middle = middle;
    this.after = after;
    this.size = Buffer.byteLength(before) + middle.length + Buffer.byteLength(after);
  }

  joined(): Buffer {
    return Buffer.concat([Buffer.from(this.before), this.middle, Buffer.from(this.after)]);
  }

  toString(): string {
    return this.joined().toString('utf8');
  }
}
