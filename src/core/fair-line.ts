/**
 * Those who wait, in the order in which they are served: everybody in turn once before anybody is served twice, and the
 * things of one in the order in which they came.
 */
export class FairLine<T> {
  /** By whom; whose turn is next comes first. */
  readonly #lines = new Map<number, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  lengthOf(who: number): number {
    return this.#lines.get(who)?.length ?? 0;
  }

  /** How many are served before what comes last of somebody now. */
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

  /** Puts back what had its turn, and could not be served. */
  rejoin(who: number, item: T): void {
    const line = this.#lines.get(who) ?? [];
    const others = [...this.#lines].filter(([other]) => other !== who);
    this.#lines.clear();
    this.#lines.set(who, [item, ...line]);
    for (const [other, theirs] of others) this.#lines.set(other, theirs);
    this.#size += 1;
  }

  /** Takes out what is served next. */
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

  /** Takes out what came last of whoever has the most here, where that is more than `who` has and one more. */
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
