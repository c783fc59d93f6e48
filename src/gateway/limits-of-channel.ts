import { windowOf } from '../core/budget.js';
import type { Channel } from '../core/channel.js';
import type { LimitName } from '../core/channel-members.js';
import type { ShareSpan } from '../core/share.js';

/** What a call takes of one limit. */
export interface Limit {
  readonly name: LimitName;
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

function ratesOf({ id, requestsPerMinute, tokensPerMinute }: Channel): Limit[] {
  const rates = [
    ['requests_per_minute', requestsPerMinute],
    ['tokens_per_minute', tokensPerMinute],
  ] as const;
  return rates
    .filter(([, most]) => most > 0)
    .map(([name, most]) => ({
      ...{ name, most, parts: PARTS_OF_A_MINUTE, ...keysOf(`channel:${id}:${name}`, most) },
      spanAt: () => MINUTE,
    }));
}

function budgetOf(channel: Channel): Limit[] {
  const { id, tag, budget, budgetScope, budgetPeriod, budgetTimeZone } = channel;
  if (budget === 0) return [];
  const owner = budgetScope === 'tag' && tag !== undefined ? `tag:${tag}` : `channel:${id}`;
  return [
    {
      ...{ name: 'budget', most: budget, parts: PARTS_OF_A_BUDGET },
      ...keysOf(`${owner}:budget:${budgetPeriod}:${budgetTimeZone}`, budget),
      spanAt: (nowMs) => ({ kind: 'until', atMs: windowOf(channel, nowMs).untilMs }),
    },
  ];
}

function keysOf(counter: string, most: number): Pick<Limit, 'counter' | 'key'> {
  return { counter, key: `${counter} ${most}` };
}
