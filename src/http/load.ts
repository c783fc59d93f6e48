import { GatewayError } from '../core/errors.js';
import { ReadingTurns } from './reading.js';

/** What one caller, by key or by address, has in flight. */
interface Owner {
  requests: number;
  bytes: number;
}

/** One request's share of the load. */
export interface Place {
  bytes: number;
  readonly owners: NamedOwner[];
  /** Ends the turn of its body, if that is large. */
  endTurn: (() => void) | undefined;
}

interface NamedOwner {
  readonly name: string;
  readonly owner: Owner;
}

/**
 * Limits what is in flight in this process (requests, the bytes of their bodies, and replies not yet taken), so that
 * overload is an early 503 and not a growing queue. No caller has more than its share of either.
 */
export class Load {
  /** Of large bodies. */
  readonly reading = new ReadingTurns();
  #maxRequests = 0;
  #maxBytes = 0;
  #maxOwnRequests = 0;
  #maxOwnBytes = 0;
  readonly #leastBytes: number;
  readonly #owners = new Map<string, Owner>();
  #requests = 0;
  #bytes = 0;
  readonly #whenIdle: (() => void)[] = [];

  /**
   * `share` is the part of both that one caller may have; for bytes it is at least `leastBytes`, so that the largest body
   * fits.
   */
  constructor(maxRequests: number, maxBytes: number, share = 1, leastBytes = 0) {
    this.#leastBytes = leastBytes;
    this.resize(maxRequests, maxBytes, share);
  }

  /** Other limits for what comes; what is in flight stays. */
  resize(maxRequests: number, maxBytes: number, share: number): void {
    this.#maxRequests = maxRequests;
    this.#maxBytes = maxBytes;
    this.#maxOwnRequests = Math.ceil(maxRequests * share);
    this.#maxOwnBytes = Math.max(Math.ceil(maxBytes * share), this.#leastBytes);
  }

  get requests(): number {
    return this.#requests;
  }

  /** Of bodies, and of replies not yet taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a place, or throws 503 `overloaded`; `declaredBytes` is what the caller says it will send. A body larger than
   * `limitBytes` is not kept, so it needs no room; without a place it gets a 413, since no later try would fare better.
   */
  enter(declaredBytes: number, limitBytes: number): Place {
    const isTooLarge = declaredBytes > limitBytes;
    const bytes = isTooLarge ? 0 : declaredBytes;
    if (this.#requests >= this.#maxRequests || this.#bytes + bytes > this.#maxBytes) {
      throw isTooLarge ? tooLarge(limitBytes) : this.refusal();
    }
    this.#requests += 1;
    return { bytes: 0, owners: [], endTurn: undefined };
  }

  /**
   * Counts a place as that of a caller, and returns how many that caller has now; throws 503 `overloaded` where it is one too
   * many, or where there is no room among its bytes for those that it declares. A place may have several owners.
   */
  own(place: Place, name: string, declaredBytes: number, limitBytes: number): number {
    const owner = this.#owner(name);
    owner.requests += 1;
    owner.bytes += place.bytes;
    place.owners.push({ name, owner });
    const bytes = declaredBytes > limitBytes ? 0 : declaredBytes;
    if (owner.requests > this.#maxOwnRequests || owner.bytes + bytes > this.#maxOwnBytes) {
      throw refusalOfShare();
    }
    return owner.requests;
  }

  /** Counts bytes that a place holds; false if there is no room for them. */
  charge(place: Place, bytes: number): boolean {
    place.bytes += bytes;
    this.#count(bytes);
    let fits = this.#bytes <= this.#maxBytes;
    for (const { owner } of place.owners) {
      owner.bytes += bytes;
      fits &&= owner.bytes <= this.#maxOwnBytes;
    }
    return fits;
  }

  /**
   * Counts the bytes of a reply that its caller has not taken yet, as the bytes of whoever had the place; returns a function
   * that gives them back, once.
   */
  keep(place: Pick<Place, 'owners'> | undefined, bytes: number): () => void {
    // The place may have been left, and its owner forgotten.
    const owners = place?.owners.map(({ name }) => ({ name, owner: this.#owner(name) })) ?? [];
    const count = (more: number): void => {
      this.#count(more);
      for (const { owner } of owners) owner.bytes += more;
    };
    count(bytes);
    let kept = true;
    return () => {
      if (!kept) return;
      kept = false;
      count(-bytes);
      this.#forget(owners);
    };
  }

  leave(place: Place): void {
    place.endTurn?.();
    this.#requests -= 1;
    this.#count(-place.bytes);
    for (const { owner } of place.owners) {
      owner.requests -= 1;
      owner.bytes -= place.bytes;
    }
    this.#forget(place.owners);
    if (this.#requests > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when no request holds a place. */
  async idle(): Promise<void> {
    if (this.#requests === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Why a place has no room for more bytes: its owner's share is used up, or the room of all is. */
  refusalOf(place: Place): GatewayError {
    const isShare = place.owners.some(({ owner }) => owner.bytes > this.#maxOwnBytes);
    return isShare ? refusalOfShare() : this.refusal();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
  }

  #owner(name: string): Owner {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { requests: 0, bytes: 0 };
      this.#owners.set(name, owner);
    }
    return owner;
  }

  /** Forgets those who have nothing in flight any more. */
  #forget(owners: readonly NamedOwner[]): void {
    for (const { name, owner } of owners) {
      if (owner.requests === 0 && owner.bytes === 0) this.#owners.delete(name);
    }
  }

  refusal(): GatewayError {
    return new GatewayError(
      'overloaded',
      'The gateway has as many requests in flight as it can take.',
      {
        retryAfterMs: 1_000,
      },
    );
  }
}

function refusalOfShare(): GatewayError {
  return new GatewayError(
    'overloaded',
    'This caller has as many requests or bytes in flight as one caller may have.',
    { retryAfterMs: 1_000 },
  );
}

/** The 413 for a body beyond the limit. */
export function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The body is larger than ${limitBytes} bytes, the limit after decompression.`,
  );
}
