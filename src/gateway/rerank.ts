import type { RateState } from '../core/rate-limit.js';
import {
  completeUsage,
  type RankedRow,
  type RerankRequest,
  type Usage,
  type WrittenRows,
} from '../core/rerank.js';
import type { TokenPolicy } from '../core/token.js';
import {
  admit,
  judgeFresh,
  type AdmissionDeps,
  type Caller,
  type Reservation,
} from './admission.js';
import type { ChannelTable } from './channels/table.js';
import { costOf, mostOf, type CostDeps } from './cost.js';
import type { Observe } from './events.js';
import type { Job, Outcome, Plan, Rank, Ranking } from './rank.js';
import { noChannelError, refusalOf } from './refusals.js';
import { beforeEnd, type Scope } from './scope.js';
import type { Settlements } from './settlements.js';
import {
  boundsOf,
  isLive,
  judgeTarget,
  targetAsWritten,
  targetByAlias,
  unservedError,
  type Asked,
  type Routing,
  type Target,
} from './target.js';
import type { TraceContext } from './trace-context.js';
import type { Trace } from './trace.js';
import { judgeTrial, rankOnTrial, type Trial } from './look/trial.js';

export interface GatewayDeps extends AdmissionDeps, Routing, CostDeps {
  readonly channels: ChannelTable;
  readonly settlements: Settlements;
  readonly observe: Observe;
  /** The longest that an upstream's `Retry-After` keeps a channel out. */
  readonly maxCooldownMs: number;
}

/** One request of a known caller. */
export interface RerankCall {
  /** Unique across the fleet: names the reservation, and is the reply's `id`. */
  readonly id: string;
  /** The id that the caller sees in logs and headers; its own, if it sent one. */
  readonly requestId: string;
  readonly caller: Caller;
  readonly request: RerankRequest;
  /** The model that the request gets by a key's policy: its own, or a default; `undefined` if there is none. */
  readonly modelBy: (policy: TokenPolicy) => string | undefined;
  /** How old a cached ranking may be; 0: only a fresh one will do; `undefined`: as old as the model's rule says. */
  readonly mayBeOldMs?: number | undefined;
  /** The one channel that must rank, for trials; absent for traffic. */
  readonly trial?: Trial | undefined;
  /** The tag that the request names in its header. */
  readonly tag: string | undefined;
  readonly scope: Scope;
  readonly trace: Trace;
  /** Called when an upstream has all of a body. */
  readonly onSent?: (() => void) | undefined;
}

export interface RerankReply {
  readonly rows: readonly RankedRow[];
  readonly usage: Usage;
  readonly rate: RateState | undefined;
  /** What the caller should know of the ranking. */
  readonly warnings: readonly string[];
  /** Rows as the upstream wrote them, which are passed on if nothing changed. */
  readonly written: WrittenRows | undefined;
  /** The model that answered, if it is not the one that was asked for. */
  readonly model: string | undefined;
  /** Whether a last resort answered. */
  readonly isDegraded: boolean;
  readonly isCached: boolean;
}

/**
 * The key's default model changed while the request was being admitted: nothing was done, and the caller of this function
 * asks again.
 */
export class DefaultModelChanged extends Error {
  override readonly name = 'DefaultModelChanged';
}

/**
 * Find the target, admit, rank by its plan; then settle: the life of one rerank request.
 * @throws GatewayError, or DefaultModelChanged with the new policy in `call.caller`.
 */
export async function rerank(deps: GatewayDeps, call: RerankCall): Promise<RerankReply> {
  const { request, trace } = call;
  const { context } = trace;
  if (context !== undefined) context.readMs ??= deps.now();
  const asked = { model: request.model, tag: call.tag };
  const named = targetAsWritten(deps, asked);
  const isServed =
    call.trial === undefined && isLive(deps, named, call.caller.credential.token.policy);
  const target = isServed ? named : await searchTarget(deps, call, asked, named);
  trace.model = target.model;
  shed(deps, call, target);
  const reservation = await reserve(deps, call, target);
  trace.admitted = true;
  trace.admittedMs = deps.now();
  if (context !== undefined) context.admittedMs = trace.admittedMs;
  try {
    const job = jobOf(call, target);
    const outcome = await outcomeOf(deps, call, target, job);
    const ranking = rankingIn(outcome, job, deps.maxCooldownMs);
    trace.servedBy = ranking.servedBy;
    trace.degraded = ranking.isDegraded === true;
    const usage = completeUsage(ranking.usage, request.query, request.documents);
    trace.usage = usage;
    trace.quota = costOf(deps, target, ranking, request.documents.count, usage);
    const { rows, warnings, written, model, isDegraded = false, from } = ranking;
    return {
      rows,
      usage,
      rate: reservation.rate,
      warnings,
      written,
      model,
      isDegraded,
      isCached: from === 'cache',
    };
  } finally {
    // Settling never delays or spoils a reply that was paid for upstream; shutdown waits for it.
    const charged = deps.settlements.add(
      {
        tokenId: reservation.tokenId,
        userId: reservation.userId,
        reservationId: reservation.id,
        amount: reservation.amount,
        cost: trace.quota,
        served: trace.usage !== undefined,
        nowMs: deps.now(),
      },
      reservation.expiresAtMs,
    );
    // What was reserved is covered; anything beyond is charged as far as the balances reach.
    if (trace.quota > reservation.amount) trace.charged = charged;
    if (context?.isRecorded === true) observeSettled(deps, context, charged);
  }
}

