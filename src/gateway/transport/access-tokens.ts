import { Json, JsonShapeError } from '../../core/json.js';
import { parseRetryAfter, type FaultKind, type UpstreamFailure } from '../../core/retry.js';
import {
  CredentialError,
  type Endpoint,
  type TokenRequest,
  type TokenSource,
} from '../../providers/provider.js';
import { readErrorMessage, type RawReply } from '../../providers/reply.js';
import { endError, type Scope } from '../scope.js';
import { TransportError } from './transport.js';

/** Sends one request to a token endpoint and reads its reply, any status; rejects if there is none. */
export type FetchToken = (request: TokenRequest, signal: AbortSignal) => Promise<RawReply>;

export type TokenReading =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure };

/** What a channel's token depends on. */
export interface TokenOwner {
  readonly id: number;
  readonly endpoint: Endpoint;
}

/** How long a request waits for a token. */
export interface TokenPatience {
  readonly scope: Pick<Scope, 'onEnd' | 'ended'>;
  readonly timeoutMs: number;
}

export interface TokenCacheOptions {
  readonly fetchToken: FetchToken;
  readonly now: () => number;
  /** Time limit of a token endpoint. */
  readonly timeoutMs?: number;
}

interface Held {
  readonly token: string;
  /** From here on it is renewed while it is still in use. */
  readonly renewAtMs: number;
  /** From here on it is no longer sent. */
  readonly endsAtMs: number;
}

interface Entry {
  endpoint: Endpoint;
  held: Held | undefined;
  /** The one fetch in flight; it never rejects. */
  fetching: Promise<TokenReading> | undefined;
  failed: { readonly failure: UpstreamFailure; readonly retryAtMs: number } | undefined;
  failuresInARow: number;
  droppedAtMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const RENEW_BEFORE_MS = 300_000;
/** Margin for clocks that differ and for the time that a request travels. */
const SAFETY_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** An upstream that answers every fresh token with 401 causes a fetch this often, and not one per request. */
const DROP_EVERY_MS = 10_000;

/**
 * Short-lived tokens, one per channel: fetched once for all who wait, and renewed in the background while the old one is
 * still valid. A failed fetch is shared by those who wait for it and remembered for a short pause.
 */
export class AccessTokens {
  readonly #fetchToken: FetchToken;
  readonly #now: () => number;
  readonly #timeoutMs: number;
  readonly #entries = new Map<number, Entry>();

  constructor({ fetchToken, now, timeoutMs = DEFAULT_TIMEOUT_MS }: TokenCacheOptions) {
    this.#fetchToken = fetchToken;
    this.#now = now;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * A token that can be sent now; a failure of the kind `timeout` if none arrives within `patience.timeoutMs`. A fetch
   * continues for the others when the request that started it stops waiting.
   * @throws GatewayError when the scope ends first.
   */
  async get(
    owner: TokenOwner,
    source: TokenSource,
    patience?: TokenPatience,
  ): Promise<TokenReading> {
    const entry = this.#entryOf(owner);
    const { held, failed } = entry;
    const nowMs = this.#now();
    const paused = failed !== undefined && nowMs < failed.retryAtMs;
    if (held !== undefined && nowMs < held.endsAtMs) {
      if (nowMs >= held.renewAtMs && !paused) void this.#fetch(entry, source);
      return { kind: 'token', token: held.token };
    }
    if (paused) {
      const retryAfterMs = failed.retryAtMs - nowMs;
      return { kind: 'failed', failure: { ...failed.failure, retryAfterMs } };
    }
    const fetching = this.#fetch(entry, source);
    return patience === undefined ? fetching : waitFor(fetching, patience);
  }

  /**
   * Discards a token that the upstream answered with 401. `token` is the one that was sent: if another has replaced it
   * meanwhile, that one stays.
   */
  drop({ id }: Pick<TokenOwner, 'id'>, token?: string): void {
    const entry = this.#entries.get(id);
    if (entry?.held === undefined) return;
    if (token !== undefined && entry.held.token !== token) return;
    const nowMs = this.#now();
    if (nowMs - entry.droppedAtMs < DROP_EVERY_MS) return;
    entry.droppedAtMs = nowMs;
    entry.held = undefined;
  }

  /** Drops what a removed channel has left behind. */
  forget(id: number): void {
    this.#entries.delete(id);
  }

  /** The channel's entry; a new one if its address, credentials or settings have changed. */
  #entryOf({ id, endpoint }: TokenOwner): Entry {
    const known = this.#entries.get(id);
    if (known !== undefined && isSameEndpoint(known.endpoint, endpoint)) {
      known.endpoint = endpoint;
      return known;
    }
    const entry: Entry = {
      endpoint,
      held: undefined,
      fetching: undefined,
      failed: undefined,
      failuresInARow: 0,
      droppedAtMs: -Infinity,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #fetch(entry: Entry, source: TokenSource): Promise<TokenReading> {
    entry.fetching ??= this.#load(entry, source).finally(() => {
      entry.fetching = undefined;
    });
    return entry.fetching;
  }

