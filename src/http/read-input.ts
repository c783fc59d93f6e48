import type { Request } from 'express';
import { GatewayError } from '../core/errors.js';
import { readFormBody, readJsonBody } from './body.js';
import type { Load, Place } from './load.js';

/** For a body of at most that size, which any line delivers in a second. */
const BODY_WITHIN_MS = 5_000;

/** Refuses what is not valid, and leaves out a byte-order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The members of a form, each once. */
export async function readForm(
  req: Request,
  mostBytes: number,
  load: Load,
  place: Place,
): Promise<unknown> {
  const bytes = await readFormBody(req, mostBytes, load, place, BODY_WITHIN_MS);
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
}

export async function readBody(
  req: Request,
  mostBytes: number,
  load: Load,
  place: ReturnType<Load['enter']>,
): Promise<unknown> {
  const bytes = await readJsonBody(req, mostBytes, load, place, BODY_WITHIN_MS);
  if (bytes.length === 0) return {};
  // A body without a type is read elsewhere, but a page of another site can send one without a preflight.
  if (req.headers['content-type'] === undefined) {
    throw new GatewayError(
      'unsupported_media_type',
      'The body must be JSON: send the header Content-Type: application/json.',
    );
  }
  try {
    return JSON.parse(UTF8.decode(bytes)) as unknown;
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid JSON.', { cause: error });
  }
}
