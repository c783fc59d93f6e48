const MAX_SHARED = 200;

/** Answers many readers of the same numbers with one reading, for a moment: open pages ask every few seconds. */
export class SharedReads<T> {
  readonly #keepMs: number;
  readonly #sources = new WeakMap<object, Map<string, { atMs: number; value: Promise<T> }>>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** What `read` resolves to, or did for an earlier reader of the same `key` of `source`. */
  of(source: object, key: string, nowMs: number, read: () => Promise<T>): Promise<T> {
    let recent = this.#sources.get(source);
    if (recent === undefined) {
      recent = new Map<string, { atMs: number; value: Promise<T> }>();
      this.#sources.set(source, recent);
    }
    const before = recent.get(key);
    if (before !== undefined && Math.abs(nowMs - before.atMs) < this.#keepMs) return before.value;
    if (recent.size >= MAX_SHARED) recent.clear();
    const value = read();
    recent.set(key, { atMs: nowMs, value });
    // A failed question is asked again by the next reader.
    value.catch(() => recent.delete(key));
    return value;
  }
}
