import { LRUCache } from 'lru-cache';
import { standingOf } from '../core/budget.js';
import { GatewayError, type ErrorCode } from '../core/errors.js';
import { present } from '../core/records.js';
import { TOKEN_ENABLED, tokenStatus } from '../core/token.js';
import type { Credential } from '../store/store.js';
import { judgeFresh, type AdmissionDeps, type Caller } from './admission.js';
import { rateHeaders } from './key-refusals.js';

/** A refusal that holds until the key is changed. */
interface Held {
  readonly version: number;
  readonly sinceMs: number;
  readonly error: GatewayError;
}

const REMEMBERED: ReadonlySet<string> = new Set<ErrorCode>([
  'rate_limited',
  'token_quota_exhausted',
  'token_budget_exhausted',
]);
const MAX_HELD = 10_000;
const LONGEST_MS = 60_000;
/** When a request that exceeded a limit may fit again. */
const RETRY_MS = 1_000;

/**
 * Judges a request by what is known about its key before its body is read, so that a key that will be refused takes up no
 * room. Memory alone never refuses a caller: it only shows when asking the store is worthwhile, and the store's answer counts.
 */
export class Door {
  readonly #deps: AdmissionDeps;
  readonly #held = new LRUCache<string, Held>({ maxSize: MAX_HELD, sizeCalculation: () => 1 });

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Lets a request through, or throws its refusal; `inFlight` counts those of the key on this node, this one included. In
   * the usual case there is nothing to wait for.
   */
  judge(caller: Caller, inFlight: number): Promise<void> | undefined {
    return this.#isDoubtful(caller, inFlight) ? this.#ask(caller, inFlight) : undefined;
  }

  /** Remembers why a key was refused, for its next requests. */
  remember(caller: Pick<Caller, 'keyHash' | 'credential'>, error: GatewayError): void {
    if (!REMEMBERED.has(error.code)) return;
    this.#held.set(caller.keyHash, {
      version: caller.credential.version,
      sinceMs: this.#deps.now(),
      error,
    });
  }

  #isDoubtful(caller: Caller, inFlight: number): boolean {
    const { token, userEnabled } = caller.credential;
    if (!userEnabled || tokenStatus(token, this.#deps.now()) !== TOKEN_ENABLED) return true;
    const { allowIps } = token.policy;
    if (allowIps.length > 0 && !caller.addressAllowed(allowIps)) return true;
    if (tooMany(caller, inFlight) !== undefined) return true;
    return this.#held.size > 0 && this.#held.has(caller.keyHash);
  }

  async #ask(caller: Caller, inFlight: number): Promise<void> {
    // Throws for a status or an address that still forbids it.
    await judgeFresh(this.#deps, caller);
    const refusal = tooMany(caller, inFlight);
    if (refusal !== undefined) throw refusal;
    const held = this.#held.get(caller.keyHash);
    if (held === undefined) return;
    const nowMs = this.#deps.now();
    const heldMs = nowMs - held.sinceMs;
    const { code, message, headers, retryAfterMs } = held.error;
    // The status, above, covers a balance that was used up: by now it may have been refilled.
    if (
      heldMs >= Math.min(retryAfterMs ?? LONGEST_MS, LONGEST_MS) ||
      // The clock was set back.
      heldMs < 0 ||
      !holds(held, caller.credential, nowMs)
    ) {
      this.#held.delete(caller.keyHash);
      return;
    }
    const leftMs = retryAfterMs === undefined ? undefined : retryAfterMs - heldMs;
    const left = { retryAfterMs: leftMs, headers: headers && sooner(headers, heldMs) };
    throw new GatewayError(code, message, present(left));
  }
}

/** The headers of a refusal that was made a while ago. */
function sooner(headers: Readonly<Record<string, string>>, byMs: number): Record<string, string> {
  const { 'RateLimit-Reset': reset } = headers;
  if (reset === undefined) return headers;
  const left = Math.max(0, Math.ceil(Number(reset) - byMs / 1000));
  return { ...headers, 'RateLimit-Reset': String(left) };
}

/** Whether a refusal still stands by what the store knows now. */
function holds({ error, version }: Held, credential: Credential, nowMs: number): boolean {
  if (error.code === 'rate_limited') return version === credential.version;
  if (error.code !== 'token_budget_exhausted') return false;
  const { policy, budgetUse } = credential.token;
  const standing = standingOf(policy, budgetUse, nowMs);
  // A smaller request may fit into what is left.
  return standing !== undefined && standing.spent >= standing.budget;
}

/** Why not all of a key's requests on this node can be admitted, if they exceed what it may have on all nodes together. */
function tooMany({ credential }: Caller, inFlight: number): GatewayError | undefined {
  const { maxConcurrency, rateLimit } = credential.token.policy;
  if (maxConcurrency > 0 && inFlight > maxConcurrency) {
    return new GatewayError(
      'too_many_concurrent_requests',
      `This API key may have at most ${maxConcurrency} requests in flight at once.`,
      { retryAfterMs: RETRY_MS },
    );
  }
  if (rateLimit > 0 && inFlight > rateLimit) {
    return new GatewayError(
      'rate_limited',
      `This API key may send at most ${rateLimit} requests a minute.`,
      {
        retryAfterMs: RETRY_MS,
        headers: rateHeaders({ limit: rateLimit, remaining: 0, resetMs: RETRY_MS }),
      },
    );
  }
  return undefined;
}
