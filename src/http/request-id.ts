import type { IncomingMessage } from 'node:http';
import { withoutKeys } from '../core/secret.js';

/** What a caller's id must look like to be kept: it goes into logs and headers as it is. */
const SANE = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** The id that the caller sent, if it is sane and not a key. */
export function requestIdOf(req: IncomingMessage): string | undefined {
  const header = req.headers['x-request-id'];
  const id = Array.isArray(header) ? header[0] : header;
  return id !== undefined && SANE.test(id) && withoutKeys(id) === id ? id : undefined;
}

/** The trace that the caller says the request belongs to; two such headers are none. */
export function traceparentOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}
