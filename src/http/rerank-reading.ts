import { openBody, type OpenBody } from '../bytes/index.js';
import { GatewayError } from '../core/errors.js';
import type { Caller } from '../gateway/admission.js';
import { readIn, type IngressDialect, type ParsedRerank } from '../ingress/dialect.js';
import { dialectOf, listsAt, type IngressRoute } from '../ingress/index.js';
import { IngressRequest, type RequestHeaders } from '../ingress/read.js';

/** What a request is read with. */
export interface Reading {
  readonly route: IngressRoute;
  readonly caller: Caller;
  /** What the headers suggest. */
  readonly dialect: IngressDialect;
  /** Learns the dialect before the request is parsed: a refusal is written in it, too. */
  readonly onDialect: (dialect: IngressDialect) => void;
  /** Judges the key by what the store knows of it now. */
  readonly judgeFresh: () => Promise<void>;
  readonly headers: RequestHeaders;
  readonly maxDocuments: number;
}

/**
 * The request that a body means, in the dialect that path, headers, body and key suggest. A request that is refused is read
 * again if its key has been given another form since this node read the key.
 */
export function readRerank(bytes: Buffer, reading: Reading): ParsedRerank | Promise<ParsedRerank> {
  const read = () => readOnce(bytes, reading);
  const readAgain = async (error: unknown): Promise<ParsedRerank> => {
    await unlessFormChanged(reading, error);
    return read();
  };
  try {
    const parsed = read();
    return 'then' in parsed ? parsed.catch(readAgain) : parsed;
  } catch (error) {
    return readAgain(error);
  }
}

/** A large body is opened, and its documents are found, so that others get their turn in between. */
function readOnce(bytes: Buffer, reading: Reading): ParsedRerank | Promise<ParsedRerank> {
  const { route, caller, maxDocuments } = reading;
  const body = openBody(bytes, listsAt(route, formOf(caller)), maxDocuments);
  return body instanceof Promise
    ? body.then((opened) => requestIn(opened, reading))
    : requestIn(body, reading);
}

function requestIn(body: OpenBody, reading: Reading): ParsedRerank | Promise<ParsedRerank> {
  const { route, caller, headers, maxDocuments } = reading;
  const request = new IngressRequest(body, headers, route.params, maxDocuments);
  const dialect = dialectOf(route, reading.dialect, request, formOf(caller));
  reading.onDialect(dialect);
  return readIn(dialect, request);
}

/** The form that the key is set to, for clients that cannot be told apart. */
function formOf({ credential }: Caller): string | undefined {
  return credential.token.policy.dialect;
}

/**
 * Returns if the key's form has changed, which may be why a request was refused.
 * @throws `error` otherwise.
 */
async function unlessFormChanged({ caller, judgeFresh }: Reading, error: unknown): Promise<void> {
  const form = formOf(caller);
  if (error instanceof GatewayError) await judgeFresh();
  if (formOf(caller) === form) throw error;
}
