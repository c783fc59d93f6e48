/**
 * A waiting line that is fair by owner: everyone is served once before anyone is served twice, and each owner's items are
 * served in the order in which they came.
 */
export class FairLine<T> {
  /** The items by owner; the owner whose turn is next comes first. */
  readonly #lines = new Map<number, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  lengthOf(who: number): number {
    return this.#lines.get(who)?.length ?? 0;
  }

  /** How many items are served before an item that this owner adds now. */
  ahead(who: number): number {
    const turns = this.lengthOf(who);
    let ahead = 0;
    for (const [other, line] of this.#lines) {
      ahead += other === who ? turns : Math.min(line.length, turns + 1);
    }
    return ahead;
  }

  join(who: number, item: T): void {
    const line = this.#lines.get(who);
    if (line === undefined) this.#lines.set(who, [item]);
    else line.push(item);
    this.#size += 1;
  }

  /** Puts back an item that had its turn but could not be served. */
  rejoin(who: number, item: T): void {
    const line = this.#lines.get(who) ?? [];
    const others = [...this.#lines].filter(([other]) => other !== who);
    this.#lines.clear();
    this.#lines.set(who, [item, ...line]);
    for (const [other, theirs] of others) this.#lines.set(other, theirs);
    this.#size += 1;
  }

  /** Removes and returns the next item. */
  next(): T | undefined {
    for (const [who, line] of this.#lines) {
      const item = line.shift();
      this.#lines.delete(who);
      if (line.length > 0) this.#lines.set(who, line);
      if (item === undefined) continue;
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  leave(who: number, item: T): void {
    const line = this.#lines.get(who);
    const at = line?.indexOf(item) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(who);
    this.#size -= 1;
  }

  /** Removes and returns the last item of whoever has the most here, if that is more than `who` would have with one more. */
  makeRoomFor(who: number): T | undefined {
    const [most] = [...this.#lines].sort(([, one], [, other]) => other.length - one.length);
    if (most === undefined || most[1].length <= this.lengthOf(who) + 1) return undefined;
    const [other, line] = most;
    const item = line.pop();
    if (line.length === 0) this.#lines.delete(other);
    if (item !== undefined) this.#size -= 1;
    return item;
  }
}
