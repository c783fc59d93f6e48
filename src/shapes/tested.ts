import Joi from 'joi';
import type { ProbeReport, ScoreScale } from '../core/probe.js';

/** The result of a channel test, on the wire. */
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

export const TESTED = Joi.object<TestedWire, true>({
  ok: Joi.boolean().required(),
  model: Joi.string().required(),
  upstream_model: Joi.string().required(),
  url: Joi.string().allow(null).required().description('Where the request went.'),
  status: Joi.number().integer().allow(null).required().description('Of its reply.'),
  latency_ms: Joi.number().min(0).required(),
  order: Joi.string<'right' | 'wrong' | 'undecided'>()
    .valid('right', 'wrong', 'undecided')
    .allow(null)
    .required(),
  scores: Joi.object<{ right: number; other: number }, true>({
    right: Joi.number().required(),
    other: Joi.number().required(),
  })
    .allow(null)
    .required()
    .description('Of the document that answers the query, and of the one that does not.'),
  score_scale: Joi.object<{ expected: ScoreScale; observed: string; fits: boolean }, true>({
    expected: Joi.string<ScoreScale>().required(),
    observed: Joi.string().required(),
    fits: Joi.boolean().required(),
  })
    .allow(null)
    .required(),
  usage: Joi.object<TestedWire['usage'], true>({
    input_tokens: Joi.number().allow(null).required(),
    search_units: Joi.number().allow(null).required(),
  })
    .required()
    .description('As the upstream reports it.'),
  problem: Joi.object<{ code: string; message: string }, true>({
    code: Joi.string().required(),
    message: Joi.string().required(),
  })
    .allow(null)
    .required(),
  warnings: Joi.array().items(Joi.string()).required(),
});

/** The result of a channel test, as the API returns it and as the command line prints it with `--json`. */
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