  async #load(entry: Entry, source: TokenSource): Promise<TokenReading> {
    const outcome = await this.#ask(entry.endpoint, source);
    const nowMs = this.#now();
    if ('failure' in outcome) {
      const { failure } = outcome;
      const pauseMs = Math.max(
        FIRST_PAUSE_MS * 2 ** entry.failuresInARow,
        failure.retryAfterMs ?? 0,
      );
      entry.failuresInARow += 1;
      entry.failed = { failure, retryAtMs: nowMs + Math.min(LONGEST_PAUSE_MS, pauseMs) };
      return { kind: 'failed', failure };
    }
    const { token, expiresAtMs } = outcome;
    const lifetimeMs = Math.max(0, expiresAtMs - nowMs);
    entry.held = {
      token,
      renewAtMs: expiresAtMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 5),
      endsAtMs: expiresAtMs - Math.min(SAFETY_MS, lifetimeMs / 20),
    };
    entry.failed = undefined;
    entry.failuresInARow = 0;
    return { kind: 'token', token };
  }

  async #ask(
    endpoint: Endpoint,
    source: TokenSource,
  ): Promise<ReturnType<TokenSource['read']> | { readonly failure: UpstreamFailure }> {
    let request: TokenRequest;
    try {
      request = await source.request(endpoint, this.#now());
    } catch (error) {
      const why = error instanceof CredentialError ? error.message : 'it could not be asked for';
      return failed('misconfigured', why);
    }
    let reply: RawReply;
    try {
      reply = await this.#fetchToken(request, AbortSignal.timeout(this.#timeoutMs));
    } catch (error) {
      if (error instanceof TransportError && error.fault === 'forbidden') {
        return failed('misconfigured', error.message);
      }
      if (error instanceof TransportError && error.fault === 'unreadable') {
        return failed('invalid', `the token endpoint sent no token: ${error.message}`);
      }
      // What broke on the way says more about our network than a caller should know.
      return failed('transient', 'the token endpoint did not answer');
    }
    return readToken(source, reply, this.#now());
  }
}

function readToken(
  source: TokenSource,
  reply: RawReply,
  nowMs: number,
): ReturnType<TokenSource['read']> | { readonly failure: UpstreamFailure } {
  const { status, text } = reply;
  const json = parse(text);
  if (status < 200 || status > 299) {
    const words = readErrorMessage({ json, text });
    return failed(
      faultOfTokenStatus(status),
      words === '' ? `the token endpoint answered ${status}` : words,
      status,
      parseRetryAfter(reply.headers, nowMs),
    );
  }
  try {
    if (json === undefined) throw new JsonShapeError('the reply is not JSON');
    return source.read(json, nowMs);
  } catch (error) {
    const why = error instanceof JsonShapeError ? error.message : 'it could not be read';
    return failed('invalid', `the token endpoint sent no token: ${why}`, status);
  }
}

/** A refusal is about credentials, whatever its status; only an overload passes by itself. */
function faultOfTokenStatus(status: number): FaultKind {
  if (status === 429) return 'busy';
  return status >= 500 || status === 408 ? 'transient' : 'misconfigured';
}

function failed(
  kind: FaultKind,
  why: string,
  status?: number,
  retryAfterMs?: number,
): { readonly failure: UpstreamFailure } {
  return { failure: { kind, status, message: `no access token: ${why}`, retryAfterMs } };
}

function parse(text: string): Json | undefined {
  try {
    return new Json(JSON.parse(text));
  } catch {
    // Proxies answer with HTML; the caller of this function sees that it is not JSON.
    return undefined;
  }
}

async function waitFor(
  fetching: Promise<TokenReading>,
  { scope, timeoutMs }: TokenPatience,
): Promise<TokenReading> {
  let timer: NodeJS.Timeout | undefined;
  let unlisten: (() => void) | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => {
        resolve({ kind: 'failed', ...failed('timeout', 'it did not arrive in time') });
      }, timeoutMs);
      unlisten = scope.onEnd(() => {
        reject(endError(scope.ended ?? 'client_gone'));
      });
      fetching.then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    unlisten?.();
  }
}

function isSameEndpoint(one: Endpoint, other: Endpoint): boolean {
  if (one === other) return true;
  const reveal = ({ baseUrl, credentials, settings }: Endpoint) =>
    JSON.stringify([
      baseUrl,
      Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]),
      Object.entries(settings),
    ]);
  return reveal(one) === reveal(other);
}
