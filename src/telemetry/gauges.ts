import { Gauge, type Registry } from 'prom-client';

interface GaugeRow {
  readonly name: string;
  readonly help: string;
  /** How the values of several workers become one; the sum unless given. */
  readonly aggregator?: 'min' | 'max' | 'average';
}

/** Values that are read when they are asked for, each limit beside its value. */
const GAUGES = {
  inFlight: {
    name: 'rerank_requests_in_flight',
    help: 'Requests that are being served now',
  },
  maxInFlight: {
    name: 'rerank_requests_in_flight_limit',
    help: 'Requests that may be in flight at once; any more get a 503',
  },
  bytesInFlight: {
    name: 'rerank_bytes_in_flight',
    help: 'Bytes of request bodies, and of replies not yet taken, that are held now',
  },
  maxBytesInFlight: {
    name: 'rerank_bytes_in_flight_limit',
    help: 'Bytes that may be held at once; requests beyond that get a 503',
  },
  waiting: {
    name: 'rerank_requests_waiting',
    help: 'Requests that wait until a channel of their model may take one more',
  },
  maxWaiting: {
    name: 'rerank_requests_waiting_limit',
    help: 'Requests that may wait for one model',
  },
  pendingSettlements: {
    name: 'rerank_settlements_pending',
    help: 'Replies whose cost is not yet settled in the store',
  },
  storeUp: {
    name: 'rerank_store_up',
    help: 'Whether the store has answered within gateway.staleness_ms and has its data',
    aggregator: 'min',
  },
  clockOffsetSeconds: {
    name: 'rerank_clock_offset_seconds',
    help: "How far this node's clock is ahead of the store's, beyond what the network delay explains",
    aggregator: 'average',
  },
} as const satisfies Readonly<Record<string, GaugeRow>>;

export type GaugeSources = { readonly [K in keyof typeof GAUGES]: () => number };

/** Registers a gauge for each of the sources. */
export function addGauges(sources: GaugeSources, registers: Registry[]): void {
  for (const [source, row] of Object.entries(GAUGES)) {
    const read = sources[source as keyof typeof GAUGES];
    new Gauge({
      ...row,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}
