import { ERRORS, GatewayError, type ErrorCode } from '../core/errors.js';
import { Json } from '../core/json.js';
import type { Secret } from '../core/secret.js';

/** The gateway cannot be reached, or what answers is not a gateway. */
export class GatewayUnreachableError extends Error {
  override readonly name = 'GatewayUnreachableError';
}

export interface ApiRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: object;
  readonly cookie?: string;
}

export interface ApiClient {
  readonly url: string;
  /** Resolves to `data`; a refusal is thrown in the gateway's words. */
  call(method: string, path: string, request?: ApiRequest): Promise<Json>;
  /** Resolves to the cookies that the reply sets. */
  callForCookie(path: string, body: object): Promise<string>;
}

const TIMEOUT_MS = 60_000;

/** Calls the management API at `url` as the owner of the access token. */
export function createApiClient(url: string, accessToken: Secret | undefined): ApiClient {
  const base = url.replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    { query = {}, body, cookie }: ApiRequest,
  ): Promise<{ readonly data: Json; readonly headers: Headers }> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const search = parameters.size === 0 ? '' : `?${parameters.toString()}`;
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}${path}${search}`, {
        method,
        headers: {
          ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken.reveal()}` }),
          ...(cookie === undefined ? {} : { cookie }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // A redirect would carry the token, or the password, elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (error) {
      throw new GatewayUnreachableError(
        `The gateway at ${base} cannot be reached: ${why(error)}.`,
        {
          cause: error,
        },
      );
    }
    const reply = parse(text);
    if (response.ok && reply.maybe('success').value === true) {
      return { data: reply.field('data'), headers: response.headers };
    }
    throw refusal(base, response.status, reply);
  }

  return {
    url: base,
    call: async (method, path, request = {}) => (await send(method, path, request)).data,
    async callForCookie(path, body) {
      const { headers } = await send('POST', path, { body });
      return headers
        .getSetCookie()
        .map((cookie) => cookie.replace(/;.*$/, ''))
        .join('; ');
    },
  };
}

function parse(text: string): Json {
  try {
    return new Json(JSON.parse(text));
  } catch {
    // Not JSON, so not a gateway: the caller says so.
    return new Json(undefined);
  }
}

function refusal(base: string, status: number, reply: Json): Error {
  const code = reply.maybe('code').optionalString();
  const message = reply.maybe('message').optionalString();
  if (code === undefined || message === undefined) {
    return new GatewayUnreachableError(
      `${base} answers, but is not a rerank gateway (status ${status}).`,
    );
  }
  if (code === 'store_unavailable') return new GatewayUnreachableError(message);
  return isErrorCode(code) ? new GatewayError(code, message) : new Error(message);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** The message of a network error, which fetch hides behind its own. */
function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
