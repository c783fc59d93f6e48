import type { Secret } from './secret.js';

export const CHANNEL_ENABLED = 1;
export const CHANNEL_DISABLED = 2;
export const CHANNEL_AUTO_DISABLED = 3;
export type ChannelStatus =
  typeof CHANNEL_ENABLED | typeof CHANNEL_DISABLED | typeof CHANNEL_AUTO_DISABLED;

/** A configured provider: where it is, with which credentials, for which models. */
export interface Channel {
  readonly id: number;
  readonly name: string;
  /** Id of the provider whose dialect it speaks. */
  readonly provider: string;
  /** Replaces the provider's default address. */
  readonly baseUrl: string | undefined;
  /** Named secrets; most providers read `apiKey` alone. */
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Models that it serves: the caller's name to the upstream's. */
  readonly models: Readonly<Record<string, string>>;
  readonly tag: string | undefined;
  /** Higher is tried first. */
  readonly priority: number;
  /** Share of the traffic inside one priority; 0: only when nothing else is left. */
  readonly weight: number;
  /** Bound of one attempt; `undefined`: the gateway's default. */
  readonly timeoutMs: number | undefined;
  /** Attempts in flight at once on one node; 0: no bound. */
  readonly maxConcurrency: number;
  readonly status: ChannelStatus;
  /** Whether logits become probabilities: `normalized` puts them through the logistic function. */
  readonly scores: 'raw' | 'normalized';
  /** What a provider wants to know besides: paths, API versions, regions, projects. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where it was declared: channels of the configuration are changed there, except for their status. */
  readonly origin: 'config' | 'store';
}

/** A tag that is switched off, and why. Absent means on. */
export interface TagSwitch {
  readonly tag: string;
  readonly disabled: boolean;
  readonly reason: string | undefined;
  /** Unix seconds of the last change. */
  readonly changedTime: number;
  readonly changedBy: string | undefined;
}

export type EffectiveStatus =
  | { readonly live: true }
  | {
      readonly live: false;
      readonly because: 'disabled' | 'auto_disabled' | 'tag_disabled';
      readonly reason?: string | undefined;
    };

/** Whether a channel takes traffic now, and if not, why: its own status first, then its tag's switch. */
export function effectiveStatus(
  channel: Pick<Channel, 'status' | 'tag'>,
  switches: ReadonlyMap<string, TagSwitch>,
): EffectiveStatus {
  if (channel.status === CHANNEL_DISABLED) return { live: false, because: 'disabled' };
  if (channel.status === CHANNEL_AUTO_DISABLED) return { live: false, because: 'auto_disabled' };
  const tagSwitch = channel.tag === undefined ? undefined : switches.get(channel.tag);
  if (tagSwitch?.disabled === true) {
    return { live: false, because: 'tag_disabled', reason: tagSwitch.reason };
  }
  return { live: true };
}

/** What selection needs to know of a channel. */
export interface Candidate {
  readonly id: number;
  readonly priority: number;
  readonly weight: number;
}

/**
 * The next channel to try: from the highest priority that has any left, at random by weight, weight 0 only when
 * nothing else is left in that tier. `undefined` when all were tried.
 */
export function nextChannel<T extends Candidate>(
  candidates: readonly T[],
  tried: ReadonlySet<number>,
  random: () => number,
): T | undefined {
  let tier: T[] = [];
  let total = 0;
  for (const candidate of candidates) {
    if (tried.has(candidate.id)) continue;
    const best = tier[0]?.priority;
    if (best === undefined || candidate.priority > best) {
      tier = [candidate];
      total = candidate.weight;
    } else if (candidate.priority === best) {
      tier.push(candidate);
      total += candidate.weight;
    }
  }
  if (tier.length <= 1) return tier[0];
  if (total <= 0) return tier[Math.floor(random() * tier.length)];
  let point = random() * total;
  for (const candidate of tier) {
    point -= candidate.weight;
    if (candidate.weight > 0 && point < 0) return candidate;
  }
  return tier.find(({ weight }) => weight > 0);
}
