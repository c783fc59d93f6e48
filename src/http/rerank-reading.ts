import { GatewayError } from '../core/errors.js';
import { MANY_DOCUMENTS } from '../bytes/steps.js';
import { nextTurn } from '../bytes/turns.js';
import type { Caller } from '../gateway/admission.js';
import type { Scope } from '../gateway/scope.js';
import type { IngressDialect, ParsedRerank } from '../ingress/dialect.js';
import { dialectOf, keptOf, listsAt, type IngressRoute } from '../ingress/index.js';
import type { IngressRequest } from '../ingress/read.js';

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
  readonly scope: Scope;
}

/**
 * The request that a body means, in the dialect that path, headers, body and key suggest. A request that is refused is read
 * again if its key has been given another form since this node read the key.
 */
export function readRerank(
  request: IngressRequest,
  reading: Reading,
): ParsedRerank | Promise<ParsedRerank> {
  const { route, caller, scope } = reading;
  const parse = (): ParsedRerank => {
    const dialect = dialectOf(route, reading.dialect, request, formOf(caller));
    reading.onDialect(dialect);
    return dialect.parse(request);
  };
  const lists = () => listsAt(route, formOf(caller));
  const read = () => readInTurns(request, lists, parse, scope);
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

/** Reads a request; a large one so that others get their turn in between, and it is abandoned when its scope ends. */
function readInTurns(
  request: IngressRequest,
  lists: () => ReturnType<typeof listsAt>,
  parse: () => ParsedRerank,
  scope: Scope,
): ParsedRerank | Promise<ParsedRerank> {
  const pause = async (): Promise<void> => {
    await nextTurn();
    scope.throwIfEnded();
  };
  const reading = request.read(lists, parse, pause, keptOf);
  return 'then' in reading ? prepared(reading, pause) : reading;
}

async function prepared(
  reading: Promise<ParsedRerank>,
  pause: () => Promise<void>,
): Promise<ParsedRerank> {
  const parsed = await reading;
  await parsed.documents.prepare(pause, parsed.returnDocuments);
  if (parsed.documents.count > MANY_DOCUMENTS) await pause();
  return parsed;
}
