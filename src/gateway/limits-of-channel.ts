import { windowOf } from '../core/budget.js';
import type { Channel } from '../core/channel.js';
import type { KeyLimitName, LimitName } from '../core/channel-members.js';
import type { ShareSpan } from '../core/share.js';

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
const known = new WeakMap<Channel, readonly Limit[]>();

/** The limits of a channel, computed once for each of its versions. */
export function limitsOf(channel: Channel): readonly Limit[] {
  let limits = known.get(channel);
  if (limits === undefined) {
    limits = [...ratesOf(channel), ...budgetOf(channel)];
    known.set(channel, limits);
  }
  return limits;
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

function budgetOf(channel: Channel): Limit[] {
  const { id, tag, budget, budgetScope, budgetPeriod, budgetTimeZone } = channel;
  if (budget === 0) return [];
  const owner = budgetScope === 'tag' && tag !== undefined ? `tag:${tag}` : `channel:${id}`;
  return [
    {
      ...{ name: 'budget', counts: 'cost', most: budget, parts: PARTS_OF_A_BUDGET },
      ...keysOf(`${owner}:budget:${budgetPeriod}:${budgetTimeZone}`, budget),
      spanAt: (nowMs) => ({ kind: 'until', atMs: windowOf(channel, nowMs).untilMs }),
    },
  ];
}

function keysOf(counter: string, most: number): Pick<Limit, 'counter' | 'key'> {
  return { counter, key: `${counter} ${most}` };
}
