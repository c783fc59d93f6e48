import { Counter, Gauge, type Registry } from 'prom-client';
import type { AttemptEvent, BreakerEvent, ChannelsEvent } from '../gateway/events.js';
import { ByLabels } from './by-labels.js';

const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const;
const CHANNEL_STATES = ['enabled', 'disabled', 'auto_disabled'] as const;
const NONE = 'none';
/** Pairs of a channel and a model, with their outcomes, that have series of their own; any more are counted together. */
const MAX_SERIES = 2_000;
const OTHER = 'other';

type Shown = ChannelsEvent['channels'][number];

/** The metrics of each channel: its state, its circuit, and its attempts by model. */
export class ChannelMetrics {
  readonly #live: Gauge;
  readonly #state: Gauge;
  readonly #circuit: Gauge;
  readonly #attempts: Counter;
  readonly #seconds: Counter;
  readonly #tried: ByLabels<{ readonly attempts: Counter.Internal; readonly ms: Counter.Internal }>;
  /** Channels whose circuit has ever opened on this node. */
  readonly #circuits = new Map<string, BreakerEvent['state']>();
  #byId: ReadonlyMap<number, Shown> = new Map();
  /** The channels in force, until they are shown: with thousands of them that costs more than a change of one. */
  #toShow: ChannelsEvent | undefined;

  constructor(registers: Registry[]) {
    const collect = (): void => this.#show();
    this.#live = new Gauge({
      name: 'rerank_channel_live',
      help: 'Whether a channel takes traffic: 1, or 0 where it or its tag is switched off, or it cannot be used',
      labelNames: ['channel', 'provider', 'tag'],
      aggregator: 'min',
      ...{ registers, collect },
    });
    this.#state = new Gauge({
      name: 'rerank_channel_state',
      help: 'The status of a channel itself: 1 for the one that it has, 0 for the others; auto_disabled: by the gateway itself',
      labelNames: ['channel', 'state'],
      aggregator: 'max',
      ...{ registers, collect },
    });
    this.#circuit = new Gauge({
      name: 'rerank_channel_circuit',
      help: 'The state of the circuit breaker of a channel: 1 for the state it is in, 0 for the others',
      labelNames: ['channel', 'tag', 'state'],
      aggregator: 'max',
      ...{ registers, collect },
    });
    this.#attempts = new Counter({
      name: 'rerank_channel_attempts_total',
      help: 'Attempts on a channel for a model, by outcome',
      labelNames: ['channel', 'model', 'outcome'],
      registers,
    });
    this.#seconds = new Counter({
      name: 'rerank_channel_attempt_seconds_total',
      help: 'Time that these attempts took together',
      labelNames: ['channel', 'model', 'outcome'],
      registers,
    });
    this.#tried = new ByLabels((...labels) => ({
      attempts: this.#attempts.labels(...labels),
      ms: this.#seconds.labels(...labels),
    }));
  }

  channels(event: ChannelsEvent): void {
    this.#toShow = event;
    this.#byId = new Map(event.channels.map((channel) => [channel.id, channel]));
  }

  circuit({ channel, state }: BreakerEvent): void {
    this.#circuits.set(channel, state);
  }

  attempt({ channelId, model, outcome, durationMs }: AttemptEvent): void {
    const name = this.#byId.get(channelId)?.name ?? OTHER;
    const isKnown = this.#tried.size < MAX_SERIES || this.#tried.has(name, model, outcome);
    const counted = isKnown
      ? this.#tried.of(name, model, outcome)
      : this.#tried.of(OTHER, OTHER, outcome);
    counted.attempts.inc();
    counted.ms.inc(durationMs / 1_000);
  }

  #show(): void {
    const event = this.#toShow;
    const byName = new Map(Array.from(this.#byId.values(), (channel) => [channel.name, channel]));
    if (event !== undefined) {
      this.#toShow = undefined;
      this.#live.reset();
      this.#state.reset();
      this.#tried.keepOnly(
        ([name = '']) => name === OTHER || byName.has(name),
        (labels) => {
          this.#attempts.remove(...labels);
          this.#seconds.remove(...labels);
        },
      );
      for (const { name, provider, tag, live, status } of event.channels) {
        this.#live.labels(name, provider, tag ?? NONE).set(live ? 1 : 0);
        CHANNEL_STATES.forEach((state, at) => {
          this.#state.labels(name, state).set(status === at + 1 ? 1 : 0);
        });
      }
      for (const { name, provider, tag } of event.unusable) {
        this.#live.labels(name, provider, tag ?? NONE).set(0);
      }
    }
    // Few circuits ever open, and a channel may have another tag now.
    this.#circuit.reset();
    for (const [name, state] of this.#circuits) {
      const channel = byName.get(name);
      if (channel === undefined) this.#circuits.delete(name);
      else
        for (const each of CIRCUIT_STATES) {
          this.#circuit.labels(name, channel.tag ?? NONE, each).set(each === state ? 1 : 0);
        }
    }
  }
}
