import { JsonFragment } from '../../bytes/index.js';
import type { TokenRequest } from '../../providers/provider.js';
import type { RawReply } from '../../providers/reply.js';
import { ConnectionPool } from './connection-pool.js';
import { createConnector, type JudgeAddress } from './connector.js';
import { Exchange } from './exchange.js';
import { ReplyRoom } from './bytes-in-flight.js';
import { standInFor } from './nodes-inside.js';
import type { Scope } from '../scope.js';
import type { UpstreamRequest } from './transport.js';

export interface UpstreamOptions {
  /** Limit of one reply, after decompression. */
  readonly maxReplyBytes: number;
  /** Limit of all replies being read at once; absent: none. */
  readonly maxReplyBytesInFlight?: number | undefined;
  /** Which addresses may be connected to, whatever name led there; absent: all. */
  readonly judgeAddress?: JudgeAddress | undefined;
}

/** Servers on uvicorn close idle connections after five seconds: ours must close first. */
const IDLE_CONNECTION_MS = 3_500;
/** Unless the server itself says how long it keeps them. */
const MAX_IDLE_CONNECTION_MS = 60_000;

const TOKEN_TIMEOUT_MS = 10_000;
const MAX_TOKEN_REPLY_BYTES = 262_144;

/** The share of the room for replies that one origin may take: it must not keep the others out. */
const SHARE_OF_ORIGIN = 0.5;

/** The connections to one origin, and the room that its replies share. */
interface Origin {
  readonly pool: ConnectionPool;
  readonly room: ReplyRoom;
}

/** HTTP to upstreams: one pool per origin, no redirects, HTTP/1.1 only. */
export class Upstream {
  readonly #origins = new Map<string, Origin>();
  /** Pools that take no new requests; those in flight end normally. */
  readonly #leaving = new Set<ConnectionPool>();
  readonly #maxReplyBytes: number;
  readonly #maxBytesInFlight: number;
  readonly #room: ReplyRoom;
  readonly #connect: ReturnType<typeof createConnector>;

  constructor(options: UpstreamOptions) {
    this.#maxReplyBytes = options.maxReplyBytes;
    this.#maxBytesInFlight = options.maxReplyBytesInFlight ?? Infinity;
    this.#room = new ReplyRoom(this.#maxBytesInFlight);
    this.#connect = createConnector(options.judgeAddress ?? (() => undefined));
  }

  /**
   * Sends one request and reads the whole reply, any status.
   * @throws TransportError when there is none.
   */
  send(request: UpstreamRequest, scope?: Scope): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      const { body } = request;
      const { pool, room } = this.#origin(request.origin);
      const maxBytes = Math.min(request.maxReplyBytes ?? Infinity, this.#maxReplyBytes);
      const limits = { maxBytes, rooms: [this.#room, room] } as const;
      const exchange = new Exchange(request, limits, resolve, reject, scope);
      pool.dispatch(
        {
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: body instanceof JsonFragment ? standInFor(body.pieces) : (body ?? null),
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
        maxReplyBytes: MAX_TOKEN_REPLY_BYTES,
        stillWanted: () => !signal.aborted,
      },
      undefined,
    );
  }

  /**
   * Drops all origins but these. Requests in flight end normally; a later request to a dropped origin, as for a new token,
   * opens new connections.
   */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [origin, { pool }] of this.#origins) {
      if (origins.has(origin)) continue;
      this.#origins.delete(origin);
      this.#leaving.add(pool);
      const gone = (): void => {
        this.#leaving.delete(pool);
      };
      // If it fails, the requests that it cost report it.
      pool.close().then(gone, gone);
    }
  }

  async close(): Promise<void> {
    const pools = [...Array.from(this.#origins.values(), ({ pool }) => pool), ...this.#leaving];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #origin(name: string): Origin {
    let origin = this.#origins.get(name);
    if (origin === undefined) {
      const pool = new ConnectionPool(name, {
        allowH2: false,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        keepAliveMaxTimeout: MAX_IDLE_CONNECTION_MS,
        connect: this.#connect,
      });
      origin = { pool, room: new ReplyRoom(this.#maxBytesInFlight * SHARE_OF_ORIGIN) };
      this.#origins.set(name, origin);
    }
    return origin;
  }
}
