import type { Rules, Violation } from './observations.js';
import type { Place } from './fleet.js';
import type { Wire } from './upstreams.js';

export const STORM_SECONDS = 60;

export const DEADLINE_MS = 3_000;
export const GRACE_MS = 2_000;
const MAX_ATTEMPTS = 3;

export const RULES: Rules = { slackMs: 1_500, settleMs: 3_000 };

/** Three gateways, whose clocks do not agree. */
export const PLACES: readonly Place[] = [
  { workers: 1, clockMs: 90_000 },
  { workers: 1, clockMs: -40_000 },
  { workers: 2, clockMs: 0 },
];

/** What a ranking costs: another price for each model, so that a wrong one shows in the sums. */
export const PRICES: Readonly<Record<string, number>> = {
  plain: 3,
  hedged: 5,
  shared: 7,
  kept: 11,
  replaced: 13,
};

/** By model, those that may answer. */
export const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  plain: ['plain'],
  hedged: ['hedged'],
  shared: ['shared'],
  kept: ['kept'],
  replaced: ['replaced', 'plain'],
};

/**
 * What a call may make: so many for each model that may answer, and a second one beside each where it is hedged. Each channel
 * whose circuit is open may be probed with it besides.
 */
export function mostAttempts(model: string): number {
  const answers = ANSWERS[model] ?? [];
  const probes = answers.flatMap((each) => UPSTREAMS.filter(({ models }) => models.includes(each)));
  return MAX_ATTEMPTS * answers.length * (model === 'hedged' ? 2 : 1) + probes.length;
}

interface UpstreamPlan {
  readonly channel: string;
  readonly tag: string | undefined;
  readonly wire: Wire;
  readonly models: readonly string[];
  /** Round trip of the way to it, where that is slow. */
  readonly slowMs?: number;
}

export const UPSTREAMS: readonly UpstreamPlan[] = [
  { channel: 'one', tag: 'blue', wire: 'cohere', models: ['plain', 'shared', 'replaced'] },
  { channel: 'two', tag: 'blue', wire: 'voyage', models: ['plain', 'hedged', 'kept', 'replaced'] },
  { channel: 'three', tag: 'green', wire: 'tei', models: ['hedged', 'shared', 'kept'] },
  // Never switched off: what a slow way delivers had been sent before.
  {
    channel: 'far',
    tag: undefined,
    wire: 'cohere',
    models: ['plain', 'kept', 'hedged'],
    slowMs: 40,
  },
];

/** Promises that `preload/sabotage-hooks.mjs` can break, and the rules that have to notice. */
export const SABOTAGES: readonly {
  readonly name: string;
  readonly breaks: readonly Violation['rule'][];
}[] = [
  { name: 'dropped settlement', breaks: ['money'] },
  { name: 'double charge', breaks: ['money'] },
  { name: 'ignored switch', breaks: ['switched off'] },
  { name: 'wrong ranking', breaks: ['right ranking'] },
  { name: 'lost answer', breaks: ['answered once'] },
  { name: 'late answer', breaks: ['deadline'] },
];

/** The configuration of the gateways; upstreams by their ports. */
export function gatewaySettings(ports: readonly number[]): Readonly<Record<string, unknown>> {
  return {
    server: { drain_ms: 5_000 },
    gateway: {
      deadline_ms: DEADLINE_MS,
      attempt_timeout_ms: 2_500,
      max_attempts: MAX_ATTEMPTS,
      staleness_ms: 600,
      reservation_grace_ms: GRACE_MS,
      max_cooldown_ms: 2_000,
    },
    traffic: { breaker_failures: 4, breaker_window_ms: 5_000, breaker_open_ms: 300 },
    models: {
      plain: { queue_ms: 300 },
      hedged: { hedge: true, select: 'fastest', queue_ms: 300 },
      shared: { coalesce: true, select: 'least_busy' },
      kept: { cache_ttl_ms: 1_000, cache_shared: true, coalesce: true, select: 'sticky' },
      replaced: { fallbacks: ['plain'] },
    },
    prices: {
      models: Object.fromEntries(
        Object.entries(PRICES).map(([model, units]) => [model, { per_request: units }]),
      ),
    },
    channels: UPSTREAMS.map(({ channel, tag, wire, models }, at) => ({
      ...{ name: channel, provider: wire, models, api_key: 'upstream-key' },
      base_url: `http://127.0.0.1:${ports[at] ?? 0}`,
      ...(tag === undefined ? {} : { tag }),
    })),
  };
}
