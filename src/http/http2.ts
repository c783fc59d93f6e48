import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  constants,
  createServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ReadableOptions } from 'node:stream';
import { Chatter } from './chatter.js';
import { PREFACE, requestsIn } from './http2-preface.js';
import { holdHandle, isBlocked, keepSession, nodesInside } from './nodes-inside.js';
import { FEW_PIECES, Pacing, SMALL_BYTES } from './pacing.js';

/** Requests at once on one connection; a client that has more waits, or connects again. */
const MAX_STREAMS = 100;
/** What a caller may send of one body before it is read. */
const STREAM_WINDOW_BYTES = 262_144;
/** As Node has it for HTTP/1. */
const MAX_HEADER_BYTES = 16_384;
/**
 * What a connection may hold before Node refuses its next requests: never reached, because `Load` counts replies that are not
 * taken, and refuses with an answer. Node's own ten would be used up by a few replies with documents.
 */
const SESSION_MEGABYTES = 4_000;
/** Frames that break the protocol, after which a connection is closed. */
const MAX_INVALID_FRAMES = 100;
/** Requests that a connection may take back: at once, and each second. Node leaves the socket open, after 1,000. */
const TAKEN_BACK_AT_ONCE = 900;
const TAKEN_BACK_A_SECOND = 33;
/** In one turn: a gateway that was busy finds several lots at once that an honest client has taken back meanwhile. */
const TAKEN_BACK_IN_TURN = 3 * MAX_STREAMS;
/**
 * Requests that the first bytes of a connection, 64 KiB at most, may begin: Node reads these before anything can count what
 * they do, refuses a hundred more than may be open one by one, and then fails forever.
 */
const FIRST_REQUESTS = 2 * MAX_STREAMS;
const FLOOD = 'too many requests are begun or taken back at once';
/** A body may come in many small frames: each of ten bytes brings nine of its own. */
const FRAMED = 2;
const LISTEN_EVERY_MS = 1_000;
const TAKE_WITHIN_MS = 60_000;
/** How long a connection that has been closed may stay half open: it is gone within a second on a busy machine too. */
const LAST_WORDS_MS = 750;
/** No stream has a greater number: says that the connection will end, and refuses nothing yet. */
const EVERY_STREAM = 2 ** 31 - 1;

/** A request as the handlers for HTTP/1 expect it. */
export class Http2Request extends Http2ServerRequest {
  #small = 0;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    options: ReadableOptions,
    rawHeaders: readonly string[],
  ) {
    // Express, and whoever asks for the name that was called, look for it there.
    const authority = headers[constants.HTTP2_HEADER_AUTHORITY];
    if (typeof authority === 'string') headers.host = authority;
    super(stream, headers, options, rawHeaders);
  }

  /** Node hands over the body here. */
  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    const connection = chunk === null ? undefined : connectionOf(this.stream);
    if (connection !== undefined && chunk !== null) {
      connection.chatter.explain(chunk.length * FRAMED);
      if (chunk.length < SMALL_BYTES && ++this.#small > FEW_PIECES) {
        pacing.countSmall(connection.socket);
      }
    }
    return super.push(chunk, encoding);
  }
}

interface Connection {
  readonly socket: Socket;
  readonly chatter: Chatter;
}

const connections = new WeakMap<Http2Session, Connection>();
const pacing = new Pacing(holdHandle);

function connectionOf({ session }: ServerHttp2Stream): Connection | undefined {
  return session === undefined ? undefined : connections.get(session);
}

/** A reply that says, as those of HTTP/1 do, when it has been written. */
export class Http2Response extends Http2ServerResponse<Http2Request> {
  override end(...args: unknown[]): this {
    super.end(...(args as Parameters<Http2ServerResponse['end']>));
    this.emit(WRITTEN);
    return this;
  }
}

const WRITTEN = 'prefinish';

// A caller that leaves closes its stream, which Node then takes for a finished one whatever has been written. (The types have
// plain properties here, which a class cannot override.)
Object.defineProperty(Http2Response.prototype, 'writableFinished', {
  get(this: Http2Response) {
    return this.writableEnded && this.stream.writableFinished;
  },
});

export interface Http2Timeouts {
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may leave a reply that has been written where it is. */
  readonly takeWithinMs?: number;
}

/**
 * Serves HTTP/2 on connections that began with it, without TLS ("prior knowledge"). What a request may be and take is decided
 * where HTTP/1's is; here is what only HTTP/2 has.
 */
export class Http2Connections {
  readonly #server: Http2Server;
  readonly #timeouts: Http2Timeouts;
  readonly #sessions = new Map<ServerHttp2Session, () => void>();
  #listening: NodeJS.Timeout | undefined;

