import type { JsonFragment } from '../../bytes/index.js';

/** Why there is no reply to read. */
export type TransportFault =
  /** No connection was made; nothing was sent. */
  | 'connect'
  /** The address must not be connected to; nothing was sent. */
  | 'forbidden'
  /** The connection broke; the upstream may have seen the request. */
  | 'reset'
  | 'timeout'
  /** More bytes than a reply may have, or bytes that do not decompress. */
  | 'unreadable'
  /** No room for more reply bytes, of this upstream or in total. */
  | 'no_room'
  /** The channel was switched off before the request was written. */
  | 'withdrawn'
  /** The request's scope ended. */
  | 'cancelled';

/**
 * Whether a request may be sent once more, after a kept-alive connection broke before any of its reply came. `safe`: part of
 * the request never left, so it cannot have had any effect. `unsafe`: all of it had left, and it may have been served.
 */
export type Resend = 'safe' | 'unsafe' | undefined;

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: TransportFault;
  readonly resend: Resend;

  constructor(fault: TransportFault, message: string, resend?: Resend, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.resend = resend;
  }
}

export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer | JsonFragment | string | undefined;
  readonly timeoutMs: number;
  /** Absent: as much as a reply of any kind may have. */
  readonly maxReplyBytes?: number | undefined;
  /** Asked right before the request is written: a tag may have been switched off while the connection was being made. */
  readonly stillWanted: () => boolean;
  /** Called once the system has accepted all of it. */
  readonly onSent?: (() => void) | undefined;
}
