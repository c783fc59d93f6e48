/** What is made for each combination of labels, once. Most events have the same labels as the one before. */
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

  of(...labels: readonly string[]): T {
    const latest = this.#latest;
    if (latest !== undefined && labels.every((label, at) => label === latest.labels[at])) {
      return latest.made;
    }
    const key = labels.join('\n');
    const made = this.#made.get(key) ?? this.#make(...labels);
    this.#made.set(key, made);
    this.#latest = { labels, made };
    return made;
  }
}
