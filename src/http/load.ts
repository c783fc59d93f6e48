import { GatewayError } from '../core/errors.js';

/** One request's share of the load. */
export interface Place {
  bytes: number;
}

/**
 * Bounds what is in flight on this process, requests and the bytes of their bodies and of replies that nobody takes, so that
 * overload is an early 503 and not a growing queue.
 */
export class Load {
  readonly #maxRequests: number;
  readonly #maxBytes: number;
  #requests = 0;
  #bytes = 0;
  readonly #whenIdle: (() => void)[] = [];

  constructor(maxRequests: number, maxBytes: number) {
    this.#maxRequests = maxRequests;
    this.#maxBytes = maxBytes;
  }

  get requests(): number {
    return this.#requests;
  }

  /**
   * Takes a place, or throws 503 `overloaded`; `declaredBytes` is what the caller says it will send. Nothing is kept of a body
   * that is larger than `limitBytes`: it needs no room, and without a place it is told 413, since no later try would fare better.
   */
  enter(declaredBytes: number, limitBytes: number): Place {
    const isTooLarge = declaredBytes > limitBytes;
    const bytes = isTooLarge ? 0 : declaredBytes;
    if (this.#requests >= this.#maxRequests || this.#bytes + bytes > this.#maxBytes) {
      throw isTooLarge ? neverTaken(limitBytes) : this.refusal();
    }
    this.#requests += 1;
    return { bytes: 0 };
  }

  /** Counts bytes that a place holds; false when that is more than there is room for. */
  charge(place: Place, bytes: number): boolean {
    place.bytes += bytes;
    this.#bytes += bytes;
    return this.#bytes <= this.#maxBytes;
  }

  /** Counts the bytes of a reply that its caller has not taken yet; returns the way to give them back, once. */
  keep(bytes: number): () => void {
    this.#bytes += bytes;
    let kept = true;
    return () => {
      if (kept) this.#bytes -= bytes;
      kept = false;
    };
  }

  leave(place: Place): void {
    this.#requests -= 1;
    this.#bytes -= place.bytes;
    if (this.#requests > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when no request holds a place. */
  async idle(): Promise<void> {
    if (this.#requests === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  refusal(): GatewayError {
    return new GatewayError(
      'overloaded',
      'The gateway has as many requests in flight as it takes.',
      {
        retryAfterMs: 1_000,
      },
    );
  }
}

function neverTaken(limitBytes: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The body is declared larger than ${limitBytes} bytes, the most that is taken.`,
  );
}
