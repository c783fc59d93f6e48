import { GatewayError } from '../../core/errors.js';
import type {
  ExplainedCandidate,
  ExplainedModel,
  Explanation,
  Outgoing,
  PassedOver,
} from '../../core/explanation.js';
import { priceOf, type PriceList } from '../../core/quota.js';
import type { RerankRequest } from '../../core/rerank.js';
import type { TokenPolicy } from '../../core/token.js';
import type { ChannelSnapshot, Credential, Store } from '../../store/store.js';
import { judgeStanding, type Funds } from '../admission.js';
import { estimateOf, mostOf } from '../cost.js';
import type { Sought } from '../channels/obstacles.js';
import type { Survey } from './survey.js';
import {
  channelOf,
  passed,
  passedOverBy,
  servesOthers,
  type PassedOverDeps,
} from './passed-over.js';
import type { Preview } from './preview.js';
import type { Job, NoRanking, Offer } from '../rank.js';
import { refusalOf } from '../refusals.js';
import {
  answersOf,
  boundsOf,
  isLive,
  judgeTarget,
  targetAsWritten,
  targetByAlias,
  unservedError,
  type Routing,
  type Target,
} from '../target.js';

/** What a job contains that the data plane does not give to an explanation. */
export interface Surveyor extends Pick<PassedOverDeps, 'healthOf'> {
  readonly survey: (job: Sought) => Survey;
  readonly whyNone: (job: Sought) => NoRanking;
  readonly preview: Preview;
}

export interface ExplainDeps extends Routing, Surveyor {
  readonly store: Pick<Store, 'loadChannels' | 'listAudit'>;
  readonly prices: PriceList;
  readonly now: () => number;
  readonly maxCooldownMs: number;
}

/** A job that never begins. */
export type Prospective = Omit<Job, 'scope' | 'trace'>;

export interface ExplainAsk {
  readonly dialect: string | undefined;
  readonly request: RerankRequest;
  /** The tag named in the request's header. */
  readonly tag: string | undefined;
  readonly policy: TokenPolicy;
  /** The key, and its owner with what that has left; absent if the question is about no key. */
  readonly holder: { readonly credential: Credential; readonly owner: Funds } | undefined;
}

/** Says what would happen to a request now, by the rules that decide on it. Nothing is sent, reserved or counted. */
export type Explain = (ask: ExplainAsk) => Promise<Explanation>;

/** Channels of other models to include by name. */
const MOST_OTHERS = 100;

export function createExplain(deps: ExplainDeps): Explain {
  return async (ask) => {
    const { request, policy, dialect } = ask;
    const { target, refusal: misled } = targetOf(deps, ask);
    const snapshot = await deps.store.loadChannels();
    const model = await explainModel(deps, ask, target, snapshot, true);
    const others = answersOf(deps, target, policy).filter((name) => name !== target.model);
    const fallbacks: ExplainedModel[] = [];
    for (const name of others) {
      if (policy.models?.includes(name) === false) continue;
      fallbacks.push(await explainModel(deps, ask, { ...target, model: name }, snapshot, false));
    }
    const reserved = mostOf(deps, request, target, policy);
    const price = priceOf(deps.prices, target.model);
    const refusal =
      misled ?? standingRefusal(deps, ask, reserved) ?? routeRefusal(deps, ask, target, fallbacks);
    return {
      ...model,
      dialect,
      asked: request.model,
      tag: target.tag,
      documents: request.documents.count,
      refusal:
        refusal === undefined
          ? undefined
          : { code: refusal.code, status: refusal.status, message: refusal.message },
      fallbacks,
      outgoing: await outgoingOf(deps, ask, target),
      cost: {
        price,
        estimated: estimateOf(deps, request, target.model),
        reserved,
      },
    };
  };
}

