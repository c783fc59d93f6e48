import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { RawReply } from '../../providers/reply.js';
import { hasBroken } from './connector.js';
import { Inflation, readEncodings } from './inflate.js';
import {
  awaitReply,
  flowOf,
  hasFailedWrites,
  writesNext,
  type Flow,
  type Sender,
} from './nodes-inside.js';
import { flatten, Reply } from './reply.js';
import type { ReplyRoom } from './bytes-in-flight.js';
import type { Scope } from '../scope.js';
import { TransportError, type Resend, type UpstreamRequest } from './transport.js';
import { asTransportError } from './transport-error.js';

/** Connections that have delivered a reply: the other side may close such a connection while it is idle. */
const proven = new WeakSet<object>();

/** So many pieces become one: each is an object of a hundred bytes and keeps all that was read with it. */
const MANY_PIECES = 256;

export interface ReplyLimits {
  readonly maxBytes: number;
  /** The room for all replies, and for those of this origin. */
  readonly rooms: readonly [ReplyRoom, ReplyRoom];
}

/** One request in flight, driven by undici's callbacks. Settles its promise once, in whatever order they come. */
export class Exchange implements Dispatcher.DispatchHandler, Sender {
  readonly #request: UpstreamRequest;
  readonly #limits: ReplyLimits;
  readonly #resolve: (reply: RawReply) => void;
  readonly #reject: (error: TransportError) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: TransportError | undefined;
  #connection: Socket | undefined;
  #flow: Flow | undefined;
  /** Whether the whole request has been handed to the system. */
  #hasLeft = false;
  #started = false;
  #status = 0;
  #headers: RawReply['headers'] = {};
  #inflation: Inflation | undefined;
  /** Of the reply. */
  #pieces: Buffer[] = [];
  /** How many of them have been joined. */
  #joined = 0;
  /** Bytes as received, and bytes of the reply itself: they differ only if it was compressed. */
  #rawBytes = 0;
  #bytes = 0;

  constructor(
    request: UpstreamRequest,
    limits: ReplyLimits,
    resolve: (reply: RawReply) => void,
    reject: (error: TransportError) => void,
    scope: Scope | undefined,
  ) {
    this.#request = request;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => {
      this.#fail(new TransportError('timeout', 'no complete reply in time'));
    }, request.timeoutMs);
    this.#stopListening = scope?.onEnd(() => {
      this.#fail(new TransportError('cancelled', 'the request was cancelled'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    writesNext(this);
    if (this.#failure === undefined && !this.#request.stillWanted()) {
      this.#fail(new TransportError('withdrawn', 'the channel was switched off'));
    } else if (this.#failure !== undefined) {
      controller.abort(this.#failure);
    }
  }

  writingTo(connection: Socket): void {
    this.#connection = connection;
    this.#flow = flowOf(connection);
    awaitReply(connection);
  }

  written(): void {
    const connection = this.#connection;
    if (connection?.errored !== null || hasFailedWrites(connection)) return;
    // What the system has not yet accepted leaves as the other side reads. If nothing reports when, it counts as sent.
    if (connection.writableLength > 0 && connection.writableNeedDrain) {
      connection.once('drain', () => {
        this.#leave();
      });
    } else {
      this.#leave();
    }
  }

  #leave(): void {
    this.#hasLeft = true;
    this.#request.onSent?.();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#started = true;
    this.#status = status;
    this.#headers = flatten(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    if (this.#rawBytes === 0) this.#inflate(this.#headers['content-encoding'], chunk);
    this.#rawBytes += chunk.length;
    const inflation = this.#inflation;
    if (inflation === undefined) {
      this.#keep(chunk);
    } else if (this.#rawBytes > this.#limits.maxBytes) {
      this.#fail(new TransportError('unreadable', 'the reply is larger than allowed'));
    } else if (!inflation.write(chunk)) {
      this.#holdFor(inflation);
    }
  }

  /** One read may bring many pieces; the first makes the connection wait. */
  #holdFor(inflation: Inflation): void {
    const flow = this.#flow;
    if (flow?.isHeld !== false) return;
    flow.pause();
    inflation.onDrain(() => {
      flow.resume();
    });
  }

  onResponseEnd(): void {
    if (this.#failure !== undefined) return;
    if (this.#connection !== undefined) {
      proven.add(this.#connection);
      closeUnlessWritten(this.#connection);
    }
    if (this.#inflation === undefined) this.#succeed();
    else this.#inflation.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#failure !== undefined) return;
    this.#stop();
    this.#failure = asTransportError(
      error,
      this.#controller !== undefined,
      this.#resendAfter(error),
    );
    this.#reject(this.#failure);
  }

  #resendAfter(error: Error): Resend {
    // It was about to be written to a kept connection.
    if (this.#controller === undefined) return hasBroken(error) ? 'safe' : undefined;
    const wasKept = this.#connection !== undefined && proven.has(this.#connection);
    if (!wasKept || this.#started) return undefined;
    return this.#hasLeft ? 'unsafe' : 'safe';
  }

  #inflate(header: string | undefined, beginning: Buffer): void {
    const encodings = readEncodings(header);
    if (encodings === undefined) return;
    if (encodings === 'unknown') {
      this.#fail(new TransportError('unreadable', 'the reply has an unknown compression'));
      return;
    }
    this.#inflation = new Inflation(encodings, beginning, {
      onData: (piece) => {
        this.#keep(piece);
      },
      onEnd: () => {
        this.#succeed();
      },
      onError: (error) => {
        const message = 'the reply cannot be decompressed';
        this.#fail(new TransportError('unreadable', message, undefined, error));
      },
    });
  }

  /** Keeps a piece of the reply, if there is room. */
  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#limits.maxBytes) {
      this.#bytes -= piece.length;
      this.#fail(new TransportError('unreadable', 'the reply is larger than allowed'));
    } else if (!this.#hasRoomFor(piece.length)) {
      this.#fail(new TransportError('no_room', 'too many bytes of replies at once'));
    } else {
      this.#pieces.push(piece);
      if (this.#pieces.length - this.#joined >= MANY_PIECES) this.#join();
    }
  }

  #join(): void {
    const latest = this.#pieces.splice(this.#joined);
    this.#joined = this.#pieces.push(Buffer.concat(latest));
  }

  #hasRoomFor(bytes: number): boolean {
    const [all, own] = this.#limits.rooms;
    const fits = all.take(bytes);
    return own.take(bytes) && fits;
  }

  #succeed(): void {
    // Whatever happens from now on, there is nothing to abort any more.
    this.#controller = undefined;
    const [first] = this.#pieces;
    const body =
      first !== undefined && this.#pieces.length === 1
        ? first
        : Buffer.concat(this.#pieces, this.#bytes);
    this.#stop();
    this.#resolve(new Reply(this.#status, this.#headers, body));
  }

  /** Ends the exchange from our side. The promise settles now: an abort of a queued request is reported only much later. */
  #fail(error: TransportError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#stop();
    this.#reject(error);
    this.#controller?.abort(error);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#stopListening?.();
    this.#inflation?.destroy();
    // What has ended drains no more.
    this.#flow?.resumeSoon();
    for (const room of this.#limits.rooms) room.release(this.#bytes);
    this.#bytes = 0;
    this.#pieces = [];
  }
}

/**
 * Closes a connection whose request is answered before all of it has left: the next one would wait behind the rest, for good
 * if the other side has stopped reading. To be called when the reply is over: the client uses the connection again a turn later.
 */
function closeUnlessWritten(socket: Socket): void {
  if (socket.writableLength === 0) return;
  // The system may have had all that was encrypted for a moment before that is told.
  setImmediate(() => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
