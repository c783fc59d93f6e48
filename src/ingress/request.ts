import type { ListPlace, OpenBody } from '../bytes/index.js';
import { GatewayError } from '../core/errors.js';
import { isRecord } from '../core/records.js';
import { arePlain } from './plain-members.js';

/** The headers of a request, as Node hands them over: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
export type Members = Readonly<Record<string, unknown>>;

/**
 * Values that are written back, in a reply or to a provider, are written recursively: deeper ones would exhaust the stack.
 * The limit on values allows ten thousand documents with fifty members each.
 */
const LIMITS = { depth: 256, values: 500_000, members: 50_000 };

/** A request with its body, parsed only as far as its dialect needs. */
export class IngressRequest {
  readonly body: OpenBody;
  readonly headers: RequestHeaders;
  readonly maxDocuments: number;
  readonly #params: Readonly<Record<string, string>>;
  #members: Members | undefined;
  #value: Members | undefined;
  #isPlain: boolean | undefined;

  constructor(
    body: OpenBody,
    headers: RequestHeaders,
    params: Readonly<Record<string, string>>,
    maxDocuments: number,
  ) {
    this.body = body;
    this.headers = headers;
    this.#params = params;
    this.maxDocuments = maxDocuments;
    if (!body.isUtf8) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  }

  /** A parameter of the path, decoded. */
  param(name: string): string {
    try {
      return decodeURIComponent(this.#params[name] ?? '');
    } catch (error) {
      throw new GatewayError('invalid_request', 'The path is not valid.', { cause: error });
    }
  }

  /** Which list the body has, if it need not be parsed. */
  get list(): ListPlace | undefined {
    return this.body.list?.place;
  }

  /** The members of the body; without the list if that need not be parsed. */
  members(): Members {
    this.#members ??= objectOf(this.body, this.body.members(LIMITS));
    return this.#members;
  }

  /** All members, for a list that has to be parsed. */
  value(): Members {
    if (this.list === undefined) return this.members();
    this.#value ??= objectOf(this.body, this.body.value(LIMITS));
    return this.#value;
  }

  /** Whether its members are the usual few; checked once. */
  isPlain(): boolean {
    this.#isPlain ??= arePlain(this.members());
    return this.#isPlain;
  }
}

const EXCESSES = {
  values: `The body has more than ${LIMITS.values} JSON values`,
  members: `The body has an object with more than ${LIMITS.members} members`,
};

function objectOf(body: OpenBody, parsed: ReturnType<OpenBody['value']>): Members {
  switch (parsed.kind) {
    case 'value':
      if (isRecord(parsed.value)) return parsed.value;
      throw new GatewayError('invalid_request', 'The body must be a JSON object.');
    case 'invalid': {
      if (body.bytes.length === 0) {
        throw new GatewayError('invalid_json', 'The body is empty. Send a JSON object.');
      }
      const { cause, place } = parsed;
      const message = `The body is not valid JSON${place === '' ? '' : ` (${place})`}.`;
      throw new GatewayError('invalid_json', message, { cause });
    }
    case 'excess': {
      const { excess } = parsed;
      if (excess === 'depth') {
        throw new GatewayError(
          'invalid_json',
          `The body is nested more than ${LIMITS.depth} deep.`,
        );
      }
      throw new GatewayError(
        'payload_too_large',
        `${EXCESSES[excess]}, the limit regardless of its size.`,
      );
    }
    case 'unusual':
      throw new GatewayError(
        'payload_too_large',
        `The body is larger than ${parsed.mostBytes} bytes, the limit for an unusual one: ${parsed.part}.`,
      );
  }
}
