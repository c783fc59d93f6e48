const SEPARATOR = '\n';

/** A value for each combination of labels, made once. Most events have the same labels as the one before. */
export class ByLabels<T> {
  readonly #make: (...labels: readonly string[]) => T;
  readonly #made = new Map<string, T>();
  #latest: { readonly labels: readonly string[]; readonly made: T } | undefined;

  constructor(make: (...labels: readonly string[]) => T) {
    this.#make = make;
  }

  values(): Iterable<T> {
    return this.#made.values();
  }

  get size(): number {
    return this.#made.size;
  }

  has(...labels: readonly string[]): boolean {
    return this.#made.has(labels.join(SEPARATOR));
  }

  /** Forgets all others, and calls `gone` with the labels of each. */
  keepOnly(
    stays: (labels: readonly string[]) => boolean,
    gone: (labels: readonly string[]) => void,
  ): void {
    for (const key of this.#made.keys()) {
      const labels = key.split(SEPARATOR);
      if (stays(labels)) continue;
      this.#made.delete(key);
      this.#latest = undefined;
      gone(labels);
    }
  }

  of(...labels: readonly string[]): T {
    const latest = this.#latest;
    if (latest !== undefined && labels.every((label, at) => label === latest.labels[at])) {
      return latest.made;
    }
    const key = labels.join(SEPARATOR);
    const made = this.#made.get(key) ?? this.#make(...labels);
    this.#made.set(key, made);
    this.#latest = { labels, made };
    return made;
  }
}