  constructor(
    timeouts: Http2Timeouts,
    serve: RequestListener,
    request = Http2Request,
    response = Http2Response,
  ) {
    this.#timeouts = timeouts;
    this.#server = createServer({
      Http2ServerRequest: request,
      Http2ServerResponse: response,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      maxSessionMemory: SESSION_MEGABYTES,
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        maxHeaderListSize: MAX_HEADER_BYTES,
        initialWindowSize: STREAM_WINDOW_BYTES,
      },
    });
    const handle = (req: Http2Request, res: Http2Response): void => {
      res.once(WRITTEN, () => this.#giveUpUntaken(res.stream));
      const socket = connectionOf(res.stream)?.socket;
      if (socket === undefined) return;
      pacing.begin(socket, () => {
        // One that was taken back before its turn has cost nothing.
        if (res.stream.destroyed) return;
        // Node makes them to be used like those of HTTP/1.
        serve(req as unknown as IncomingMessage, res as unknown as ServerResponse);
      });
    };
    for (const event of ['request', 'connect', 'checkExpectation']) this.#server.on(event, handle);
    this.#server.on('checkContinue', (req: Http2Request, res: Http2Response) => {
      // Node announces requests that have been taken back too, and throws if they are told to go on.
      if (res.stream.destroyed || res.stream.closed) return;
      res.writeContinue();
      handle(req, res);
    });
  }

  /** Takes a connection over from an HTTP/1 server whose parser stopped behind the preface; `rest` came after that. */
  take(socket: Socket, rest: Buffer): void {
    nodesInside().letGo?.(socket);
    // A caller that ends its side is gone: HTTP/2 has its own way to say that a request is complete.
    socket.allowHalfOpen = false;
    const isFlood = requestsIn(rest) > FIRST_REQUESTS;
    if (!isFlood) socket.unshift(Buffer.concat([PREFACE, rest]));
    this.#server.once('session', (session: ServerHttp2Session) => {
      this.#follow(session, socket);
      if (isFlood) session.destroy(new Error(FLOOD), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    this.#server.emit('connection', socket);
  }

  /** Tells all callers to begin no more requests on their connections. Those that are on the way are still served. */
  announceEnd(): void {
    for (const session of this.#sessions.keys()) {
      if (session.closed || session.destroyed) continue;
      session.goaway(constants.NGHTTP2_NO_ERROR, EVERY_STREAM);
    }
  }

  /** Closes each connection once its requests are answered; takes no further ones. */
  close(): void {
    for (const session of this.#sessions.keys()) {
      if (!session.closed) session.close();
    }
  }

  /** HTTP/1 has one untaken reply for each connection at most, HTTP/2 as many as there may be requests. */
  #giveUpUntaken(stream: ServerHttp2Stream): void {
    if (stream.destroyed || stream.writableFinished) return;
    const { takeWithinMs = TAKE_WITHIN_MS } = this.#timeouts;
    // Not the stream's own: Node leaves that running when its session is destroyed, and it keeps both, and their connection.
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), takeWithinMs).unref();
    stream.on('close', () => clearTimeout(timer));
  }

  /** Closes connections without requests. That pings come, or headers that never end, does not count. */
  #follow(session: ServerHttp2Session, socket: Socket): void {
    const { headersTimeoutMs, keepAliveTimeoutMs } = this.#timeouts;
    keepSession(session, socket);
    // Bodies wait for their turn to be read: those that wait must not use up the room of the one whose turn it is.
    session.setLocalWindowSize(MAX_STREAMS * STREAM_WINDOW_BYTES);
    const open = new Set<ServerHttp2Stream>();
    const chatter = new Chatter();
    connections.set(session, { socket, chatter });
    const end = (): void => {
      session.close();
      destroySoon();
    };
    let takenBack = 0;
    let inTurn = 0;
    let isFlood = false;
    const countTakenBack = (): void => {
      takenBack += 1;
      inTurn += 1;
      if (inTurn === 1) setImmediate(() => (inTurn = 0));
      if (isFlood || (takenBack < TAKEN_BACK_AT_ONCE && inTurn <= TAKEN_BACK_IN_TURN)) return;
      isFlood = true;
      pacing.stop(socket);
      // Node ends the process with an assertion if a session is destroyed while its frames are read (nodejs/node#64850).
      setImmediate(() => {
        session.destroy(new Error(FLOOD), constants.NGHTTP2_ENHANCE_YOUR_CALM);
        destroySoon();
      });
    };
    const destroySoon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
    };
    let timer = setTimeout(end, headersTimeoutMs);
    const count = (): void => pacing.count(socket);
    let seenBytes = 0;
    /**
     * After a frame that breaks the protocol Node sends a GOAWAY, reports nothing, and leaves the connection open, though it
     * neither reads nor writes any more: a ping is not sent then.
     */
    const closeIfMute = (): void => {
      if (socket.bytesRead === seenBytes || session.destroyed || isBlocked(socket)) return;
      const before = socket.bytesWritten;
      const see = (): void => void (seenBytes = socket.bytesRead);
      see();
      // Its answer is nothing new.
      if (!session.ping(see)) return;
      setImmediate(() => {
        if (socket.bytesWritten === before) socket.destroy();
      });
    };
    for (const event of ['ping', 'priority', 'remoteSettings']) session.on(event, count);
    session.on('stream', (stream: ServerHttp2Stream) => {
      count();
      open.add(stream);
      clearTimeout(timer);
      chatter.explain(MAX_HEADER_BYTES);
      stream.on('close', () => {
        open.delete(stream);
        if (stream.aborted) countTakenBack();
        // Data on its way is not handed over.
        if (!stream.readableEnded) chatter.explain(STREAM_WINDOW_BYTES);
        if (open.size === 0 && !session.closed) timer = setTimeout(end, keepAliveTimeoutMs);
      });
    });
    this.#sessions.set(session, () => {
      takenBack = Math.max(0, takenBack - TAKEN_BACK_A_SECOND);
      const waiting = [...open].reduce((bytes, { readableLength }) => bytes + readableLength, 0);
      if (chatter.isTooMuch(socket.bytesRead, socket.bytesWritten, waiting)) socket.destroy();
      closeIfMute();
    });
    this.#listening ??= setInterval(() => {
      for (const listen of this.#sessions.values()) listen();
    }, LISTEN_EVERY_MS).unref();
    socket.on('close', () => {
      clearTimeout(timer);
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#listening);
      this.#listening = undefined;
    });
  }
}
