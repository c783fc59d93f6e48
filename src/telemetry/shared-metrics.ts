import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** Asked by a worker, answered by the primary: the metrics of all workers together. */
interface MetricsQuestion {
  readonly kind: 'rerank:metrics';
  readonly id: number;
}

interface MetricsAnswer extends MetricsQuestion {
  readonly text?: string;
  readonly error?: string;
}

/** In the primary: answers workers that ask for the metrics of all. */
export function answerWorkers(): void {
  const aggregator = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, message: unknown) => {
    if (!isAbout(message)) return;
    const { kind, id } = message;
    aggregator.clusterMetrics().then(
      (text) => worker.send({ kind, id, text } satisfies MetricsAnswer),
      (error: unknown) => worker.send({ kind, id, error: String(error) } satisfies MetricsAnswer),
    );
  });
}

/** In a worker: returns a function that reads the metrics of all workers; `registry` is this one's. */
export function shareMetrics(registry: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries([registry]);
  // Created for what its constructor does: it makes this worker answer when the primary collects.
  new AggregatorRegistry();
  const waiting = new Map<number, (answer: MetricsAnswer) => void>();
  let asked = 0;
  process.on('message', (message: unknown) => {
    if (!isAbout(message)) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  return () =>
    new Promise((resolve, reject) => {
      asked += 1;
      waiting.set(asked, ({ text, error }) => {
        if (text === undefined) reject(new Error(error));
        else resolve(text);
      });
      process.send?.({ kind: 'rerank:metrics', id: asked } satisfies MetricsQuestion);
    });
}

function isAbout(message: unknown): message is MetricsAnswer {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    message.kind === 'rerank:metrics'
  );
}
