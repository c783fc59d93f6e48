import { createHmac, randomUUID } from 'node:crypto';
import type { Secret } from '../core/secret.js';
import { alertBody, alertRetryMs, signedText, type Alert } from '../core/webhook.js';
import type { GatewayEvent, Observe, ReadEvents } from '../gateway/events.js';

export interface WebhookDeps {
  /** Posts a body; resolves to the status of the answer. */
  readonly post: (body: string, headers: Readonly<Record<string, string>>) => Promise<number>;
  readonly secret: Secret | undefined;
  /** The name that people know this gateway by. */
  readonly node: string;
  readonly observe: Observe;
  readonly now: () => number;
  readonly random: () => number;
}

/** More alerts waiting than this means that the receiver is down: the oldest are the least of its worries. */
const MAX_WAITING = 1_000;

/**
 * Tells a receiver what happens to channels, one call after another and in order, each repeated until it is accepted or
 * given up. Nobody waits for it.
 */
export class Webhook {
  readonly #deps: WebhookDeps;
  /** Channels whose circuit the receiver believes to be open. */
  readonly #open = new Set<number>();
  readonly #waiting: { readonly alert: Alert; readonly atMs: number }[] = [];
  #sending: Promise<void> | undefined;
  #stop: (() => void) | undefined;
  #stopped = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  readonly read: ReadEvents = (events) => {
    for (const event of events) {
      const alert = this.#alertOf(event);
      if (alert === undefined || this.#stopped) continue;
      this.#waiting.push({ alert, atMs: this.#deps.now() });
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
      this.#sending ??= this.#sendAll();
    }
  };

  /** Waits for nothing but the call in progress. */
  async close(): Promise<void> {
    this.#stopped = true;
    this.#waiting.length = 0;
    this.#stop?.();
    await this.#sending;
  }

  #alertOf(event: GatewayEvent): Alert | undefined {
    if (event.kind === 'outage') {
      const { channelId, channel, state, reason, message, sinceMs } = event;
      const about = { channelId, channel, reason, message, sinceMs, untilMs: 0 };
      return { type: `channel.${state}`, ...about };
    }
    if (event.kind !== 'breaker' || event.state === 'half_open') return undefined;
    const { channelId, channel, state, reason, sinceMs, forMs } = event;
    const isOpen = state === 'open';
    // A circuit that opens again after its probe is still the same trouble.
    if (this.#open.has(channelId) === isOpen) return undefined;
    if (isOpen) this.#open.add(channelId);
    else this.#open.delete(channelId);
    return {
      type: isOpen ? 'channel.circuit_opened' : 'channel.circuit_closed',
      ...{ channelId, channel, reason, message: '', sinceMs },
      untilMs: isOpen ? this.#deps.now() + forMs : 0,
    };
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#send(next.alert, next.atMs);
    }
    this.#sending = undefined;
  }

  async #send(alert: Alert, atMs: number): Promise<void> {
    const { node, observe, random } = this.#deps;
    const id = randomUUID();
    const body = alertBody(alert, id, node, atMs);
    for (let tries = 1; ; tries += 1) {
      const why = await this.#try(id, body);
      if (why === undefined || this.#stopped) return;
      const waitMs = alertRetryMs(tries, random);
      if (waitMs === undefined) {
        observe({ kind: 'fault', what: `alert "${alert.type}" not delivered`, error: why });
        return;
      }
      await this.#pause(waitMs);
    }
  }

  /** What went wrong; nothing if the receiver accepted the alert. */
  async #try(id: string, body: string): Promise<unknown> {
    const { post, secret, now } = this.#deps;
    const atMs = now();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      ...(secret === undefined
        ? {}
        : { 'webhook-signature': `v1,${signatureOf(secret, signedText(id, atMs, body))}` }),
    };
    try {
      const status = await post(body, headers);
      if (status >= 200 && status < 300) return undefined;
      return new Error(`the receiver answered with status ${status}`);
    } catch (error) {
      return error;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** As standardwebhooks.com specifies: secrets that begin with `whsec_` are base64, others are used as they are. */
function signatureOf(secret: Secret, text: string): string {
  const value = secret.reveal();
  const key = value.startsWith('whsec_')
    ? Buffer.from(value.slice('whsec_'.length), 'base64')
    : Buffer.from(value);
  return createHmac('sha256', key).update(text).digest('base64');
}
