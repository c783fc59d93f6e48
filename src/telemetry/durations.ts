import type { Histogram, Registry } from 'prom-client';
import { ByLabels } from './by-labels.js';

/** Where durations of one combination of labels are counted. */
interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  /** How many lie between each bound and the one before; after the last, those above all. */
  readonly within: number[];
  sum: number;
}

interface DurationsOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds in seconds, ascending. */
  readonly bounds: readonly number[];
  readonly registers: readonly Registry[];
}

type Read = Awaited<ReturnType<Histogram['get']>>;

/**
 * A histogram of durations that prom-client renders like its own. Its own looks up the labels for each value, which takes
 * ten times as long as counting.
 */
export class Durations {
  readonly name: string;
  readonly #options: DurationsOptions;
  readonly #counted: ByLabels<Counted>;

  constructor(options: DurationsOptions) {
    const { name, labelNames, bounds, registers } = options;
    this.name = name;
    this.#options = options;
    this.#counted = new ByLabels((...values) => ({
      labels: Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? ''])),
      within: [0, ...bounds.map(() => 0)],
      sum: 0,
    }));
    // A registry asks a metric for nothing but its name and its values.
    for (const registry of registers) registry.registerMetric(this as unknown as Histogram);
  }

  /** Counts a duration in seconds under these values of the labels, in the order of their names. */
  observe(seconds: number, ...values: readonly string[]): void {
    const { bounds } = this.#options;
    const counted = this.#counted.of(...values);
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? Infinity)) at += 1;
    counted.within[at] = (counted.within[at] ?? 0) + 1;
    counted.sum += seconds;
  }

  get(): Promise<Read> {
    const { name, help } = this.#options;
    const values = [...this.#counted.values()].flatMap((counted) => this.#valuesOf(counted));
    // prom-client's types ask for parts that its own histograms do not have either.
    return Promise.resolve({
      ...{ name, help, type: 'histogram', aggregator: 'sum', values },
    } as unknown as Read);
  }

  #valuesOf({ labels, within, sum }: Counted) {
    const { name, bounds } = this.#options;
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((le, at) => {
      count += within[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
