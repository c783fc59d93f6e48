import { CHANNEL_DEFAULTS, type ChannelMembers } from './channel-members.js';
import { outageText, type Outage } from './outage.js';
import { mapValues } from './records.js';
import type { Secret } from './secret.js';

export const CHANNEL_ENABLED = 1;
export const CHANNEL_DISABLED = 2;
export const CHANNEL_AUTO_DISABLED = 3;
export type ChannelStatus =
  typeof CHANNEL_ENABLED | typeof CHANNEL_DISABLED | typeof CHANNEL_AUTO_DISABLED;

/** A configured provider: its address, credentials and models, plus its plain members. */
export interface Channel extends ChannelMembers {
  readonly id: number;
  readonly name: string;
  /** Id of the provider whose API it speaks. */
  readonly provider: string;
  /** Replaces the provider's default address. */
  readonly baseUrl: string | undefined;
  /** Named secrets; most providers read `apiKey` alone. */
  readonly credentials: Readonly<Record<string, Secret>>;
  /** The models that it serves: the caller's name mapped to the upstream's. */
  readonly models: Readonly<Record<string, string>>;
  readonly tag: string | undefined;
  readonly status: ChannelStatus;
  /** Why it has status 3; absent with any other status. */
  readonly outage?: Outage | undefined;
  /** Provider-specific settings: paths, API versions, regions, projects. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where it was declared. Channels from the configuration are changed there, except for their status. */
  readonly origin: 'config' | 'store';
}

/**
 * An empty channel. Copy it to create one: V8 then has one form for all channels. An object that gets so many members one by one
 * has a form of its own, which takes a kilobyte and ten times as long.
 */
export const BLANK_CHANNEL = {
  ...CHANNEL_DEFAULTS,
  ...{ id: undefined, name: undefined, provider: undefined, baseUrl: undefined },
  ...{ credentials: undefined, models: undefined, tag: undefined, status: undefined },
  ...{ outage: undefined, settings: undefined, origin: undefined },
} satisfies Readonly<Record<keyof Channel, unknown>>;

/** A tag that is switched off, and why. Absent means on. */
export interface TagSwitch {
  readonly tag: string;
  readonly disabled: boolean;
  readonly reason: string | undefined;
  /** Unix seconds of the last change. */
  readonly changedTime: number;
  readonly changedBy: string | undefined;
}

/**
 * Whether two versions of a channel send the same credentials to the same account, so that knowledge of one applies to the
 * other.
 */
export function isSameAccount(one: Channel, other: Channel): boolean {
  return accountOf(one) === accountOf(other);
}

function accountOf({ provider, baseUrl, settings, credentials }: Channel): string {
  return JSON.stringify([
    provider,
    baseUrl,
    settings,
    mapValues(credentials, (each) => each.reveal()),
  ]);
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
  channel: Pick<Channel, 'status' | 'tag' | 'outage'>,
  switches: ReadonlyMap<string, TagSwitch>,
): EffectiveStatus {
  if (channel.status === CHANNEL_DISABLED) return { live: false, because: 'disabled' };
  if (channel.status === CHANNEL_AUTO_DISABLED) {
    const reason = channel.outage === undefined ? undefined : outageText(channel.outage);
    return { live: false, because: 'auto_disabled', reason };
  }
  const tagSwitch = channel.tag === undefined ? undefined : switches.get(channel.tag);
  if (tagSwitch?.disabled === true) {
    return { live: false, because: 'tag_disabled', reason: tagSwitch.reason };
  }
  return { live: true };
}

/**
 * The status of a configured channel when it is declared again. It follows the declaration until somebody sets it by hand; a
 * channel that the gateway disabled stays disabled unless its declaration has changed.
 */
export function statusOnceDeclared(
  before: ChannelStatus,
  declaredBefore: ChannelStatus | undefined,
  declared: ChannelStatus,
): ChannelStatus {
  if (before === declaredBefore) return declared;
  return before === CHANNEL_AUTO_DISABLED && declared !== declaredBefore ? declared : before;
}

/** What selection needs to know of a channel. */
export interface Candidate {
  readonly id: number;
  readonly priority: number;
  readonly weight: number;
}

/**
 * The next channel to try: from the highest priority that has any left, chosen at random by weight. Weight 0 is chosen only
 * when nothing else is left in that tier. `undefined` when all were tried.
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

/** The probability that `nextChannel` draws each of several equally good candidates. */
export function chancesOf(candidates: readonly Candidate[]): number[] {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  return candidates.map(({ weight }) => (total > 0 ? weight / total : 1 / candidates.length));
}
