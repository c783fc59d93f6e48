import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { PatientServer } from './connections.js';
import { Http2Connections, Http2Request, Http2Response } from './http2.js';
import { afterPreface } from './http2-preface.js';
import { answerBadHttp, answerConnect } from './last-answers.js';
import { holdStream, nodesInside, putBack } from './nodes-inside.js';
import { FEW_PIECES, Pacing, SMALL_BYTES } from './pacing.js';

export interface ServerOptions {
  /** Whether connections that begin with HTTP/2 are served. */
  readonly http2: boolean;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

/** Serves the app on the connections of a port: HTTP/1 and, where they begin with it, HTTP/2. */
export function createHttpServer(
  app: Express,
  options: ServerOptions,
  inside = nodesInside(),
): PatientServer {
  const pacing = new Pacing((socket) => {
    const goOn = inside.breakOff(socket);
    const release = holdStream(socket);
    return () => {
      goOn();
      release();
    };
  });
  let last: Socket | undefined;
  /**
   * A request behind others of its connection has no connection to answer on yet, unless they were answered at once, as Node
   * lets them be that have a body or many headers: then it follows directly.
   */
  const paced = (serve: RequestListener) => (req: IncomingMessage, res: ServerResponse) => {
    const follows = req.socket === last;
    last = req.socket;
    if (res.socket === null || follows) pacing.begin(req.socket, () => serve(req, res));
    else serve(req, res);
  };
  const serveWith = (handle: RequestListener) => (req: IncomingMessage, res: ServerResponse) => {
    // What arrives on a connection after its last answer is not served: its caller would never know.
    if (!req.socket.writable) {
      req.resume();
      return;
    }
    // A connection that stayed open while the server closes would be closed under the caller's next request.
    if (server.isDraining) res.shouldKeepAlive = false;
    if (req.url?.startsWith('/') !== true) req.url = pathOfAddress(req.url ?? '');
    handle(req, res);
  };
  class AppRequest extends IncomingMessage {
    #small = 0;

    /** Node hands over the body here. */
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk !== null && chunk.length < SMALL_BYTES && ++this.#small > FEW_PIECES) {
        pacing.countSmall(this.socket);
      }
      return super.push(chunk, encoding);
    }
  }
  class AppResponse<
    Request extends IncomingMessage = IncomingMessage,
  > extends ServerResponse<Request> {}
  class AppRequest2 extends Http2Request {}
  class AppResponse2 extends Http2Response {}
  const serve = paced(serveWith(inside.bornFor(app, AppRequest, AppResponse)));
  const http2 =
    options.http2 && inside.letGo !== undefined
      ? new Http2Connections(
          options,
          serveWith(inside.bornFor(app, AppRequest2, AppResponse2)),
          AppRequest2,
          AppResponse2,
        )
      : undefined;
  const server: PatientServer = new PatientServer(
    {
      IncomingMessage: AppRequest,
      ServerResponse: AppResponse,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.headersTimeoutMs + options.bodyTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // Node would answer with a bare 400 of its own; no route here depends on the host.
      requireHostHeader: false,
    },
    serve,
    http2,
    inside,
  );
  // An unknown expectation does not get a bare 417 either: it may be ignored.
  server.on('checkExpectation', serve);
  // Without a listener Node would close the connection and say nothing.
  server.on('connect', (req: IncomingMessage) => {
    answerConnect(req, new AppResponse(req), serve, inside);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    if (putBack(error, socket)) return;
    const rest = http2 === undefined ? undefined : afterPreface(error, socket);
    if (rest === undefined) answerBadHttp(error, socket, inside);
    else http2?.take(socket, rest);
  });
  return server;
}

/** The path and query of a target that does not begin with them: Express reports no error if it finds no path in one. */
function pathOfAddress(target: string): string {
  // A client that takes this for a proxy sends the whole address; CONNECT has a host and a port.
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