/** Where the request leads, and why it would be refused there. */
function targetOf(
  deps: ExplainDeps,
  { request, tag, policy }: ExplainAsk,
): { readonly target: Target; readonly refusal: GatewayError | undefined } {
  const asked = { model: request.model, tag };
  let target: Target = asked;
  try {
    target = targetAsWritten(deps, asked);
    if (!isLive(deps, target, policy)) {
      target = targetByAlias(deps, asked, target, policy) ?? target;
    }
    judgeTarget(policy, target);
    const refusal = isLive(deps, target, policy)
      ? undefined
      : unservedError(deps, asked.model, target);
    return { target, refusal };
  } catch (error) {
    return { target, refusal: refusalIn(error) };
  }
}

/** Why the key or its owner would be refused. */
function standingRefusal(
  { now }: ExplainDeps,
  { holder }: ExplainAsk,
  amount: number,
): GatewayError | undefined {
  if (holder === undefined) return undefined;
  try {
    judgeStanding(holder.credential, holder.owner, amount, now());
    return undefined;
  } catch (error) {
    return refusalIn(error);
  }
}

function refusalIn(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  throw error;
}

/** Why no channel would rank it right now. */
function routeRefusal(
  deps: ExplainDeps,
  ask: ExplainAsk,
  target: Target,
  fallbacks: readonly ExplainedModel[],
): GatewayError | undefined {
  const job = jobOf(ask, target);
  if (deps.survey(job).prospects.length > 0) return undefined;
  if (fallbacks.some(({ candidates }) => candidates.length > 0)) return undefined;
  return refusalOf(deps.whyNone(job), job, deps.maxCooldownMs);
}

function jobOf({ request, policy, holder }: ExplainAsk, target: Target): Prospective {
  const { query, documents, topN, options } = request;
  return {
    requestId: 'explain',
    owner: 'explain',
    keyId: holder?.credential.token.id ?? 0,
    model: target.model,
    query,
    documents,
    topN,
    options,
    ...boundsOf(target, policy),
  };
}

async function outgoingOf(
  deps: ExplainDeps,
  ask: ExplainAsk,
  target: Target,
): Promise<Outgoing | undefined> {
  const job = jobOf(ask, target);
  const [first] = deps.survey(job).prospects;
  const plan = deps.channels.current.plans.get(target.model);
  if (first === undefined || plan === undefined) return undefined;
  return deps.preview(first.offer, job, plan.shaped);
}

async function explainModel(
  deps: ExplainDeps,
  ask: ExplainAsk,
  target: Target,
  snapshot: ChannelSnapshot,
  withOthers: boolean,
): Promise<ExplainedModel> {
  const { plans, unusable, byId } = deps.channels.current;
  const plan = plans.get(target.model);
  const { prospects, passedOver } = deps.survey(jobOf(ask, target));
  const explained: PassedOver[] = [];
  for (const { offer, obstacle } of passedOver) {
    explained.push(await passedOverBy(deps, ask, target, snapshot, offer, obstacle));
  }
  for (const { channel, why } of unusable.get(target.model) ?? []) {
    explained.push(passed(channel, 'unusable', `It cannot be used: ${why}.`));
  }
  let morePassedOver = 0;
  if (withOthers) {
    const rest = Array.from(byId.values(), ({ channel }) => channel).filter(
      ({ models }) => !Object.hasOwn(models, target.model),
    );
    for (const channel of rest.slice(0, MOST_OTHERS)) explained.push(servesOthers(channel));
    morePassedOver = Math.max(0, rest.length - MOST_OTHERS);
  }
  return {
    model: target.model,
    select: plan?.select,
    candidates: prospects.map(({ offer, chance }) => candidateOf(offer, chance)),
    passedOver: explained,
    morePassedOver,
  };
}

function candidateOf(
  { route, priority, weight, upstreamModel }: Offer,
  chance: number,
): ExplainedCandidate {
  return { ...channelOf(route.channel), priority, weight, chance, upstreamModel };
}