function observeSettled(
  { observe, now }: GatewayDeps,
  trace: TraceContext,
  charging: Promise<number | undefined>,
): void {
  const atMs = now();
  void charging.then((charged) =>
    observe({ kind: 'settled', trace, atMs, durationMs: Math.max(0, now() - atMs), charged }),
  );
}

/**
 * Refuses a request for which those that already wait leave no time, before the store is asked: under overload a
 * refusal has to be cheap.
 * @throws GatewayError
 */
function shed(
  deps: GatewayDeps,
  { caller, request, scope, trial }: RerankCall,
  target: Target,
): void {
  const refusal = deps.channels.current.plans.get(target.model)?.refusal;
  const { id, policy } = caller.credential.token;
  if (refusal === undefined || trial !== undefined || policy.fallbacks.length > 0) return;
  const why = refusal(id, scope.deadlineMs);
  if (why === undefined) return;
  judgeTarget(policy, target);
  const { documents } = request;
  throw refusalOf(why, { model: target.model, documents }, deps.maxCooldownMs);
}

function jobOf(call: RerankCall, target: Target): Job {
  const { requestId, request, scope, trace } = call;
  const { query, documents, topN, options } = request;
  const { token } = call.caller.credential;
  const { admits, mayAnswer } = boundsOf(target, token.policy);
  return {
    requestId,
    owner: ownerOf(call, target),
    keyId: token.id,
    model: target.model,
    query,
    documents,
    topN,
    options,
    admits,
    mayAnswer,
    scope,
    trace,
    elsewhere: undefined,
    mostMs: undefined,
    mayBeOldMs: token.policy.replyCache ? call.mayBeOldMs : 0,
    keepMs: token.policy.replyCacheTtlMs,
    onSent: call.onSent,
  };
}

/** What the model's plan in force makes of a job. */
function outcomeOf(
  deps: GatewayDeps,
  { trial, caller }: RerankCall,
  target: Target,
  job: Job,
): Promise<Outcome> {
  const plan = planOf(deps, target);
  return trial === undefined
    ? rankBy(plan, caller.credential.token.policy)(job)
    : rankOnTrial(plan, trial, job);
}

/** @throws GatewayError where there is none. */
function rankingIn(outcome: Outcome, job: Job, maxCooldownMs: number): Ranking {
  if (outcome.kind === 'none') throw refusalOf(outcome.why, job, maxCooldownMs);
  return outcome.ranking;
}

/** The plan's ranking, with the key's own chain of models where it has one. */
function rankBy(plan: Plan, { fallbacks }: TokenPolicy): Rank {
  return fallbacks.length === 0 ? plan.rank : plan.rankWith(fallbacks);
}

/** Who shares rankings: one account, under the same tags. */
function ownerOf({ caller }: RerankCall, { tag }: Target): string {
  const { userId, policy } = caller.credential.token;
  return JSON.stringify([userId, tag, policy.tags]);
}

function planOf(deps: GatewayDeps, { model }: Target): Plan {
  const plan = deps.channels.current.plans.get(model);
  // Its last channel was deleted after the request was admitted.
  if (plan === undefined) throw noChannelError(model);
  return plan;
}

function reserve(deps: GatewayDeps, call: RerankCall, target: Target): Promise<Reservation> {
  return admit(deps, {
    caller: call.caller,
    reservationId: call.id,
    scope: call.scope,
    amount: mostOf(deps, call.request, target, call.caller.credential.token.policy),
    judge: (policy) => {
      judgeCall(call, target, policy);
    },
  });
}

function judgeCall(call: RerankCall, target: Target, policy: TokenPolicy): void {
  if (call.modelBy(policy) !== call.request.model) throw new DefaultModelChanged();
  judgeTarget(policy, target);
}

/**
 * Where a request goes if no channel serves it as written: elsewhere by an alias, or to a channel that the store has by
 * now. So nothing is reserved for a model that no channel serves or that is switched off everywhere. The key is judged
 * first, so that only those who may ask learn about it.
 * @throws GatewayError if no channel serves it
 */
async function searchTarget(
  deps: GatewayDeps,
  call: RerankCall,
  asked: Asked,
  written: Target,
): Promise<Target> {
  const { caller, scope, trial } = call;
  const known = caller.credential.token.policy;
  const aliased = targetByAlias(deps, asked, written, known);
  if (trial === undefined && aliased !== undefined && isLive(deps, aliased, known)) return aliased;
  await beforeEnd(scope, judgeFresh(deps, caller));
  await beforeEnd(scope, deps.channels.ensureFresh());
  const { policy } = caller.credential.token;
  const target = targetByAlias(deps, asked, written, policy) ?? written;
  judgeCall(call, target, policy);
  if (trial !== undefined) return judgeTrial(deps, trial, target);
  if (isLive(deps, target, policy)) return target;
  throw unservedError(deps, asked.model, target);
}
