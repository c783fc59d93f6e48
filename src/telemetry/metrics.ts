import cluster from 'node:cluster';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { ChannelsEvent, GatewayEvent, ReadEvents } from '../gateway/events.js';
import { ByLabels } from './by-labels.js';
import { Durations } from './durations.js';
import { shareMetrics } from './shared-metrics.js';

export interface Metrics {
  readonly read: ReadEvents;
  /** The state of this process in Prometheus' text format. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Models that no channel serves are counted under one name: callers choose names, and labels must stay bounded. */
const UNKNOWN = 'unknown';
const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const;
const CHANNEL_STATES = ['enabled', 'disabled', 'auto_disabled'] as const;
const NONE = 'none';

/** Metrics of one process. Every label value comes from what operators declare, or from a fixed list. */
export function createMetrics(sources: {
  readonly inFlight: () => number;
  /** Requests that wait for a channel. */
  readonly waiting: () => number;
  readonly pendingSettlements: () => number;
  readonly clockOffsetMs: () => number;
  /** Brings in what has happened but has not been observed yet; called before anything is read. */
  readonly catchUp: () => void;
}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
  const channelLive = new Gauge({
    name: 'rerank_channel_live',
    help: 'Whether a channel takes traffic: 1, or 0 where it or its tag is switched off, or it cannot be used',
    labelNames: ['channel', 'provider', 'tag'],
    aggregator: 'min',
    registers,
    collect: () => showChannels(),
  });
  const channelState = new Gauge({
    name: 'rerank_channel_state',
    help: 'The status of a channel itself: 1 for the one that it has, 0 for the others; auto_disabled: by the gateway itself',
    labelNames: ['channel', 'state'],
    aggregator: 'max',
    registers,
    collect: () => showChannels(),
  });
  const circuit = new Gauge({
    name: 'rerank_channel_circuit',
    help: 'The state of the circuit breaker of a channel: 1 for the state it is in, 0 for the others',
    labelNames: ['channel', 'state'],
    aggregator: 'max',
    registers,
    collect: () => showChannels(),
  });
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
    help: 'Times that this node skipped a channel because a limit shared by all nodes was used up',
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
  new Gauge({
    name: 'rerank_requests_in_flight',
    help: 'Requests that are being served now',
    registers,
    collect() {
      this.set(sources.inFlight());
    },
  });
  new Gauge({
    name: 'rerank_requests_waiting',
    help: 'Requests that wait until a channel of their model may take one more',
    registers,
    collect() {
      this.set(sources.waiting());
    },
  });
  new Gauge({
    name: 'rerank_settlements_pending',
    help: 'Replies whose cost is not yet settled in the store',
    registers,
    collect() {
      this.set(sources.pendingSettlements());
    },
  });
  new Gauge({
    name: 'rerank_clock_offset_seconds',
    help: "How far this node's clock is ahead of the store's, beyond what the network delay explains",
    registers,
    collect() {
      this.set(sources.clockOffsetMs() / 1_000);
    },
  });

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

  /** Channels whose circuit has ever opened on this node. */
  const circuits = new Set<string>();

  /** The channels in force, until they are shown: with thousands of them that costs more than a change of one. */
  let toShow: ChannelsEvent | undefined;
  const showChannels = (): void => {
    const event = toShow;
    if (event === undefined) return;
    toShow = undefined;
    channelLive.reset();
    channelState.reset();
    const names = new Set(event.channels.map(({ name }) => name));
    for (const name of circuits) {
      if (names.has(name)) continue;
      circuits.delete(name);
      for (const state of CIRCUIT_STATES) circuit.remove(name, state);
    }
    for (const { name, provider, tag, live, status } of event.channels) {
      channelLive.labels(name, provider, tag ?? NONE).set(live ? 1 : 0);
      CHANNEL_STATES.forEach((state, at) => {
        channelState.labels(name, state).set(status === at + 1 ? 1 : 0);
      });
    }
    for (const { name, provider, tag } of event.unusable) {
      channelLive.labels(name, provider, tag ?? NONE).set(0);
    }
  };

  const observe = (event: GatewayEvent): void => {
    switch (event.kind) {
      case 'request': {
        const { provider = NONE, tag = NONE, outcome } = event;
        const model = event.knownModel ? (event.model ?? NONE) : UNKNOWN;
        const child = children.of(model, provider, tag, outcome);
        duration.observe(event.durationMs / 1000, model, outcome);
        child.seen.requests += 1;
        if (event.degraded) degraded.labels(event.model ?? NONE).inc();
        if (event.outcome === 'ok') {
          child.seen.documents += event.documents;
          child.seen.quota += event.quota;
        }
        return;
      }
      case 'attempt': {
        const { provider, tag = NONE, outcome } = event;
        upstream.observe(event.durationMs / 1000, provider, tag, outcome);
        return;
      }
      case 'access':
        return;
      case 'fault':
        faults.inc();
        return;
      case 'channels':
        toShow = event;
        return;
      case 'breaker':
        circuits.add(event.channel);
        for (const state of CIRCUIT_STATES) {
          circuit.labels(event.channel, state).set(state === event.state ? 1 : 0);
        }
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
