import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError, systemCode } from '../core/errors.js';
import { rawErrorReply } from './error-reply.js';
import type { Inside } from './nodes-inside.js';

/** How long the last answer of a connection has to arrive. */
const LAST_ANSWER_MS = 1_000;

/**
 * Answers CONNECT like any other method that a path does not have, after the replies to the requests before it. Node assumes
 * that a tunnel begins and has let go of the connection, so it is closed here.
 */
export function answerConnect(
  req: IncomingMessage,
  res: ServerResponse,
  serve: RequestListener,
  { workOn }: Pick<Inside, 'workOn'>,
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
export function answerBadHttp(
  error: Error,
  socket: Socket,
  { workOn }: Pick<Inside, 'workOn'>,
): void {
  if (unreadable.has(socket)) {
    if (socket.readableEnded) socket.end();
    return;
  }
  unreadable.add(socket);
  const hasCome = arrivalOn(socket, workOn);
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
function arrivalOn(socket: Socket, workOn: Inside['workOn']): () => boolean {
  const { request: last } = workOn(socket);
  if (last?.complete === false) return () => last.complete;
  return () => {
    const { request } = workOn(socket);
    return request !== last && request?.complete === true;
  };
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
