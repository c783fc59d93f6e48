import { deliveryWaitMs, type OutgoingEvent } from '../core/delivery.js';
import type { Observe } from '../gateway/events.js';
import type { AlertCondition, DeliveryRecord, Store } from '../store/store.js';

/** How a try ended. */
export type Sent =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number }
  /** The receiver wants no more of it. */
  | { readonly kind: 'refused'; readonly why: string };

/** A receiver elsewhere, and the form of its messages. */
export interface Target {
  readonly name: string;
  readonly takes: (type: string) => boolean;
  readonly bodyOf: (event: OutgoingEvent) => string;
  /** Resolves whatever happens. */
  readonly send: (body: string, messageId: string) => Promise<Sent>;
}

/** Tries each of the targets once, without the store. Resolves to why it failed, by target; '' if it did not. */
export async function sendNow(
  targets: readonly Target[],
  event: OutgoingEvent,
): Promise<ReadonlyMap<string, string>> {
  const results = targets.map(async ({ name, bodyOf, send }) => {
    const sent = await send(bodyOf(event), event.id);
    return [name, sent.kind === 'sent' ? '' : sent.why] as const;
  });
  return new Map(await Promise.all(results));
}

export interface SenderDeps {
  readonly store: Store;
  readonly observe: Observe;
  readonly now: () => number;
  readonly random: () => number;
  /** How long a try may take before another node repeats it. */
  readonly leaseMs?: number;
}

const POLL_MS = 5_000;
const LEASE_MS = 120_000;
/** Of the deliveries that are due, so many at a time. */
const BATCH = 10;
/** A target that failed gets nothing for so long, however long the message that failed has to wait. */
const MAX_PAUSE_MS = 30_000;
/** Events that wait for a store that is away; beyond that, the oldest are dropped. */
const MAX_HELD = 1_000;
/** More than this waiting in the store means that a receiver has been down for long. */
const MAX_WAITING = 10_000;
/** Deliveries that are kept for people to look at. */
const KEPT = 1_000;

/** Delivers events to targets, at least once, whichever nodes come and go. */
export class Sender {
  readonly #deps: SenderDeps;
  #targets: readonly Target[];
  readonly #held: { readonly event: OutgoingEvent; readonly condition?: AlertCondition }[] = [];
  readonly #pausedUntil = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #adding: Promise<void> | undefined;
  #sending: Promise<void> | undefined;
  #poll: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Whether something was added since the last look. */
  #isWoken = false;

  constructor(deps: SenderDeps, targets: readonly Target[]) {
    this.#deps = deps;
    this.#targets = targets;
  }

  get targets(): readonly Target[] {
    return this.#targets;
  }

  /** Switches to these. Deliveries that wait for a target that is gone are given up. */
  replaceTargets(targets: readonly Target[]): void {
    this.#targets = targets;
    this.#pausedUntil.clear();
  }

  start(): void {
    this.#poll = setInterval(() => this.#work(), POLL_MS);
    this.#poll.unref();
    this.#work();
  }

