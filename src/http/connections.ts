import {
  Server,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Scope } from '../gateway/scope.js';
import { Arrivals } from './arrivals.js';
import {
  closeIdleBut,
  nodesInside,
  refuseToWait,
  watchTimes,
  type Inside,
} from './nodes-inside.js';

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
  readonly #inside: Inside;
  #isDraining = false;
  /** Idle connections stay open for a while. */
  #sparesIdle = false;
  #whenGone: (() => void) | undefined;

  constructor(
    options: ServerOptions,
    serve: RequestListener,
    other?: OtherProtocol,
    inside = nodesInside(),
  ) {
    super(options, serve);
    this.#other = other;
    this.#inside = inside;
    const begin = inside.servingOf(this);
    const arrivals =
      begin &&
      new Arrivals((socket) => {
        if (socket.destroyed) this.#forget(socket);
        else begin(socket);
      });
    this.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#forget(socket));
      arrivals?.add(socket);
    });
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size === 0) this.#whenGone?.();
  }

  /** Whether each further reply is the last of its connection. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Serves connections that another process accepts and passes on, instead of listening. */
  serveHandedOver(): void {
    watchTimes(this);
  }

  /** Serves a connection that another process has accepted. */
  takeOver(socket: Socket): void {
    // Like the connections of any HTTP server: a caller that has ended its side is answered, if Node leaves that to us.
    socket.allowHalfOpen = true;
    // Node reads it from the beginning: it may break before its turn comes, when nobody listens yet.
    socket.on('error', () => undefined);
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
      const { reply } = this.#inside.workOn(socket);
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
    // Only Node knows which connections wait for a request.
    const unread = [...this.#sockets].filter((socket) => socket.writableLength > 0);
    closeIdleBut(unread, () => super.closeIdleConnections());
  }
}

/** As many as Linux lets wait for a port, and not the 512 of Node: more at once would try again after a second, or three. */
export const MAX_WAITING = 4_096;
/** Share of the drain time, for a process whose turns take long. */
const ACCEPT_SHARE = 0.5;
/** Turns of the event loop without a new connection after which none is waiting. */
const QUIET_TURNS = 3;
/** Connections made during a longer turn are seen in the next one. */
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
  // A reply of HTTP/2 whose stream has gone has none, and closes no more.
  else if ((res.socket as Socket | undefined) !== undefined) begin();
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

/** Ends a request's scope when its caller leaves; returns a function that stops watching. */
export function endWithCaller(scope: Scope, req: IncomingMessage, res: ServerResponse): () => void {
  const onClose = (): void => {
    if (!res.writableFinished) scope.end('client_gone');
  };
  res.on('close', onClose);
  // A reply that queues behind another on its connection is not told when the connection closes.
  const pipelinedOn = res.socket === null ? req.socket : undefined;
  pipelinedOn?.on('close', onClose);
  return () => pipelinedOn?.off('close', onClose);
}
