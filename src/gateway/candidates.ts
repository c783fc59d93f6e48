import { chancesOf, nextChannel } from '../core/channel.js';
import { misfitOf, type Fitting, type Misfit } from '../core/eligibility.js';
import type { Selection } from '../core/model-rules.js';
import type { UpstreamFailure } from '../core/retry.js';
import type { Provider } from '../providers/provider.js';
import type { Availability, ChannelHealth } from './channel-health.js';
import type { AttemptOutcome, Candidates, Job, NoRanking, Offer, Plan, Tier } from './rank.js';
import { DEFAULT_COOLDOWN_MS } from './verdicts.js';

export interface CandidatesDeps {
  /** The plan in force: looked up for each attempt, so that a retry notices a switch that was thrown meanwhile. */
  readonly planOf: (model: string) => Plan | undefined;
  /** Whether a channel takes traffic right now. */
  readonly isLive: (channelId: number) => boolean;
  readonly health: Pick<ChannelHealth, 'availability' | 'load' | 'expectedMs'>;
  readonly now: () => number;
  readonly random: () => number;
}

/** What a job's candidates depend on. */
export type Sought = Fitting & Pick<Job, 'model' | 'keyId' | 'admits'>;

/** What rules out an offer for a job at a moment. */
export type Obstacle =
  /** Its own status or its tag's switch. */
  | { readonly kind: 'switched_off' }
  /** The tags of request and key. */
  | { readonly kind: 'tag' }
  /** It never takes such a request. */
  | { readonly kind: 'misfit'; readonly misfit: Misfit }
  | { readonly kind: 'busy'; readonly availability: Exclude<Availability, { kind: 'ready' }> };

/** A model's offers as a job finds them at a moment. */
export interface Survey {
  /** By priority; `chance` is the probability of being tried first among those of the same priority. */
  readonly prospects: readonly { readonly offer: Offer; readonly chance: number }[];
  readonly passedOver: readonly { readonly offer: Offer; readonly obstacle: Obstacle }[];
}

/** Draws by weight before the offers of a tier are checked one by one: enough if most of them can serve. */
const DRAWS = 3;
/** Tiers up to this size are searched whole, which costs no more than a draw. */
const SMALL_TIER = 4;

/** The candidates of one job: the highest priority first, at random by weight within it, each at most once. */
export function candidatesOf(deps: CandidatesDeps, job: Sought): Candidates {
  return new JobCandidates(deps, job);
}

/**
 * The candidates of a job as `candidatesOf` would hand them out now, with their probabilities, and what rules out the
 * others.
 */
export function surveyOf(deps: CandidatesDeps, job: Sought): Survey {
  const plan = deps.planOf(job.model);
  if (plan === undefined) return { prospects: [], passedOver: [] };
  const nowMs = deps.now();
  const passedOver = plan.offers.flatMap((offer) => {
    const obstacle = obstacleOf(deps.health, job, offer, nowMs);
    return obstacle === undefined ? [] : [{ offer, obstacle }];
  });
  const out = new Set(passedOver.map(({ offer }) => offer.id));
  const served = new Set<number>();
  const prospects = plan.tiers.flatMap((tier) => {
    const usable = tier.offers.filter(({ id }) => !out.has(id));
    const order =
      plan.select === 'sticky' ? ringOf(tier, job).filter((one) => usable.includes(one)) : usable;
    const [first] = order;
    const isFirst = first !== undefined && !served.has(first.priority);
    if (isFirst) served.add(first.priority);
    // A dearer tier of a priority waits for the cheaper ones.
    const chances = isFirst ? chancesBy(plan.select, deps.health, order) : [];
    return order
      .map((offer, at) => ({ offer, chance: chances[at] ?? 0 }))
      .sort((one, other) => other.chance - one.chance);
  });
  return { prospects, passedOver };
}

/** What rules out an offer for a job right now; `undefined` if nothing does. */
function obstacleOf(
  health: Pick<ChannelHealth, 'availability'>,
  job: Sought,
  offer: Offer,
  nowMs: number,
): Obstacle | undefined {
  const { route, room } = offer;
  if (!route.live) return { kind: 'switched_off' };
  if (!job.admits(route)) return { kind: 'tag' };
  const misfit = misfitOf(room, job);
  if (misfit !== undefined) return { kind: 'misfit', misfit };
  const availability = health.availability(offer, nowMs);
  return availability.kind === 'ready' ? undefined : { kind: 'busy', availability };
}

