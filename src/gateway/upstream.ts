import { subscribe } from 'node:diagnostics_channel';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Pool, type Dispatcher } from 'undici';
import { systemCode } from '../core/errors.js';
import type { TokenRequest } from '../providers/provider.js';
import type { RawReply } from '../providers/reply.js';
import type { RequestScope } from './scope.js';

/** Why there is no reply to read. */
export type TransportFault =
  /** No connection came about; nothing was sent. */
  | 'connect'
  /** The connection broke; the upstream may have seen the request. */
  | 'reset'
  | 'timeout'
  /** More bytes than a reply may have, or bytes that do not decompress. */
  | 'unreadable'
  /** The channel was switched off before the request was written. */
  | 'withdrawn'
  /** The request's scope ended. */
  | 'cancelled';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: TransportFault;
  /** The connection had been idle and was closed by the other side: nothing was answered, one more try costs nothing. */
  readonly stale: boolean;

  constructor(fault: TransportFault, message: string, stale = false, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.stale = stale;
  }
}

export interface UpstreamRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Name and value in turn. */
  readonly headers: string[];
  readonly body: Buffer | string | undefined;
  readonly timeoutMs: number;
  /** Asked right before the request is written: a tag may have been switched off while the connection was made. */
  readonly stillWanted: () => boolean;
}

export interface UpstreamOptions {
  readonly maxReplyBytes: number;
  /** Addresses that are not connected to, whatever name led there; absent: all are fine. */
  readonly refuses?: ((address: string) => boolean) | undefined;
}

/** Servers on uvicorn close idle connections after five seconds: ours go first. */
const IDLE_CONNECTION_MS = 3_500;
/** Unless the server says itself how long it keeps them. */
const MAX_IDLE_CONNECTION_MS = 60_000;

const TOKEN_TIMEOUT_MS = 10_000;

const decompress = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** HTTP to upstreams: one pool for each origin, redirects are not followed, HTTP/1.1 only. */
export class Upstream {
  readonly #pools = new Map<string, Pool>();
  /** Pools that take nothing new any more; what they have under way ends. */
  readonly #leaving = new Set<Pool>();
  readonly #maxReplyBytes: number;
  readonly #lookup: LookupFunction | undefined;

  constructor(options: UpstreamOptions) {
    this.#maxReplyBytes = options.maxReplyBytes;
    this.#lookup = options.refuses === undefined ? undefined : guardedLookup(options.refuses);
  }

