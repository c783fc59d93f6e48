import { randomUUID } from 'node:crypto';
import { messageOf } from '../core/errors.js';
import type { OutgoingEvent } from '../core/delivery.js';
import type { Store } from '../store/store.js';
import { sendNow, type Sender } from './sender.js';

export interface StoreAlertsDeps {
  readonly store: Pick<Store, 'ping'>;
  readonly sender: Pick<Sender, 'deliver' | 'targets'>;
  readonly node: string;
  /** The same on all gateways that use the store. */
  readonly mark: string;
  readonly now: () => number;
}

const LOOK_MS = 5_000;
/** So many looks in a row make a condition, and end one. */
const LOOKS = 3;
const SLOW_MS = 500;
/** Messages of several gateways about the same outage have one id if they begin within the same ten minutes. */
const SAME_MS = 600_000;

/**
 * Alerts people to a store that is down or slow. While it is down, nothing can be written to it: each gateway sends from
 * memory, and repeats that at every look until each target has taken it. Nothing coordinates them, so that receivers may get
 * it from each; its id is the same on all.
 */
export class StoreAlerts {
  readonly #deps: StoreAlertsDeps;
  #timer: NodeJS.Timeout | undefined;
  #failed = 0;
  #slow = 0;
  #down: { readonly event: OutgoingEvent; readonly told: Set<string> } | undefined;
  #isLooking = false;

  constructor(deps: StoreAlertsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One look at the store, and what follows from it. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const startMs = performance.now();
    try {
      await this.#deps.store.ping();
      this.#answered(performance.now() - startMs);
    } catch (error) {
      await this.#missed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  #answered(ms: number): void {
    const { sender, node } = this.#deps;
    this.#failed = 0;
    if (this.#down !== undefined) {
      const { told, event } = this.#down;
      this.#down = undefined;
      const summary = `The store answers ${node} again`;
      const data = { down_since: new Date(event.atMs).toISOString() };
      const id = event.id.replace('down', 'up');
      if (told.size > 0) sender.deliver({ ...this.#event('store.up', summary, data), id });
    }
    this.#slow = ms > SLOW_MS ? Math.max(0, this.#slow) + 1 : Math.min(0, this.#slow) - 1;
    const data = { ms: Math.round(ms) };
    const key = 'store';
    if (this.#slow === LOOKS) {
      const summary = `The store takes ${data.ms} ms to answer ${node}`;
      sender.deliver(this.#event('store.slow', summary, data), { key, value: 'slow' });
    }
    if (this.#slow === -LOOKS) {
      const summary = 'The store answers in time again';
      sender.deliver(this.#event('store.in_time', summary, data), { key, value: '' });
    }
  }

  async #missed(error: unknown): Promise<void> {
    const { sender, node } = this.#deps;
    this.#failed += 1;
    if (this.#failed < LOOKS) return;
    const why = messageOf(error);
    if (this.#down === undefined) {
      const event = this.#event('store.down', `The store does not answer ${node}: ${why}`, { why });
      const id = `msg_store_down_${this.#deps.mark}_${Math.floor(event.atMs / SAME_MS)}`;
      this.#down = { event: { ...event, id }, told: new Set() };
    }
    const { event, told } = this.#down;
    const untold = sender.targets.filter(({ name, takes }) => takes(event.type) && !told.has(name));
    for (const [name, failure] of await sendNow(untold, event)) {
      if (failure === '') told.add(name);
    }
  }

  #event(type: string, summary: string, data: OutgoingEvent['data']): OutgoingEvent {
    return { id: `msg_${randomUUID()}`, type, atMs: this.#deps.now(), summary, data };
  }
}
