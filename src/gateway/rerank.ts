import { GatewayError } from '../core/errors.js';
import { actualCost, estimateCost, priceOf, type Price, type PriceList } from '../core/quota.js';
import type { RateState } from '../core/rate-limit.js';
import {
  completeUsage,
  type RankedRow,
  type RerankRequest,
  type Usage,
  type WrittenRows,
} from '../core/rerank.js';
import {
  admit,
  judgeFresh,
  judgeModel,
  judgeTag,
  type AdmissionDeps,
  type Caller,
  type Reservation,
} from './admission.js';
import { dispatch, noChannelError, type DispatchDeps, type DispatchTrace } from './dispatch.js';
import type { Route } from './route.js';
import type { RequestScope } from './scope.js';
import type { Settlements } from './settlements.js';

export interface GatewayDeps extends AdmissionDeps, DispatchDeps {
  readonly settlements: Settlements;
  readonly prices: PriceList;
}

/** One request of a known caller. */
export interface RerankCall {
  /** Unique in the whole fleet: names the reservation, and is the reply's `id`. */
  readonly id: string;
  /** The id that the caller sees in logs and headers; theirs, where they sent one. */
  readonly requestId: string;
  readonly caller: Caller;
  readonly request: RerankRequest;
  /** The tag that the request names in its header. */
  readonly tag: string | undefined;
  readonly scope: RequestScope;
  readonly trace: RerankTrace;
}

/** What is known of a request as it goes along; the request's event is made from it, whatever its end. */
export interface RerankTrace extends DispatchTrace {
  model: string | undefined;
  admitted: boolean;
  usage: Usage | undefined;
  /** What the request costs. */
  quota: number;
  /** What is charged of it, where that may be less: resolves after the reply, to `undefined` where it cannot be known. */
  charged: Promise<number | undefined> | undefined;
}

export interface RerankReply {
  readonly rows: readonly RankedRow[];
  readonly usage: Usage;
  readonly rate: RateState | undefined;
  readonly warning: string | undefined;
  /** Rows as the upstream wrote them, which may be these. */
  readonly written: WrittenRows | undefined;
}

/** Where a request may go: the model and the tag that it names. */
interface Target {
  readonly model: string;
  readonly tag: string | undefined;
}

/** Admit, select and dispatch, rank; then settle: the life of one rerank request. */
export async function rerank(deps: GatewayDeps, call: RerankCall): Promise<RerankReply> {
  const { request, trace } = call;
  const named = splitModel(deps, call);
  const target = isLive(deps, call, named) ? named : await refuseOrWait(deps, call, named);
  trace.model = target.model;
  const price = priceOf(deps.prices, target.model);
  const reservation = await reserve(deps, call, target, price);
  trace.admitted = true;
  try {
    const result = await dispatch(deps, {
      requestId: call.requestId,
      request,
      model: target.model,
      admits: (route) => bears(route, target.tag, call.caller.credential.token.policy.tags),
      scope: call.scope,
      trace,
    });
    const usage = completeUsage(result.reported, request.query, request.documents);
    trace.usage = usage;
    trace.quota = actualCost(price, request.documents.count, usage);
    const { rows, warning, written } = result;
    return { rows, usage, rate: reservation.rate, warning, written };
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
    // What was reserved is there; what goes beyond it is charged as far as the balances reach.
    if (trace.quota > reservation.amount) trace.charged = charged;
  }
}

/** Models that a caller may use now: on its list, and with a live channel that it may reach. */
export async function listModels(deps: GatewayDeps, caller: Caller): Promise<string[]> {
  await judgeFresh(deps, caller);
  await deps.channels.ensureFresh();
  const { policy } = caller.credential.token;
  const models: string[] = [];
  for (const [model, routes] of deps.channels.current.byModel) {
    if (policy.models !== undefined && !policy.models.includes(model)) continue;
    if (routes.some((route) => route.live && bears(route, undefined, policy.tags)))
      models.push(model);
  }
  return models.sort();
}

function reserve(
  deps: GatewayDeps,
  call: RerankCall,
  target: Target,
  price: Price,
): Promise<Reservation> {
  return admit(deps, {
    caller: call.caller,
    reservationId: call.id,
    deadlineMs: call.scope.deadlineMs,
    amount: estimateCost(price, call.request.query, call.request.documents),
    judge: (policy) => {
      judgeModel(policy, target.model);
      judgeTag(policy, target.tag);
    },
  });
}

/** Whether a channel that the key may reach takes traffic for what is named. */
function isLive(deps: GatewayDeps, call: RerankCall, target: Target): boolean {
  const routes = deps.channels.current.byModel.get(target.model) ?? [];
  const { tags } = call.caller.credential.token.policy;
  return routes.some((route) => route.live && bears(route, target.tag, tags));
}

/**
 * Looks again, at what the store knows now, where no live channel was found: nothing is reserved for a model that nobody
 * serves, or that is switched off everywhere. The key is judged first, so that only who may ask learns of it.
 */
async function refuseOrWait(deps: GatewayDeps, call: RerankCall, target: Target): Promise<Target> {
  await judgeFresh(deps, call.caller);
  await deps.channels.ensureFresh();
  const { policy } = call.caller.credential.token;
  judgeModel(policy, target.model);
  judgeTag(policy, target.tag);
  const known = deps.channels.current.byModel.get(target.model) ?? [];
  if (known.length === 0) {
    throw new GatewayError(
      'model_not_found',
      `Model "${call.request.model}" does not exist here.`,
      {
        param: 'model',
      },
    );
  }
  if (target.tag !== undefined && !known.some(({ channel }) => channel.tag === target.tag)) {
    throw new GatewayError(
      'model_not_found',
      `Model "${target.model}" is not served under tag "${target.tag}".`,
      { param: 'model' },
    );
  }
  if (isLive(deps, call, target)) return target;
  throw noChannelError(target.model);
}

/** The model and tag of a request: `model@tag` names both where no model has that whole name. */
function splitModel(deps: GatewayDeps, call: RerankCall): Target {
  const { model } = call.request;
  const at = model.lastIndexOf('@');
  if (at <= 0 || at === model.length - 1 || deps.channels.current.byModel.has(model)) {
    return { model, tag: call.tag };
  }
  const tag = model.slice(at + 1);
  if (call.tag !== undefined && call.tag !== tag) {
    throw new GatewayError(
      'invalid_request',
      `The model names tag "${tag}" and the header X-Rerank-Tag names "${call.tag}": name one.`,
      { param: 'model' },
    );
  }
  return { model: model.slice(0, at), tag };
}

/** Whether a channel bears the tag that is asked for, and one of those that the key is bound to. */
function bears(route: Route, tag: string | undefined, keyTags: readonly string[]): boolean {
  const own = route.channel.tag;
  if (tag !== undefined && own !== tag) return false;
  return keyTags.length === 0 || (own !== undefined && keyTags.includes(own));
}
