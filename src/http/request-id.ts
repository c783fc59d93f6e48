import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a caller's id must look like to be kept: it goes into logs and headers as it is. */
const SANE = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** Random per process, so that ids are unique across the fleet without needing randomness on every request. */
const PREFIX = `rr_${randomBytes(12).toString('hex')}`;
let issued = 0;

/** A new id: unique across the fleet, safe in JSON and in headers. */
export function newId(): string {
  issued += 1;
  return `${PREFIX}${issued.toString(36)}`;
}

/** The id that the caller sent, if it is sane. */
export function requestIdOf(req: IncomingMessage): string | undefined {
  const header = req.headers['x-request-id'];
  const id = Array.isArray(header) ? header[0] : header;
  return id !== undefined && SANE.test(id) ? id : undefined;
}
