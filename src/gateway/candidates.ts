import { nextChannel } from '../core/channel.js';
import type { Misfit } from '../core/eligibility.js';
import type { Selection } from '../core/model-rules.js';
import type { UpstreamFailure } from '../core/retry.js';
import type { Provider } from '../providers/provider.js';
import type { ChannelHealth } from './channels/health.js';
import type { Availability } from './channels/state.js';
import { obstacleOf, type Sought } from './channels/obstacles.js';
import { isLastResort } from './offer.js';
import type { AttemptOutcome, Candidates, NoRanking, Offer, Plan, Tier } from './rank.js';
import type { Route } from './channels/route.js';
import { firstAbove, placeOf } from './tier.js';

export interface CandidatesDeps {
  /** The plan in force: looked up for each attempt, so that a retry notices a switch that was thrown meanwhile. */
  readonly planOf: (model: string) => Plan | undefined;
  /** Whether a channel takes traffic right now. */
  readonly isLive: (channelId: number) => boolean;
  readonly health: Pick<
    ChannelHealth,
    'availability' | 'load' | 'expectedMs' | 'patienceMs' | 'overtaken'
  >;
  readonly now: () => number;
  readonly random: () => number;
}

/** Draws by weight before the offers of a tier are checked one by one: enough if most of them can serve. */
const DRAWS = 3;
/** Tiers up to this size are searched whole, which costs no more than a draw. */
const SMALL_TIER = 4;

/** One whose time was up before an answer, and when it began. */
interface Late {
  readonly offer: Offer;
  readonly sinceMs: number;
  readonly hadMs: number;
}

/** The candidates of one job: the highest priority first, at random by weight within it, each at most once. */
export function candidatesOf(deps: CandidatesDeps, job: Sought): Candidates {
  return new JobCandidates(deps, job);
}

class JobCandidates implements Candidates {
  readonly #deps: CandidatesDeps;
  readonly #job: Sought;
  readonly #tried = new Set<number>();
  readonly #failures: UpstreamFailure[] = [];
  /** Tried ones whose failure may pass on a second try. */
  #mayPass: Set<number> | undefined;
  /** When the latest one was given out. */
  #latestMs = 0;
  #late: Late[] | undefined;
  /** Services whose own limit the request exceeded: their other channels have the same limit. */
  #unfit: Set<string> | undefined;

  constructor(deps: CandidatesDeps, job: Sought) {
    this.#deps = deps;
    this.#job = job;
  }

  next(): Offer | undefined {
    const nowMs = this.#deps.now();
    const plan = this.#deps.planOf(this.#job.model);
    if (plan === undefined) return undefined;
    for (const tier of plan.tiers) {
      const offer = this.#chosen(tier, plan.select, nowMs);
      if (offer === undefined) continue;
      this.#tried.add(offer.id);
      this.#latestMs = nowMs;
      return offer;
    }
    return undefined;
  }

