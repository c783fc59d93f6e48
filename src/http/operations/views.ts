import type { ProbeReport } from '../../core/probe.js';
import type { RedemptionCode } from '../../store/store.js';

/** `status` of a redemption code on the wire. */
export type CodeStatus = 1 | 2 | 3;

/** A code on the wire: everything but the code itself. */
export interface CodeView {
  id: number;
  /** Who made it. */
  user_id: number;
  name: string;
  key_hint: string;
  quota: number;
  status: CodeStatus;
  created_time: number;
  redeemed_time: number;
  used_user_id: number;
  expired_time: number;
}

export const CODE_STATUS_NUMBERS: Readonly<Record<RedemptionCode['status'], CodeStatus>> = {
  enabled: 1,
  disabled: 2,
  used: 3,
};

/** What the API answers for a code, and the command line prints of it with `--json`. */
export function codeView(code: RedemptionCode): CodeView {
  return {
    id: code.id,
    user_id: code.createdBy,
    name: code.name,
    key_hint: code.codeHint,
    quota: code.quota,
    status: CODE_STATUS_NUMBERS[code.status],
    created_time: code.createdTime,
    redeemed_time: code.redeemedTime,
    used_user_id: code.usedUserId,
    expired_time: code.expiredTime,
  };
}

/** What the test of a channel found, on the wire. */
export interface TestedWire {
  ok: boolean;
  model: string;
  upstream_model: string;
  url: string | null;
  status: number | null;
  latency_ms: number;
  order: 'right' | 'wrong' | 'undecided' | null;
  scores: { right: number; other: number } | null;
  score_scale: { expected: string; observed: string; fits: boolean } | null;
  usage: { input_tokens: number | null; search_units: number | null };
  problem: { code: string; message: string } | null;
  warnings: string[];
}

/** What the API answers for the test of a channel, and the command line prints of it with `--json`. */
export function testedWire(tested: ProbeReport): TestedWire {
  const { ranking, problem, usage } = tested;
  return {
    ok: problem === undefined,
    model: tested.model,
    upstream_model: tested.upstreamModel,
    url: tested.url ?? null,
    status: tested.status ?? null,
    latency_ms: tested.durationMs,
    order: ranking?.order ?? null,
    scores: ranking === undefined ? null : { ...ranking.scores },
    score_scale: ranking === undefined ? null : { ...ranking.scale },
    usage: { input_tokens: usage.inputTokens ?? null, search_units: usage.searchUnits ?? null },
    problem: problem === undefined ? null : { ...problem },
    warnings: [...tested.warnings],
  };
}
