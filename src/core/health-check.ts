import type { Channel } from './channel.js';
import type { ProbeProblemCode, ProbeReport } from './probe.js';
import type { FaultKind } from './retry.js';

/**
 * Servers that hold one model in memory and do not bill. Excludes proxies, which may call a paid provider, and servers that
 * load a model on demand, which a check would keep awake.
 */
const OWN_SERVERS: ReadonlySet<string> = new Set([
  'tei',
  'infinity',
  'vllm',
  'sglang',
  'nim',
  'openvino',
  'mosec',
]);
const OWN_SERVER_CHECK_MS = 60_000;

/** Consecutive failed checks after which a channel is paused. */
export const FAILED_CHECKS_BELIEVED = 2;

/** Time between the health checks of a channel; 0: none. */
export function healthCheckMs({
  provider,
  healthCheckS,
}: Pick<Channel, 'provider' | 'healthCheckS'>): number {
  if (healthCheckS !== undefined) return healthCheckS * 1_000;
  return OWN_SERVERS.has(provider) ? OWN_SERVER_CHECK_MS : 0;
}

/**
 * Names of channels that get requests between their health checks although these fail: a pause is shorter than the time set
 * between two checks, and at least one of the channel's models has no other channel, so that a caller waits for the probe. The
 * provider's default is not reported.
 */
export function rarelyChecked(
  channels: readonly Pick<Channel, 'name' | 'models' | 'healthCheckS'>[],
  pauseMs: number,
): string[] {
  const counts = new Map<string, number>();
  for (const { models } of channels) {
    for (const model of Object.keys(models)) counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  return channels
    .filter(({ healthCheckS = 0 }) => healthCheckS * 1_000 > pauseMs)
    .filter(({ models }) => Object.keys(models).some((model) => counts.get(model) === 1))
    .map(({ name }) => name);
}

/** What all nodes know about a channel's health checks. */
export interface CheckNote {
  /** Checks so far. */
  readonly count: number;
  /** How many of the latest checks failed in a row. */
  readonly failures: number;
  readonly kind: FaultKind | 'ok';
  readonly atMs: number;
}

/** The note after one more check. */
export function noteAfter(
  before: CheckNote | undefined,
  kind: FaultKind | 'ok',
  atMs: number,
): CheckNote {
  const failures = kind === 'ok' ? 0 : (before?.failures ?? 0) + 1;
  return { count: (before?.count ?? 0) + 1, failures, kind, atMs };
}

const FAULT_OF_PROBLEM: Readonly<Record<ProbeProblemCode, FaultKind>> = {
  busy: 'busy',
  timeout: 'timeout',
  not_a_ranking: 'invalid',
  web_page: 'invalid',
  redirected: 'invalid',
  unreachable: 'transient',
  unknown_host: 'transient',
  tls: 'transient',
  connection_broken: 'transient',
  upstream_fault: 'transient',
  unusable: 'misconfigured',
  wrong_key: 'misconfigured',
  no_credit: 'misconfigured',
  wrong_path: 'misconfigured',
  unknown_model: 'misconfigured',
  refused: 'misconfigured',
  wrong_order: 'misconfigured',
};

/**
 * What a probe says about its channel, in the terms of an attempt. A ranking in the wrong order still counts as a ranking.
 */
export function faultOfProbe({
  ranking,
  problem,
}: Pick<ProbeReport, 'ranking' | 'problem'>): FaultKind | 'ok' {
  if (ranking !== undefined || problem === undefined) return 'ok';
  return FAULT_OF_PROBLEM[problem.code];
}
