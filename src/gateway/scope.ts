import { GatewayError } from '../core/errors.js';

/** Why a request ended before its answer. */
export type CancelReason = 'client_gone' | 'deadline';

/**
 * The life of one request: ended by its deadline or by the caller going away, whichever comes first. A plain object with
 * one timer and one listener, because an `AbortSignal` with a timeout costs more than the rest of the request.
 */
export class RequestScope {
  readonly deadlineMs: number;
  #reason: CancelReason | undefined;
  #onCancel: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(nowMs: number, budgetMs: number) {
    this.deadlineMs = nowMs + budgetMs;
    this.#timer = setTimeout(() => this.cancel('deadline'), budgetMs);
  }

  get reason(): CancelReason | undefined {
    return this.#reason;
  }

  cancel(reason: CancelReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#onCancel?.();
  }

  /** Sets what is to be stopped on cancellation; called at once when that has happened already. One at a time. */
  whenCancelled(stop: (() => void) | undefined): void {
    this.#onCancel = stop;
    if (this.#reason !== undefined) stop?.();
  }

  throwIfCancelled(): void {
    if (this.#reason !== undefined) throw cancellationError(this.#reason);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#onCancel = undefined;
  }
}

export function cancellationError(reason: CancelReason): GatewayError {
  return reason === 'deadline'
    ? new GatewayError(
        'upstream_timeout',
        'No provider answered before the deadline of the request.',
      )
    : new GatewayError('client_closed_request', 'The client closed the connection.');
}
