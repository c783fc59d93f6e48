import { GatewayError } from '../core/errors.js';

/** Why something ended before its answer: the caller left, its time was up, or another attempt answered first. */
export type EndReason = 'client_gone' | 'deadline' | 'lost';

/**
 * A span of work that ends at most once: by its deadline, its caller, or with its parent scope. Whoever starts something in
 * it that must then stop listens with `onEnd`.
 */
export interface Scope {
  readonly deadlineMs: number;
  /** `undefined` while it lasts. */
  readonly ended: EndReason | undefined;
  end(reason: EndReason): void;
  /** A child scope: it may end sooner, never later. `release` it when its work is done. */
  child(): OwnedScope;
  /** Calls `stop` once when the scope ends, or at once if it has ended. Returns a function that removes the listener. */
  onEnd(stop: () => void): () => void;
  /** @throws GatewayError when the scope has ended. */
  throwIfEnded(): void;
}

/** A scope in the hands of its creator. */
export interface OwnedScope extends Scope {
  /** The work is done: no timer, listener or parent holds on to the scope any more. */
  release(): void;
}

interface Listener {
  readonly stop: () => void;
}

/** Plain objects and one timer: an `AbortSignal` with a timeout costs more than the rest of a request. */
class PlainScope implements OwnedScope {
  readonly deadlineMs: number;
  #ended: EndReason | undefined;
  /** Nearly always there is one at a time; a set is made for the others. */
  #first: Listener | undefined;
  #others: Set<Listener> | undefined;
  #detach: (() => void) | undefined;

  constructor(deadlineMs: number) {
    this.deadlineMs = deadlineMs;
  }

  get ended(): EndReason | undefined {
    return this.#ended;
  }

  /** Connects the scope with whatever ends it; `release` undoes that. */
  attach(detach: () => void): void {
    this.#detach = detach;
  }

  end(reason: EndReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    const first = this.#first;
    const others = this.#others;
    this.#first = undefined;
    first?.stop();
    if (others !== undefined) for (const { stop } of others) stop();
    this.#others = undefined;
  }

  child(): OwnedScope {
    const child = new PlainScope(this.deadlineMs);
    child.attach(this.onEnd(() => child.end(this.#ended ?? 'lost')));
    return child;
  }

  onEnd(stop: () => void): () => void {
    if (this.#ended !== undefined) {
      stop();
      return nothing;
    }
    const listener: Listener = { stop };
    if (this.#first === undefined && this.#others === undefined) this.#first = listener;
    else (this.#others ??= new Set()).add(listener);
    return () => {
      if (this.#first === listener) this.#first = undefined;
      else this.#others?.delete(listener);
    };
  }

  throwIfEnded(): void {
    if (this.#ended !== undefined) throw endError(this.#ended);
  }

  release(): void {
    this.#detach?.();
    this.#detach = undefined;
    this.#first = undefined;
    this.#others = undefined;
  }
}

function nothing(): void {
  // The listener has been called and need not be removed.
}

/** The scope of a request: it ends automatically after `budgetMs`. */
export function createScope(nowMs: number, budgetMs: number): OwnedScope {
  const scope = new PlainScope(nowMs + budgetMs);
  const timer = setTimeout(() => scope.end('deadline'), budgetMs);
  scope.attach(() => clearTimeout(timer));
  return scope;
}

/** The answer, or the end of the scope if that comes first; a later answer is ignored. */
export function beforeEnd<T>(scope: Scope, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = scope.onEnd(() => reject(endError(scope.ended ?? 'lost')));
    answer.then(
      (value) => {
        off();
        resolve(value);
      },
      (error: unknown) => {
        off();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what the answer failed with is passed on
        reject(error);
      },
    );
  });
}

/** The caller's error, if the caller is still there, when a scope ended before its answer. */
export function endError(reason: EndReason): GatewayError {
  switch (reason) {
    case 'deadline':
      return new GatewayError(
        'upstream_timeout',
        'No provider answered before the deadline of the request.',
      );
    case 'client_gone':
      return new GatewayError('client_closed_request', 'The client closed the connection.');
    case 'lost':
      return new GatewayError('client_closed_request', 'Another attempt answered first.');
  }
}