class JobCandidates implements Candidates {
  readonly #deps: CandidatesDeps;
  readonly #job: Sought;
  readonly #tried = new Set<number>();
  readonly #failures: UpstreamFailure[] = [];
  /** Tried ones whose failure may pass on a second try. */
  readonly #mayPass = new Set<number>();
  /** Providers whose own limit the request exceeded: their other channels have the same limit. */
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
      return offer;
    }
    return undefined;
  }

  hasMore(): boolean {
    const nowMs = this.#deps.now();
    const tiers = this.#deps.planOf(this.#job.model)?.tiers ?? [];
    return tiers.some(({ offers }) => offers.some((offer) => this.#isUsable(offer, nowMs)));
  }

  twinOf(offer: Offer): Offer | undefined {
    const nowMs = this.#deps.now();
    const offers = this.#deps.planOf(this.#job.model)?.tiers.flatMap((tier) => tier.offers) ?? [];
    const usable = offers.filter((other) => isTwin(offer, other) && this.#isUsable(other, nowMs));
    const twin = nextChannel(usable, this.#tried, this.#deps.random);
    if (twin !== undefined) this.#tried.add(twin.id);
    return twin;
  }

  again(): void {
    for (const id of this.#mayPass) this.#tried.delete(id);
    this.#mayPass.clear();
  }

  heard({ id, route }: Offer, outcome: AttemptOutcome): void {
    if (outcome.kind === 'withdrawn') {
      // Still live: the node was only no longer sure of that, and asks again before the next attempt.
      if (this.#deps.isLive(id)) this.#tried.delete(id);
      return;
    }
    if (outcome.kind === 'ranked') return;
    const { failure } = outcome;
    this.#failures.push(failure);
    if (failure.kind === 'transient' || failure.kind === 'busy') this.#mayPass.add(id);
    if (failure.kind === 'limit' && isOneService(route.provider)) {
      (this.#unfit ??= new Set()).add(route.provider.id);
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
      return { kind: 'busy', soonestMs, retryAfterMs: Math.max(DEFAULT_COOLDOWN_MS, soonestMs) };
    }
    return misfits.length > 0 ? { kind: 'misfit', misfits } : { kind: 'switched_off' };
  }

  #chosen(tier: Tier, select: Selection, nowMs: number): Offer | undefined {
    if (select === 'sticky') return this.#stuckTo(tier, nowMs);
    const one = this.#drawn(tier, nowMs) ?? this.#searched(tier, nowMs);
    // Cheaper ones are a tier of their own.
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
      this.#unfit?.has(offer.route.provider.id) !== true &&
      obstacleOf(this.#deps.health, this.#job, offer, nowMs) === undefined
    );
  }
}

/** How long a busy offer stays busy at least. */
function waitMs(availability: Availability, nowMs: number): number {
  return availability.kind === 'until' ? availability.atMs - nowMs : 0;
}

/** The position of a job's owner in a tier, by weight. */
function placeOf({ cumulative }: Tier, { keyId }: Sought): number {
  const total = cumulative.at(-1) ?? 0;
  return total > 0 ? firstAbove(cumulative, fractionOf(String(keyId)) * total) : 0;
}

/** The offers of a tier in the order in which one owner tries them. */
function ringOf(tier: Tier, job: Sought): Offer[] {
  const first = placeOf(tier, job);
  return [...tier.offers.slice(first), ...tier.offers.slice(0, first)];
}

/** The probability of each usable offer of a tier to be tried first. */
function chancesBy(
  select: Selection,
  health: Pick<ChannelHealth, 'load' | 'expectedMs'>,
  offers: readonly Offer[],
): number[] {
  const drawn = chancesOf(offers);
  switch (select) {
    case 'weighted':
    case 'cheapest':
      return drawn;
    case 'sticky':
      return offers.map((_, at) => (at === 0 ? 1 : 0));
    case 'least_busy':
      return chancesOfBetter(drawn, offers, (offer) => health.load(offer));
    case 'fastest':
      return chancesOfBetter(drawn, offers, (offer) => health.expectedMs(offer));
  }
}

/** Of two offers drawn in turn, the second replaces the first if it is better. */
function chancesOfBetter(
  drawn: readonly number[],
  offers: readonly Offer[],
  costOf: (offer: Offer) => number,
): number[] {
  const costs = offers.map(costOf);
  const chances = offers.map(() => 0);
  offers.forEach((_, first) => {
    const rest = chancesOf(offers.filter((_offer, at) => at !== first));
    offers.forEach((_offer, second) => {
      if (second === first) return;
      const pair = (drawn[first] ?? 0) * (rest[second < first ? second : second - 1] ?? 0);
      const better = (costs[second] ?? 0) < (costs[first] ?? 0) ? second : first;
      chances[better] = (chances[better] ?? 0) + pair;
    });
  });
  return offers.length === 1 ? [1] : chances;
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

/** A number from 0 to below 1 that is always the same for the same text (FNV-1a). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Short texts that differ only in their last letter must be spread too.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The first position whose sum is above a point; an offer of weight 0 never has a higher sum than the one before. */
function firstAbove(cumulative: Float64Array, point: number): number {
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cumulative[middle] ?? 0) > point) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Whether all channels of a provider reach the same service, with the same limits; self-hosted servers each have their own.
 */
function isOneService(provider: Provider): boolean {
  return provider.transport === 'http' && provider.baseUrl !== undefined;
}
