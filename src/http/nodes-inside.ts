import { IncomingMessage, Server, ServerResponse, type RequestListener } from 'node:http';
import type { Http2Session } from 'node:http2';
import { Server as NetServer, Socket } from 'node:net';
import type { Express } from 'express';
import { unparsed } from './unparsed.js';

/**
 * What the server relies on that Node does not document. `nodesInside` tries it once at the start; a version of Node that works
 * in another way gets the plain way instead. `npm run test:nodes` tries it on each version of Node that is supported.
 */
export interface Inside {
  /**
   * The app for requests and responses of these classes. They are born with the prototypes that Express sets on each; to change
   * them takes away what the engine has learned of their shape. CPU without it: 2.10 × with 10 documents, 1.66 × with 100
   * (prose). HTTP/2 has no other way: Express knows the classes of HTTP/1 alone.
   */
  readonly bornFor: (app: Express, request: Class, response: Class) => RequestListener;
  /**
   * What a connection is busy with. Errors of a connection are answered behind the replies to earlier requests, and the replies
   * under way when the server stops say that they are the last.
   */
  readonly workOn: (socket: Socket) => Work;
  /**
   * Takes over a server's connections: what it returns begins to serve one, which may be later. Connections that come together
   * are all accepted before the first is served (see `Arrivals`).
   */
  readonly servingOf: (server: NetServer) => ((socket: Socket) => void) | undefined;
  /**
   * Makes the server forget a connection as if it had closed, and leaves it open: another protocol takes it over. Without it,
   * HTTP/2 is not served.
   */
  readonly letGo: ((socket: Socket) => void) | undefined;
  /**
   * Has the parser of a connection stop behind the next head, with an error that `putBack` knows, and returns what takes that
   * back. Without it, up to 64 KiB of requests are parsed in one turn.
   */
  readonly breakOff: (socket: Socket) => () => void;
}

interface Class {
  readonly prototype: object;
}

/** The reply that a connection is busy with, and the last request whose head has arrived. */
export interface Work {
  readonly reply: ServerResponse | undefined;
  readonly request: IncomingMessage | undefined;
}

/** The ways that are left without Node's inside. */
export const PLAIN: Inside = {
  bornFor: (app) => app,
  workOn: () => ({ reply: undefined, request: undefined }),
  servingOf: () => undefined,
  letGo: undefined,
  breakOff: () => () => undefined,
};

let found: Inside | undefined;

/** What works in this version of Node. */
export function nodesInside(): Inside {
  found ??= tried();
  return found;
}

/** Serves one request from memory, and looks whether everything is where it is expected; takes about a millisecond. */
function tried(): Inside {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse<Request> {}
  const server = new Server({ IncomingMessage: Request, ServerResponse: Response });
  const seen: { req?: Request; res?: Response } = {};
  server.on('request', (req, res) => Object.assign(seen, { req, res }));
  const [socket, idle, broken] = [new Socket(), new Socket(), new Socket()];
  const serve = servingOf(server);
  for (const each of [socket, idle, broken]) serve?.(each);
  socket.emit('data', Buffer.from(ASKS));
  const { req, res } = seen;
  const { reply, request } = workOn(socket);
  letGo(idle);
  const isForgotten = 'parser' in idle && idle.parser === null;
  let rest: Buffer | undefined;
  server.on('clientError', (error) => (rest = unparsed(error, 'HPE_PAUSED')));
  breakOff(broken);
  broken.emit('data', Buffer.from(ASKS + ASKS));
  // Their results do not count.
  for (const made of [req, res, socket, broken]) made?.on('error', () => undefined).destroy();
  if (req === undefined || res === undefined) return PLAIN;
  return {
    bornFor: req instanceof Request && res instanceof Response ? bornFor : PLAIN.bornFor,
    workOn: reply === res && request === req ? workOn : PLAIN.workOn,
    servingOf,
    letGo: isForgotten ? letGo : PLAIN.letGo,
    breakOff: String(rest) === ASKS ? breakOff : PLAIN.breakOff,
  };
}

const ASKS = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

function bornFor(app: Express, request: Class, response: Class): RequestListener {
  const twin = Object.create(app, {
    request: { value: standIn(request, app.request) },
    response: { value: standIn(response, app.response) },
  }) as { handle: RequestListener };
  // The app itself, when called, would handle the request as its own.
  return (req, res) => twin.handle(req, res);
}

/** The prototype of a class, with a copy of Express's methods between it and what it extends. */
function standIn({ prototype }: Class, expressOwn: object): object {
  const methods = Object.getPrototypeOf(expressOwn) as object;
  const base = Object.getPrototypeOf(prototype) as object;
  Object.setPrototypeOf(
    prototype,
    Object.create(base, Object.getOwnPropertyDescriptors(methods)) as object,
  );
  return Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(expressOwn));
}

/** Node checks the same before it answers what is not HTTP. */
interface WorkingSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly _paused?: boolean;
  readonly parser?: {
    readonly incoming?: IncomingMessage | null;
    onIncoming?: ((...head: unknown[]) => number) | null;
    resume(): void;
  } | null;
}

function workOn({ _httpMessage: reply, parser }: WorkingSocket): Work {
  return { reply: reply ?? undefined, request: parser?.incoming ?? undefined };
}

function servingOf(server: NetServer): ((socket: Socket) => void) | undefined {
  const [nodes, ...others] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (nodes === undefined || others.length > 0) return undefined;
  server.removeAllListeners('connection');
  // Node looks at this where it accepts a connection, and has no other way to set it on a server of HTTP.
  Object.assign(server, { pauseOnConnect: true });
  return (socket) => {
    // Node's own listeners come first, also if the process that has handed it over listens: `letGo` finds the one there.
    const earlier = socket.rawListeners('close') as (() => void)[];
    socket.removeAllListeners('close');
    Reflect.apply(nodes, server, [socket]);
    for (const listener of earlier) socket.on('close', listener);
  };
}