  /**
   * Sends one request and reads the whole reply, any status.
   * @throws TransportError when there is none.
   */
  send(request: UpstreamRequest, scope?: RequestScope): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      const { origin } = request;
      const receive = (received: Received): void => {
        const { status, headers, body } = received;
        const encoding = headers['content-encoding'];
        if (encoding === undefined || encoding === 'identity' || body.length === 0) {
          resolve(new Reply(status, headers, body));
          return;
        }
        this.#inflate(encoding, body).then(
          (plain) => resolve(new Reply(status, headers, plain)),
          reject,
        );
      };
      const exchange = new Exchange(request, this.#maxReplyBytes, receive, reject, scope);
      this.#pool(origin).dispatch(
        {
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        exchange,
      );
    });
  }

  /**
   * One request to a token endpoint.
   * @throws TransportError when there is no reply.
   */
  async fetchToken(request: TokenRequest, signal: AbortSignal): Promise<RawReply> {
    const url = new URL(request.url);
    return this.send(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: Object.entries(request.headers).flat(),
        body: request.body,
        timeoutMs: TOKEN_TIMEOUT_MS,
        stillWanted: () => !signal.aborted,
      },
      undefined,
    );
  }

  /**
   * Lets go of all origins but these. What is under way ends; whoever asks an origin again, as for a new token, opens
   * connections anew.
   */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [origin, pool] of this.#pools) {
      if (origins.has(origin)) continue;
      this.#pools.delete(origin);
      this.#leaving.add(pool);
      const gone = (): void => {
        this.#leaving.delete(pool);
      };
      // Told of by the requests that it cost, should it fail.
      pool.close().then(gone, gone);
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values(), ...this.#leaving];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        // How many requests run at once is bounded above, where a waiting one can still be refused.
        connections: null,
        pipelining: 1,
        allowH2: false,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        keepAliveMaxTimeout: MAX_IDLE_CONNECTION_MS,
        ...(this.#lookup === undefined ? {} : { connect: { lookup: this.#lookup } }),
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  async #inflate(encoding: string, body: Buffer): Promise<Buffer> {
    const name = encoding.trim().toLowerCase().replace(/^x-/, '');
    if (name !== 'gzip' && name !== 'deflate' && name !== 'br') {
      throw new TransportError('unreadable', 'the reply is compressed in an unknown way');
    }
    try {
      return await decompress[name](body, { maxOutputLength: this.#maxReplyBytes });
    } catch (error) {
      throw new TransportError('unreadable', 'the reply does not decompress', false, error);
    }
  }
}

/** Resolves names as usual, and refuses one that leads to an address that is not to be connected to. */
function guardedLookup(refuses: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = error === null && addresses.some(({ address }) => refuses(address));
      const [first] = addresses;
      if (error !== null || refused || first === undefined) {
        callback(error ?? new Error('the name leads to an address that is not allowed'), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** A reply whose text is decoded when it is asked for, once. */
class Reply implements RawReply {
  readonly status: number;
  readonly headers: RawReply['headers'];
  readonly bytes: Buffer;
  #text: string | undefined;

  constructor(status: number, headers: RawReply['headers'], bytes: Buffer) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }

  get text(): string {
    this.#text ??= this.bytes.toString('utf8');
    return this.#text;
  }
}

/** Connections that have brought a reply: the other side may close one while it is idle. */
const proven = new WeakSet<object>();

/** Of the exchange whose request is being written. */
let tellConnection: ((connection: object) => void) | undefined;

// The client tells nowhere else which connection it writes a request to; it does so in the same turn.
subscribe('undici:client:sendHeaders', (message) => {
  tellConnection?.((message as { readonly socket: object }).socket);
  tellConnection = undefined;
});

/** One request on its way; undici calls it back. Settles its promise once, whatever comes in whatever order. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: UpstreamRequest;
  readonly #maxBytes: number;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (error: TransportError) => void;
  readonly #scope: RequestScope | undefined;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: TransportError | undefined;
  #connection: object | undefined;
  #started = false;
  #status = 0;
  #headers: Received['headers'] = {};
  #first: Buffer | undefined;
  #more: Buffer[] | undefined;
  #bytes = 0;

  constructor(
    request: UpstreamRequest,
    maxBytes: number,
    resolve: (received: Received) => void,
    reject: (error: TransportError) => void,
    scope: RequestScope | undefined,
  ) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#scope = scope;
    this.#timer = setTimeout(() => {
      this.#fail(new TransportError('timeout', 'no complete reply in time'));
    }, request.timeoutMs);
    scope?.whenCancelled(() => {
      this.#fail(new TransportError('cancelled', 'the request was cancelled'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    tellConnection = (connection) => {
      this.#connection = connection;
    };
    if (this.#failure === undefined && !this.#request.stillWanted()) {
      this.#fail(new TransportError('withdrawn', 'the channel was switched off'));
    } else if (this.#failure !== undefined) {
      controller.abort(this.#failure);
    }
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
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#fail(new TransportError('unreadable', 'the reply is larger than allowed'));
    } else if (this.#first === undefined) {
      this.#first = chunk;
    } else {
      (this.#more ??= [this.#first]).push(chunk);
    }
  }

  onResponseEnd(): void {
    this.#stop();
    if (this.#failure !== undefined) return;
    if (this.#connection !== undefined) proven.add(this.#connection);
    const body =
      this.#more === undefined ? (this.#first ?? Buffer.alloc(0)) : Buffer.concat(this.#more);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#stop();
    if (this.#failure !== undefined) return;
    const wasKept = this.#connection !== undefined && proven.has(this.#connection);
    this.#reject(
      asTransportError(error, this.#controller !== undefined, wasKept && !this.#started),
    );
  }

  /** Ends the exchange from our side. The promise settles now: an abort of a queued request is told only much later. */
  #fail(error: TransportError): void {
    if (this.#failure !== undefined) return;
    this.#stop();
    this.#failure = error;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#scope?.whenCancelled(undefined);
  }
}

function flatten(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | undefined> {
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Record<string, string | undefined>;
}

function asTransportError(error: Error, written: boolean, stale: boolean): TransportError {
  const code = systemCode(error) ?? '';
  if (!written)
    return new TransportError('connect', `no connection (${code || error.name})`, false, error);
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new TransportError('unreadable', `the reply is not valid HTTP (${code})`, false, error);
  }
  return new TransportError('reset', `the connection broke (${code || error.name})`, stale, error);
}