  hasMore(): boolean {
    const nowMs = this.#deps.now();
    const tiers = this.#deps.planOf(this.#job.model)?.tiers ?? [];
    return tiers.some(({ offers }) => offers.some((offer) => this.#isUsable(offer, nowMs)));
  }

  patienceMs(offer: Offer, limitMs: number): number | undefined {
    if (this.#failures.length > 0) return undefined;
    const { planOf, health, now } = this.#deps;
    const mostMs = health.patienceMs(offer, this.#job.documents.sizeBytes);
    if (mostMs === undefined || mostMs >= limitMs) return undefined;
    const nowMs = now();
    const isSpare = (other: Offer): boolean => !isLastResort(other) && this.#isUsable(other, nowMs);
    const tiers = planOf(this.#job.model)?.tiers ?? [];
    return tiers.some(({ offers }) => offers.some(isSpare)) ? mostMs : undefined;
  }

  twinOf(offer: Offer): Offer | undefined {
    const nowMs = this.#deps.now();
    const offers = this.#deps.planOf(this.#job.model)?.tiers.flatMap((tier) => tier.offers) ?? [];
    const usable = offers.filter((other) => isTwin(offer, other) && this.#isUsable(other, nowMs));
    const twin = nextChannel(usable, this.#tried, this.#deps.random);
    if (twin === undefined) return undefined;
    this.#tried.add(twin.id);
    this.#latestMs = nowMs;
    return twin;
  }

  again(): void {
    for (const id of this.#mayPass ?? []) this.#tried.delete(id);
    this.#mayPass = undefined;
  }

  heard(offer: Offer, outcome: AttemptOutcome): void {
    const { id } = offer;
    if (outcome.kind === 'withdrawn') {
      // Still live: the node was only no longer sure of that, and asks again before the next attempt.
      if (this.#deps.isLive(id)) this.#tried.delete(id);
      return;
    }
    if (outcome.kind === 'ranked') {
      if (this.#late !== undefined && !isLastResort(offer)) this.#tellLate(offer, this.#late);
      return;
    }
    this.#noteFailure(offer, outcome.failure);
  }

  #noteFailure(offer: Offer, failure: UpstreamFailure): void {
    const { id, route } = offer;
    this.#failures.push(failure);
    if (failure.kind === 'timeout') {
      const hadMs = this.#deps.now() - this.#latestMs;
      (this.#late ??= []).push({ offer, sinceMs: this.#latestMs, hadMs });
    }
    if (failure.kind === 'transient' || failure.kind === 'busy' || failure.isEarly === true) {
      (this.#mayPass ??= new Set()).add(id);
    }
    // A request that was not even sent exceeds a limit of that channel alone.
    const isProviders = failure.kind === 'limit' && failure.unsent !== true;
    if (isProviders && isOneService(route.provider)) {
      (this.#unfit ??= new Set()).add(serviceOf(route));
    }
  }

  /** Those that took longer for nothing than this one for its answer are at fault: it is not the request that takes long. */
  #tellLate(by: Offer, late: readonly Late[]): void {
    const nowMs = this.#deps.now();
    this.#late = undefined;
    for (const { offer, sinceMs, hadMs } of late) {
      if (offer.id === by.id || nowMs - this.#latestMs >= hadMs) continue;
      this.#deps.health.overtaken(offer, 'outrun', sinceMs, nowMs);
    }
  }

  whyNone(): NoRanking {
    if (this.#failures.length > 0) return { kind: 'exhausted', failures: this.#failures };
    const { planOf, health, now } = this.#deps;
    const misfits: Misfit[] = [];
    const waits: number[] = [];
    const nowMs = now();
    for (const offer of planOf(this.#job.model)?.offers ?? []) {
      const obstacle = obstacleOf(health, this.#job, offer, nowMs);
      if (obstacle === undefined) waits.push(0);
      else if (obstacle.kind === 'busy') waits.push(waitMs(obstacle.availability, nowMs));
      else if (obstacle.kind === 'misfit') misfits.push(obstacle.misfit);
    }
    if (waits.length > 0) {
      const soonestMs = Math.min(...waits);
      return { kind: 'busy', soonestMs, retryAfterMs: soonestMs };
    }
    return misfits.length > 0 ? { kind: 'misfit', misfits } : { kind: 'switched_off' };
  }

  #chosen(tier: Tier, select: Selection, nowMs: number): Offer | undefined {
    if (select === 'sticky') return this.#stuckTo(tier, nowMs);
    const one = this.#drawn(tier, nowMs) ?? this.#searched(tier, nowMs);
    // Cheaper ones form a separate tier.
    if (select === 'weighted' || select === 'cheapest' || one === undefined) return one;
    // The better of two: nearly as good as the best of all, without sending everyone to the same channel.
    this.#tried.add(one.id);
    const other = this.#drawn(tier, nowMs) ?? this.#searched(tier, nowMs);
    this.#tried.delete(one.id);
    if (other === undefined) return one;
    const { health } = this.#deps;
    const isBetter =
      select === 'least_busy'
        ? health.load(other) < health.load(one)
        : health.expectedMs(other) < health.expectedMs(one);
    return isBetter ? other : one;
  }

  /** The owner's position in the tier, by weight; the next usable offer after it if that one cannot serve. */
  #stuckTo(tier: Tier, nowMs: number): Offer | undefined {
    const { offers } = tier;
    const first = placeOf(tier, this.#job);
    for (let step = 0; step < offers.length; step += 1) {
      const offer = offers[(first + step) % offers.length];
      if (offer !== undefined && this.#isUsable(offer, nowMs)) return offer;
    }
    return undefined;
  }

  /** A random usable offer, without checking all of a large tier; `undefined` if no draw found one. */
  #drawn({ offers, cumulative }: Tier, nowMs: number): Offer | undefined {
    const total = cumulative.at(-1) ?? 0;
    if (offers.length <= SMALL_TIER || total <= 0) return undefined;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const offer = offers[firstAbove(cumulative, this.#deps.random() * total)];
      if (offer !== undefined && this.#isUsable(offer, nowMs)) return offer;
    }
    return undefined;
  }

  #searched({ offers }: Tier, nowMs: number): Offer | undefined {
    const usable = offers.filter((offer) => this.#isUsable(offer, nowMs));
    return nextChannel(usable, this.#tried, this.#deps.random);
  }

  #isUsable(offer: Offer, nowMs: number): boolean {
    return (
      !this.#tried.has(offer.id) &&
      this.#unfit?.has(serviceOf(offer.route)) !== true &&
      obstacleOf(this.#deps.health, this.#job, offer, nowMs) === undefined
    );
  }
}

/** Who answers: a provider's form at another address may be a server with other limits, or a proxy in front of one. */
function serviceOf({ provider, origin }: Route): string {
  return `${provider.id} ${origin}`;
}

/** How long a busy offer stays busy at least. */
function waitMs(availability: Availability, nowMs: number): number {
  return availability.kind === 'until' ? availability.atMs - nowMs : 0;
}

/** Whether two channels rank by the same model in the same way. */
function isTwin({ route, upstreamModel }: Offer, other: Offer): boolean {
  const { channel, provider } = route;
  return (
    other.route.provider === provider &&
    other.upstreamModel === upstreamModel &&
    other.route.channel.scores === channel.scores &&
    other.route.channel.pairTokens === channel.pairTokens &&
    JSON.stringify(other.route.channel.settings) === JSON.stringify(channel.settings)
  );
}

/**
 * Whether all channels of a provider reach the same service, with the same limits; self-hosted servers each have their own.
 */
function isOneService(provider: Provider): boolean {
  return provider.transport === 'http' && provider.baseUrl !== undefined;
}