function letGo(socket: Socket): void {
  const [release] = socket.listeners('close');
  if (release === undefined) return;
  Reflect.apply(release, socket, []);
  socket.off('close', release as () => void);
  for (const event of ['data', 'end', 'drain', 'error', 'timeout', 'pause', 'resume']) {
    socket.removeAllListeners(event);
  }
  socket.pause();
}

/** What llhttp takes for a pause, in place of what Node's listener says of the body. */
const PAUSED = 21;

function breakOff({ parser }: WorkingSocket): () => void {
  const begin = parser?.onIncoming;
  if (!parser || !begin) return () => undefined;
  const begun: typeof begin = (...head) => begin(...head) || PAUSED;
  parser.onIncoming = begun;
  return () => {
    // It may be another connection's by now.
    if (parser.onIncoming === begun) parser.onIncoming = begin;
  };
}

/** What held connections have brought that is not parsed yet. */
const left = new WeakMap<Socket, Buffer>();

/** Keeps what a parser that was broken off has left, if an error says so, until the connection is read again. */
export function putBack(error: Error, socket: WorkingSocket): boolean {
  const rest = unparsed(error, 'HPE_PAUSED');
  if (rest === undefined || !isHeld(socket)) return false;
  left.set(socket, rest);
  socket.parser?.resume();
  return true;
}

/**
 * Makes a server look for requests that take too long, as it does once it listens. Those that another process accepts for it
 * are closed like others.
 */
export function watchTimes(server: Server): void {
  server.emit('listening');
}

/** What a server closes of its idle connections, without these: Node destroys them, whatever they still have to send. */
export function closeIdleBut(unread: readonly Socket[], closeIdle: () => void): void {
  for (const socket of unread) socket.destroy = () => socket;
  closeIdle();
  for (const socket of unread) Reflect.deleteProperty(socket, 'destroy');
}

/**
 * From now on the system lets one connection wait, and leaves the others to try again in a second. Of all that arrive in the
 * moment between the last look and the end of the port, it resets one.
 */
export function refuseToWait(server: NetServer): void {
  handleOf(server)?.listen?.(0);
}

/** Stops reading a connection of HTTP/1. Node cannot start reading again meanwhile; what it asks for is done afterwards. */
export function holdStream(socket: WorkingSocket): () => void {
  const handle = handleOf(socket);
  if (handle === undefined) return () => undefined;
  let isOver = false;
  const goOn = (): void => {
    Reflect.deleteProperty(handle, 'readStart');
    const rest = left.get(socket);
    left.delete(socket);
    // The parser of a connection that has closed may be another's by now.
    if (rest !== undefined && socket.parser) socket.emit('data', rest);
    if (handle.reading === true && !socket.destroyed) handle.readStart?.();
  };
  handle.readStop?.();
  handle.readStart = () => {
    if (isOver) goOn();
    return 0;
  };
  return () => {
    isOver = true;
    // Replies that the caller does not take keep Node from reading; it begins again when they are taken.
    if (socket._paused !== true) goOn();
  };
}

function isHeld(socket: Socket): boolean {
  return Object.hasOwn(handleOf(socket) ?? {}, 'readStart');
}

/** Stops reading a connection that a session of HTTP/2 reads: it knows no way but that of the system. */
export function holdHandle(socket: Socket): () => void {
  const handle = handleOf(socket);
  handle?.readStop?.();
  return () => {
    if (!socket.destroyed) handle?.readStart?.();
  };
}

/** Whether a session of HTTP/2 has replies that wait for their caller to read. */
export function isBlocked(socket: Socket): boolean {
  return handleOf(socket)?.writeQueueSize !== 0;
}

const kept = new Set<object>();

/**
 * Keeps what Node has of a session of HTTP/2 outside the heap until its last streams are gone, a turn after its connection. Node
 * ends the process with an assertion (`current_nghttp2_memory_`) if the collector comes between. Returns whether it is found.
 */
export function keepSession(session: Http2Session, socket: Socket): boolean {
  const place = Object.getOwnPropertySymbols(session).find(
    ({ description }) => description === 'kHandle',
  );
  const inside: unknown = place && Reflect.get(session, place);
  if (typeof inside !== 'object' || inside === null) return false;
  kept.add(inside);
  // A listener that stays would keep it forever: settings that are not acknowledged keep their session, and that its socket.
  socket.once('close', () => setImmediate(() => kept.delete(inside)));
  return true;
}

const { port1: nowhere } = new MessageChannel();
nowhere.close();

/**
 * Frees a buffer that nobody reads any more, if it has its memory alone: what is sent to a closed port is gone at once. The collector
 * comes only when something else is allocated. RSS after 480 aborted bodies of 12 MiB: 174 to 188 MiB, 337 to 351 without it.
 */
export function freeAtOnce(buffer: Buffer): void {
  if (buffer.buffer.byteLength !== buffer.length) return;
  nowhere.postMessage(undefined, [buffer.buffer as ArrayBuffer]);
}

interface Handle {
  readonly reading?: boolean;
  listen?(backlog: number): number;
  readStop?(): void;
  readStart?(): number;
  readonly writeQueueSize?: number;
}

function handleOf(owner: object): Handle | undefined {
  return (owner as { readonly _handle?: Handle | null })._handle ?? undefined;
}
