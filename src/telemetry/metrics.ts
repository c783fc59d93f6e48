import cluster from 'node:cluster';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { GatewayEvent, ReadEvents, RequestEvent } from '../gateway/events.js';
import { ByLabels } from './by-labels.js';
import { ChannelMetrics } from './channel-metrics.js';
import { Durations } from './durations.js';
import { addGauges, type GaugeSources } from './gauges.js';
import { shareMetrics } from './shared-metrics.js';
import { Spenders, type SpendersDeps } from './spenders.js';

export interface Metrics {
  readonly read: ReadEvents;
  /** Counts an answer of the store to the question that each node asks it several times a second. */
  storeAnswered(afterMs: number): void;
  /** Counts spans or log lines that were not exported. */
  exportDropped(signal: string, count: number): void;
  /** The state of this process in Prometheus' text format. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Models that no channel serves are counted under one name: callers choose names, and labels must stay bounded. */
const UNKNOWN = 'unknown';
const NONE = 'none';
/** Gauges of prom-client that end like counters; each has a twin by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((of) => `nodejs_active_${of}_total`);

export interface MetricsSources extends GaugeSources, Omit<SpendersDeps, 'registers'> {
  readonly release: string;
  /** Brings in what has happened but has not been observed yet; called before anything is read. */
  readonly catchUp: () => void;
}

/** Metrics of one process. Every label value comes from what operators declare, or from a fixed list. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  const requests = new Counter({
    name: 'rerank_requests_total',
    help: 'Rerank requests that were answered, by outcome: ok or the error code',
    labelNames: ['model', 'provider', 'tag', 'outcome'],
    registers,
    // The first of our metrics, and so read before the others.
    collect: sources.catchUp,
  });
  const duration = new Durations({
    name: 'rerank_request_duration_seconds',
    help: 'From the first byte of a request to its answer',
    labelNames: ['model', 'outcome'],
    bounds: SECONDS,
    registers,
  });
  const upstream = new Durations({
    name: 'rerank_upstream_duration_seconds',
    help: 'One attempt on a channel',
    labelNames: ['provider', 'tag', 'outcome'],
    bounds: SECONDS,
    registers,
  });
  const documents = new Counter({
    name: 'rerank_documents_total',
    help: 'Documents that were ranked',
    labelNames: ['model'],
    registers,
  });
  const quota = new Counter({
    name: 'rerank_quota_spent_total',
    help: 'Quota charged, in units',
    labelNames: ['model'],
    registers,
  });
  const perChannel = new ChannelMetrics(registers);
  const outages = new Counter({
    name: 'rerank_channel_outages_total',
    help: 'Channels that the gateway itself disabled or returned to service, by reason',
    labelNames: ['state', 'reason'],
    registers,
  });
  const keysRefused = new Counter({
    name: 'rerank_channel_keys_refused_total',
    help: 'Attempts that were refused for one of several keys of a channel',
    labelNames: ['channel'],
    registers,
  });
  const limitedChannels = new Counter({
    name: 'rerank_channel_limited_total',
    help: 'Times that this node found a channel at a limit that all nodes share',
    labelNames: ['channel', 'limit'],
    registers,
  });
  const degraded = new Counter({
    name: 'rerank_degraded_total',
    help: 'Requests that a last resort answered in place of their model',
    labelNames: ['model'],
    registers,
  });
  const faults = new Counter({
    name: 'rerank_faults_total',
    help: 'Faults that no caller saw; the log has them',
    registers,
  });
  const storeDuration = new Durations({
    name: 'rerank_store_duration_seconds',
    help: 'How long the store takes to answer whether channels have changed, which every node asks regularly',
    labelNames: [],
    bounds: SECONDS,
    registers,
  });
  const exportDropped = new Counter({
    name: 'rerank_export_dropped_total',
    help: 'Spans and log lines that were not exported: too many were waiting, or the receiver did not take them',
    labelNames: ['signal'],
    registers,
  });
  for (const signal of ['traces', 'logs']) exportDropped.inc({ signal }, 0);
  new Gauge({
    name: 'rerank_build_info',
    help: 'Always 1: the release that runs, and its Node',
    labelNames: ['version', 'node_version'],
    aggregator: 'max',
    registers,
  }).set({ version: sources.release, node_version: process.version }, 1);
  addGauges(sources, registers);
  const spenders = new Spenders({ ...sources, registers });

  // Any of several workers on one port may be asked: it answers for all of them.
  const collect = cluster.isWorker ? shareMetrics(registry) : () => registry.metrics();

  // Finding a child by its labels costs more than counting: the children of a combination are looked up once.
  const children = new ByLabels(
    (model = NONE, provider = NONE, tag = NONE, outcome = NONE): RequestChildren => ({
      requests: requests.labels(model, provider, tag, outcome),
      documents: documents.labels(model),
      quota: quota.labels(model),
      seen: { requests: 0, documents: 0, quota: 0 },
    }),
  );

  const requestSeen = (event: RequestEvent): void => {
    const { provider = NONE, tag = NONE, outcome } = event;
    const model = event.knownModel ? (event.model ?? NONE) : UNKNOWN;
    const child = children.of(model, provider, tag, outcome);
    duration.observe(event.durationMs / 1000, model, outcome);
    child.seen.requests += 1;
    spenders.read(event);
    if (event.degraded) degraded.labels(model).inc();
    if (event.outcome === 'ok') {
      child.seen.documents += event.documents;
      child.seen.quota += event.quota;
    }
  };

  const observe = (event: GatewayEvent): void => {
    switch (event.kind) {
      case 'request':
        requestSeen(event);
        return;
      case 'attempt': {
        const { provider, tag = NONE, outcome } = event;
        upstream.observe(event.durationMs / 1000, provider, tag, outcome);
        perChannel.attempt(event);
        return;
      }
      case 'access':
      case 'settled':
        return;
      case 'fault':
        faults.inc();
        return;
      case 'channels':
        perChannel.channels(event);
        return;
      case 'breaker':
        perChannel.circuit(event);
        return;
      case 'key_refused':
        keysRefused.labels(event.channel).inc();
        return;
      case 'limited':
        limitedChannels.labels(event.channel, event.limit).inc();
        return;
      case 'outage':
        outages.labels(event.state, event.reason).inc();
    }
  };

  return {
    exportDropped: (signal, dropped) => exportDropped.inc({ signal }, dropped),
    storeAnswered: (afterMs) => storeDuration.observe(afterMs / 1_000),
    render: async () => ({ contentType: registry.contentType, text: await collect() }),
    read(events) {
      for (const event of events) observe(event);
      for (const child of children.values()) count(child);
    },
  };
}

interface RequestChildren {
  readonly requests: Counter.Internal;
  readonly documents: Counter.Internal;
  readonly quota: Counter.Internal;
  /** Counts of the events that are being read, added once for all of them. */
  readonly seen: { requests: number; documents: number; quota: number };
}

function count({ requests, documents, quota, seen }: RequestChildren): void {
  if (seen.requests === 0) return;
  requests.inc(seen.requests);
  if (seen.documents > 0) {
    documents.inc(seen.documents);
    quota.inc(seen.quota);
  }
  seen.requests = 0;
  seen.documents = 0;
  seen.quota = 0;
}
