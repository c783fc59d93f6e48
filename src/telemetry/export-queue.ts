import type { Observe } from '../gateway/events.js';

/** The part of an OpenTelemetry exporter that is used here. */
export interface Exporter<T> {
  export(records: T[], done: (result: { code: number; error?: Error | undefined }) => void): void;
  shutdown(): Promise<void>;
}

export interface ExportQueueDeps<T> {
  /** In a fault and in the metric. */
  readonly signal: 'traces' | 'logs';
  readonly exporter: Exporter<T>;
  readonly observe: Observe;
  /** Called with how many records were lost. */
  readonly onDropped: (count: number) => void;
}

/** Records that may wait while the receiver is away: some ten megabytes. Any more are dropped, and counted. */
const MAX_WAITING = 8_192;
const BATCH = 256;
const EXPORT_AFTER_MS = 1_000;

/** Exports records in batches, one at a time, and holds a bounded number of them. Nothing waits for it. */
export class ExportQueue<T> {
  readonly #deps: ExportQueueDeps<T>;
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #exporting: Promise<void> | undefined;
  #isFailing = false;

  constructor(deps: ExportQueueDeps<T>) {
    this.#deps = deps;
  }

  readonly add = (record: T): void => {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#deps.onDropped(1);
      return;
    }
    this.#waiting.push(record);
    if (this.#waiting.length >= BATCH) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), EXPORT_AFTER_MS).unref();
  };

  /** Exports what is left; what the receiver does not take is dropped. */
  async close(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#begin();
      await this.#exporting;
    }
    clearTimeout(this.#timer);
    await this.#exporting;
    await this.#deps.exporter.shutdown();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#exporting ??= this.#exportFull().finally(() => {
      this.#exporting = undefined;
      if (this.#waiting.length > 0) {
        this.#timer ??= setTimeout(() => this.#begin(), EXPORT_AFTER_MS).unref();
      }
    });
  }

  async #exportFull(): Promise<void> {
    do await this.#exportBatch();
    while (this.#waiting.length >= BATCH);
  }

  /** Resolves when the receiver has the batch, or it is dropped: the exporter itself has tried again by then. */
  async #exportBatch(): Promise<void> {
    const { exporter, signal, observe, onDropped } = this.#deps;
    const batch = this.#waiting.splice(0, BATCH);
    const { code, error } = await new Promise<{ code: number; error?: Error | undefined }>(
      (resolve) => exporter.export(batch, resolve),
    );
    if (code === 0) {
      this.#isFailing = false;
      return;
    }
    onDropped(batch.length);
    // One fault for all failures in a row.
    if (!this.#isFailing) observe({ kind: 'fault', what: `${signal} cannot be exported`, error });
    this.#isFailing = true;
  }
}
