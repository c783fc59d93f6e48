import {
  Server,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { GatewayError, systemCode } from '../core/errors.js';
import { Arrivals } from './arrivals.js';
import { rawErrorReply } from './error-reply.js';

/** How long a connection that is idle at shutdown may bring one more request, which may already be on its way. */
const MAX_GRACE_MS = 1_000;
/** Share of the drain time, so that a short one is not spent waiting. */
const GRACE_SHARE = 0.1;
const SWEEP_EVERY_MS = 50;

/** What serves those of a server's connections that speak another protocol. */
interface OtherProtocol {
  /** Asks callers to begin nothing more. */
  announceEnd(): void;
  /** Ends each connection once its requests are answered. */
  close(): void;
}

/**
 * A server that considers a connection idle only once its last reply has been taken. Node considers it idle as soon as the
 * reply has ended; closing it then would cut off slow readers.
 */
export class PatientServer extends Server {
  readonly #sockets = new Set<Socket>();
  readonly #other: OtherProtocol | undefined;
  #isDraining = false;
  /** Idle connections stay open for a while. */
  #sparesIdle = false;
  #whenGone: (() => void) | undefined;

  constructor(options: ServerOptions, serve: RequestListener, other?: OtherProtocol) {
    super(options, serve);
    this.#other = other;
    const [nodes] = this.listeners('connection') as ((socket: Socket) => void)[];
    this.removeAllListeners('connection');
    const arrivals = new Arrivals((socket) => {
      if (socket.destroyed) {
        this.#forget(socket);
        return;
      }
      // Node's own listeners come first, on the server as on the socket, also if the process that has handed it over listens:
      // another protocol finds the one there with which Node lets go of it.
      const earlier = socket.rawListeners('close') as (() => void)[];
      socket.removeAllListeners('close');
      if (nodes !== undefined) Reflect.apply(nodes, this, [socket]);
      for (const listener of earlier) socket.on('close', listener);
      socket.on('close', () => this.#forget(socket));
    });
    this.on('connection', (socket) => {
      this.#sockets.add(socket);
      arrivals.add(socket);
    });
    // Node looks at this where it accepts a connection, and has no other way to set it on a server of HTTP.
    Object.assign(this, { pauseOnConnect: true });
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#whenGone?.();
  }

  /** Whether each reply from now on is the last of its connection. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Serves connections that another process accepts and passes on, instead of listening. */
  serveHandedOver(): void {
    // What a server does once it listens: it starts to look for requests that take too long.
    this.emit('listening');
  }

  /** Serves a connection that another process has accepted. */
  takeOver(socket: Socket): void {
    // Like the connections of any HTTP server: a caller that has ended its side is answered, if Node leaves that to us.
    socket.allowHalfOpen = true;
    this.emit('connection', socket);
  }

  /**
   * Ends the service. Listening ends first; every reply from then on says that it is the last of its connection. Idle
   * connections are closed after a short grace, busy ones once their reply has been taken, and all of them after `drainMs`.
   */
  async drain(drainMs: number): Promise<void> {
    this.#isDraining = true;
    this.#sparesIdle = true;
    this.#other?.announceEnd();
    for (const socket of this.#sockets) {
      const { reply } = workOn(socket);
      if (reply?.headersSent === false) reply.shouldKeepAlive = false;
    }
    const force = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, drainMs);
    const port = this.listening ? await closePort(this, drainMs) : undefined;
    const gone = new Promise<void>((resolve) => {
      this.#whenGone = resolve;
      if (this.#sockets.size === 0) resolve();
    });
    let sweep: NodeJS.Timeout | undefined;
    const grace = setTimeout(
      () => {
        this.#sparesIdle = false;
        // Not at once: a process that was held up reads first what has arrived meanwhile.
        sweep = setInterval(() => this.closeIdleConnections(), SWEEP_EVERY_MS);
      },
      Math.min(MAX_GRACE_MS, drainMs * GRACE_SHARE),
    );
    await Promise.all([port?.ended, gone]);
    for (const timer of [grace, sweep, force]) clearTimeout(timer);
  }

  /** Called by `close` too. */
  override closeIdleConnections(): void {
    if (this.#sparesIdle) return;
    if (this.#isDraining) this.#other?.close();
    // Only Node knows which connections wait for a request, and it destroys those: these must not be told.
    const unread = [...this.#sockets].filter((socket) => socket.writableLength > 0);
    for (const socket of unread) socket.destroy = () => socket;
    super.closeIdleConnections();
    for (const socket of unread) Reflect.deleteProperty(socket, 'destroy');
  }
}

/** As many as Linux lets wait for a port, and not the 512 of Node: more at once would try again after a second, or three. */
export const MAX_WAITING = 4_096;
/** Share of the drain time, for a process whose turns take long. */
const ACCEPT_SHARE = 0.5;
/** Turns of the event loop without a new connection after which none is waiting. */
const QUIET_TURNS = 3;
/** What has connected during a longer turn is seen in the next one. */
const SHORT_TURN_MS = 1;

/**
 * Accepts everything that has connected, one connection per turn, and then closes the port: closing it resets those that wait.
 * Resolves then, to a promise of the end of all connections.
 */
export async function closePort(
  server: NetServer,
  drainMs: number,
): Promise<{ readonly ended: Promise<void> }> {
  let quietTurns = 0;
  let accepted = 0;
  const heard = (): void => {
    quietTurns = 0;
    accepted += 1;
  };
  server.on('connection', heard);
  refuseToWait(server);
  const untilMs = performance.now() + drainMs * ACCEPT_SHARE;
  let nowMs = performance.now();
  while (quietTurns < QUIET_TURNS && accepted < MAX_WAITING && nowMs < untilMs) {
    const beganMs = nowMs;
    await setImmediate();
    nowMs = performance.now();
    quietTurns = nowMs - beganMs < SHORT_TURN_MS ? quietTurns + 1 : 0;
  }
  // Not the method of an HTTP server, which takes its time before it closes the port.
  const ended = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  server.off('connection', heard);
  return { ended };
}

/**
 * From now on the system lets one connection wait, and leaves the others to try again in a second. Of all that arrive in the
 * moment between the last look and the end of the port, it resets one.
 */
function refuseToWait(server: NetServer): void {
  // Node has no public way to change it.
  const { _handle: handle } = server as { readonly _handle?: { listen?(backlog: number): number } };
  handle?.listen?.(0);
}

/** How long a caller may take to read its reply, once that is ready. */
const TAKE_WITHIN_MS = 60_000;

/**
 * Closes the connection of a caller that does not read its reply. A reply behind others of its connection has its time from
 * when they have been taken.
 */
export function mustBeTaken(res: ServerResponse): void {
  const begin = (): void => {
    const timer = setTimeout(() => res.socket?.destroy(), TAKE_WITHIN_MS).unref();
    res.on('close', () => clearTimeout(timer));
  };
  if (res.socket === null) res.once('socket', begin);
  else begin();
}

/** How long a refused caller may go on sending. */
const LINGER_MS = 10_000;

/**
 * Called when a request is refused: a body that is still arriving is read and discarded for a while. Closing at once would
 * reset the connection, and the caller would see that instead of the answer.
 */
export function readOnForAWhile(req: IncomingMessage): void {
  if (req.complete) return;
  const timer = setTimeout(() => req.socket.destroy(), LINGER_MS).unref();
  req.on('close', () => clearTimeout(timer)).resume();
}

/** How long the last answer of a connection has to arrive. */
const LAST_ANSWER_MS = 1_000;

/**
 * Answers CONNECT like any other method that a path does not have, after the replies to the requests before it. Node assumes
 * that a tunnel begins and has let go of the connection, so it is closed here.
 */
export function answerConnect(
  req: IncomingMessage,
  res: ServerResponse,
  serve: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  const { socket } = req;
  // What arrives now was meant for the tunnel. It is read all the same: closing with unread data would reset the
  // connection.
  socket.on('error', () => socket.destroy()).resume();
  const answer = (): void => {
    const { reply } = workOn(socket);
    if (reply !== undefined) {
      reply.on('close', answer);
      return;
    }
    if (!socket.writable) return;
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.on('finish', () => endSoon(socket));
    serve(req, res);
  };
  answer();
}

/** Connections on which nothing more can be read. Each further byte would be reported as one more error. */
const unreadable = new WeakSet<Socket>();

/**
 * Answers what is not a readable HTTP request, in the shape of every other error, and closes the connection. Replies to
 * earlier requests go first.
 */
export function answerBadHttp(error: Error, socket: Socket): void {
  if (unreadable.has(socket)) {
    if (socket.readableEnded) socket.end();
    return;
  }
  unreadable.add(socket);
  const hasCome = arrivalOn(socket);
  const answer = (): void => {
    const { reply, request } = workOn(socket);
    if (systemCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT' && hasCome()) {
      unreadable.delete(socket);
      return;
    }
    if (reply?.req.complete === true) {
      reply.on('close', answer);
      return;
    }
    const isGone = !socket.writable || systemCode(error) === 'ECONNRESET';
    // A request may have been answered before all of it arrived.
    const isAnswered = reply === undefined ? request?.complete === false : reply.headersSent;
    if (isGone || isAnswered) socket.destroySoon();
    else endWithError(socket, error);
  };
  answer();
}

/** Reports whether the request that a connection is waiting for, or for the rest of, has since arrived completely. */
function arrivalOn(socket: Socket): () => boolean {
  const { request: last } = workOn(socket);
  if (last?.complete === false) return () => last.complete;
  return () => {
    const { request } = workOn(socket);
    return request !== last && request?.complete === true;
  };
}

/** What Node keeps on a socket under no public name, and checks itself before it answers unreadable requests. */
interface WorkingSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/** The reply that a connection is busy with, and the last request whose headers arrived. */
function workOn({ _httpMessage: reply, parser }: WorkingSocket) {
  return { reply: reply ?? undefined, request: parser?.incoming ?? undefined };
}

function endWithError(socket: Socket, error: Error): void {
  const code = systemCode(error);
  const reply =
    code === 'HPE_HEADER_OVERFLOW'
      ? new GatewayError('headers_too_large', 'The headers are too large.')
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new GatewayError('request_timeout', 'The request did not arrive in time.')
        : new GatewayError('invalid_request', 'The request is not valid HTTP.');
  endSoon(socket, rawErrorReply(reply));
}

/** Ends a connection. A caller that never closes its own side would hold it forever. */
function endSoon(socket: Socket, last = ''): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), LAST_ANSWER_MS).unref();
  socket.on('close', () => clearTimeout(timer));
}
