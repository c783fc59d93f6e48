import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

/** Where Node tells of each request. An agent of ours would replace the exporters' own, and the certificates of their variables. */
const REQUESTS = 'http.client.request.start';
/** An answer has a few words. */
const MAX_BYTES = 16_384;
const MAX_MS = 10_000;
/** Of status 100 and others that come before an answer. */
const MAX_INTERIM = 8;

/**
 * Ends requests of OpenTelemetry's exporters whose answer is longer, or takes longer, than any has to: the exporters take
 * 4 MiB in pieces of any size, each an object, and wait while anything arrives. Returns how to stop.
 */
export function boundAnswers(maxMs = MAX_MS): () => void {
  const bound = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    if (String(request.getHeader('user-agent')).startsWith('OTel-OTLP-Exporter')) {
      boundAnswer(request, maxMs);
    }
  };
  subscribe(REQUESTS, bound);
  return () => unsubscribe(REQUESTS, bound);
}

function boundAnswer(request: ClientRequest, maxMs: number): void {
  const end = (why: string): void => void request.destroy(new Error(why));
  const timer = setTimeout(() => end('no complete answer in time'), maxMs).unref();
  let interim = 0;
  let bytes = 0;
  request.on('close', () => clearTimeout(timer));
  request.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM) end('too many answers of status 1xx');
  });
  request.on('response', (response: IncomingMessage) => {
    response.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > MAX_BYTES) end('the answer is too large');
    });
  });
}
