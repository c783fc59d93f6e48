import type { RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
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

/** Calls the management API at `url` as the owner of the access token. `advice` is for when nothing answers there. */
export function createApiClient(
  url: string,
  accessToken: Secret | undefined,
  advice = '',
): ApiClient {
  const base = url.replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    { query = {}, body, cookie }: ApiRequest,
  ): Promise<{ readonly data: Json; readonly cookies: readonly string[] }> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const search = parameters.size === 0 ? '' : `?${parameters.toString()}`;
    const written = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      'user-agent': 'rerank-gateway',
      ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken.reveal()}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      // Node gives the length of a DELETE's body only when it is told to.
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(written) }),
    };
    let answer: Answer;
    try {
      answer = await ask(
        `${base}${path}${search}`,
        { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) },
        written,
      );
    } catch (error) {
      throw new GatewayUnreachableError(
        `The gateway at ${base} cannot be reached: ${why(error)}.${advice}`,
        {
          cause: error,
        },
      );
    }
    const { status, cookies } = answer;
    const reply = parse(answer.text);
    if (status < 300 && reply.maybe('success').value === true) {
      return { data: reply.field('data'), cookies };
    }
    throw refusal(base, status, reply);
  }

  return {
    url: base,
    call: async (method, path, request = {}) => (await send(method, path, request)).data,
    async callForCookie(path, body) {
      const { cookies } = await send('POST', path, { body });
      return cookies.map((cookie) => cookie.replace(/;.*$/, '')).join('; ');
    },
  };
}

interface Answer {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly text: string;
}

/** One request. Redirects are not followed: they would carry the token, or the password, elsewhere. `fetch` loads far more. */
async function ask(url: string, options: RequestOptions, body: string): Promise<Answer> {
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const { statusCode: status = 0, headers } = response;
      const answered = (read: string): void => {
        resolve({ status, cookies: headers['set-cookie'] ?? [], text: read });
      };
      text(response).then(answered, reject);
    });
    sent.on('error', reject).end(body);
  });
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

/** The message of a network error; of one for each address of a host, the code alone. */
function why(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return 'no answer';
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}