  /**
   * Delivers an event to the targets that take its type (`alerts.targets[].kinds`); nobody waits for it. It is written to the
   * store, and then sent by whichever node comes first: repeated with growing waits for about a day, across restarts, always
   * with the event's id as `webhook-id`, and then listed as dead. While the store is away it waits in memory. An event with an
   * id that was delivered before is not sent again, so that a caller who does not know how far it came may repeat it. With a
   * condition it is sent only if the condition's value changes, by one node of all.
   */
  deliver(event: OutgoingEvent, condition?: AlertCondition): void {
    if (this.#isStopped) return;
    const isTaken = this.#targets.some(({ takes }) => takes(event.type));
    if (!isTaken && condition?.value !== '') return;
    this.#held.push({ event, ...(condition === undefined ? {} : { condition }) });
    if (this.#held.length > MAX_HELD) this.#held.shift();
    this.#adding ??= this.#addHeld();
  }

  /** Sends what is due without waiting for the next look. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isStopped) this.#sending ??= this.#sendDue();
  }

  /** Waits for nothing but the calls in progress. */
  async close(): Promise<void> {
    clearInterval(this.#poll);
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#adding;
    this.#isStopped = true;
    await this.#sending;
  }

  #work(): void {
    this.wake();
    if (this.#held.length > 0) this.#adding ??= this.#addHeld();
  }

  async #addHeld(): Promise<void> {
    const { store, observe, now } = this.#deps;
    try {
      for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
        const { event, condition } = next;
        const deliveries = this.#targets
          .filter(({ takes }) => takes(event.type))
          .map(({ name, bodyOf }) => ({
            ...{ id: `${event.id}.${name}`, messageId: event.id, type: event.type, target: name },
            ...{ summary: event.summary, body: bodyOf(event), atMs: event.atMs },
          }));
        const added = await store.addDeliveries(deliveries, now(), MAX_WAITING, condition);
        if (this.#held[0] === next) this.#held.shift();
        if (added === 'added') this.wake();
        if (added === 'full') {
          const error = new Error('too many deliveries are waiting');
          observe({ kind: 'fault', what: `event "${event.type}" not delivered`, error });
        }
      }
    } catch (error) {
      // The next look tries again.
      observe({ kind: 'fault', what: 'events not yet delivered', error });
    } finally {
      this.#adding = undefined;
    }
  }

  async #sendDue(): Promise<void> {
    const { store, observe, now, leaseMs = LEASE_MS } = this.#deps;
    try {
      while (!this.#isStopped) {
        this.#isWoken = false;
        const due = await store.takeDeliveries(now(), leaseMs, BATCH);
        const names = new Set(due.map(({ target }) => target));
        await Promise.all(
          Array.from(names, (name) =>
            this.#sendInTurn(due.filter(({ target }) => target === name)),
          ),
        );
        if (due.length === 0 && !(this.#isWoken as boolean)) return;
      }
    } catch (error) {
      observe({ kind: 'fault', what: 'deliveries not sent', error });
    } finally {
      this.#sending = undefined;
    }
  }

  async #sendInTurn(deliveries: readonly DeliveryRecord[]): Promise<void> {
    for (const delivery of deliveries) await this.#send(delivery);
  }

  async #send(delivery: DeliveryRecord): Promise<void> {
    const { store, observe, now, random } = this.#deps;
    const { id, messageId, body, tries } = delivery;
    const target = this.#targets.find(({ name }) => name === delivery.target);
    const pausedUntil = this.#pausedUntil.get(delivery.target) ?? 0;
    if (target !== undefined && (this.#isStopped || now() < pausedUntil)) {
      const { error } = delivery;
      const dueAtMs = Math.max(now(), pausedUntil);
      await store.endDelivery(id, { state: 'waiting', tries, error, dueAtMs }, now(), KEPT);
      return;
    }
    const sent: Sent =
      target === undefined
        ? { kind: 'refused', why: 'there is no such target any more' }
        : await target.send(body, messageId);
    if (sent.kind === 'sent') {
      const outcome = { state: 'sent', tries, error: '', dueAtMs: 0 } as const;
      await store.endDelivery(id, outcome, now(), KEPT);
      return;
    }
    const waitMs =
      sent.kind === 'failed' ? deliveryWaitMs(tries + 1, sent.retryAfterMs, random) : undefined;
    const failed = { tries: tries + 1, error: sent.why };
    if (waitMs === undefined) {
      await store.endDelivery(id, { ...failed, state: 'dead', dueAtMs: 0 }, now(), KEPT);
      const error = new Error(sent.why);
      observe({
        kind: 'fault',
        what: `"${delivery.type}" not delivered to ${delivery.target}`,
        error,
      });
      return;
    }
    this.#pausedUntil.set(delivery.target, now() + Math.min(waitMs, MAX_PAUSE_MS));
    const outcome = { ...failed, state: 'waiting', dueAtMs: now() + waitMs } as const;
    await store.endDelivery(id, outcome, now(), KEPT);
    if (waitMs < POLL_MS) this.#wakeAfter(waitMs);
  }

  #wakeAfter(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake();
    }, ms + 1);
    timer.unref();
    this.#timers.add(timer);
  }
}
