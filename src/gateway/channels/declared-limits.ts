import { windowOf } from '../../core/budget.js';
import type { Channel } from '../../core/channel.js';
import type { KeyLimitName, LimitName } from '../../core/channel-members.js';
import type { ShareSpan } from '../../core/share.js';

/** What a call takes of one limit. */
export interface Limit<Name extends LimitName = LimitName> {
  readonly name: Name;
  /** What of a call is counted. */
  readonly counts: 'calls' | 'tokens' | 'cost';
  readonly most: number;
  /** Shares in which it is handed out: what a node that is killed had at hand is lost until the window ends. */
  readonly parts: number;
  readonly spanAt: (nowMs: number) => ShareSpan;
  /** The name by which the store counts it: channels of one tag may have one budget. */
  readonly counter: string;
  /** The counter and the limit together: what a lease is good for. */
  readonly key: string;
}

const MINUTE: ShareSpan = { kind: 'sliding', ms: 60_000 };
const PARTS_OF_A_MINUTE = 20;
const PARTS_OF_A_BUDGET = 100;
/** What the channels of each tag may spend together. */
export type TagBudgets = ReadonlyMap<string, readonly Limit[]>;
export const NO_TAG_BUDGETS: TagBudgets = new Map();

/** What a call with a channel takes: of its own limits, and of the budget of its tag. */
export function limitsOf(channel: Channel, tagBudgets: TagBudgets): readonly Limit[] {
  const ofTag = channel.tag === undefined ? undefined : tagBudgets.get(channel.tag);
  return [...ratesOf(channel), ...ownBudgetOf(channel), ...(ofTag ?? [])];
}

/**
 * The budgets of tags: whichever channel of a tag declares one, it is for all of them, those that are added later too. Where
 * channels of a tag differ, the least counts.
 */
export function tagBudgetsOf(channels: Iterable<Channel>): TagBudgets {
  const byTag = new Map<string, Map<string, Limit>>();
  for (const channel of channels) {
    if (channel.tag === undefined || !isOfTag(channel)) continue;
    const limit = budgetLimit(channel, 'tag_budget', `tag:${channel.tag}`);
    const limits = byTag.get(channel.tag) ?? new Map<string, Limit>();
    byTag.set(channel.tag, limits);
    const most = limits.get(limit.counter)?.most ?? Infinity;
    if (limit.most < most) limits.set(limit.counter, limit);
  }
  return new Map([...byTag].map(([tag, limits]) => [tag, [...limits.values()]]));
}

/** The limits of one key of a channel; `keyName` tells it from the others, on all nodes alike. */
export function limitsOfKey(channel: Channel, keyName: string): readonly Limit<KeyLimitName>[] {
  const { id, keyRequestsPerMinute, keyTokensPerMinute } = channel;
  const owner = `channel:${id}:key:${keyName}`;
  return [
    ...rate(owner, 'key_requests_per_minute', 'calls', keyRequestsPerMinute),
    ...rate(owner, 'key_tokens_per_minute', 'tokens', keyTokensPerMinute),
  ];
}

function ratesOf({ id, requestsPerMinute, tokensPerMinute }: Channel): Limit[] {
  const owner = `channel:${id}`;
  return [
    ...rate(owner, 'requests_per_minute', 'calls', requestsPerMinute),
    ...rate(owner, 'tokens_per_minute', 'tokens', tokensPerMinute),
  ];
}

function rate<Name extends LimitName>(
  owner: string,
  name: Name,
  counts: Limit['counts'],
  most: number,
): Limit<Name>[] {
  if (most === 0) return [];
  const keys = keysOf(`${owner}:${name}`, most);
  return [{ name, counts, most, parts: PARTS_OF_A_MINUTE, ...keys, spanAt: () => MINUTE }];
}

function isOfTag({ tag, budget, budgetScope }: Channel): boolean {
  return budget > 0 && budgetScope === 'tag' && tag !== undefined;
}

function ownBudgetOf(channel: Channel): Limit[] {
  if (channel.budget === 0 || isOfTag(channel)) return [];
  return [budgetLimit(channel, 'budget', `channel:${channel.id}`)];
}

function budgetLimit(channel: Channel, name: 'budget' | 'tag_budget', owner: string): Limit {
  const { budget, budgetPeriod, budgetTimeZone } = channel;
  return {
    ...{ name, counts: 'cost', most: budget, parts: PARTS_OF_A_BUDGET },
    ...keysOf(`${owner}:budget:${budgetPeriod}:${budgetTimeZone}`, budget),
    spanAt: (nowMs) => ({ kind: 'until', atMs: windowOf(channel, nowMs).untilMs }),
  };
}

function keysOf(counter: string, most: number): Pick<Limit, 'counter' | 'key'> {
  return { counter, key: `${counter} ${most}` };
}
