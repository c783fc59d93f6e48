import Joi from 'joi';
import type { ProbeReport, ScoreScale } from '../core/probe.js';
import { arrayOf, choice, nullable, shape, wireOf, type Of } from './shape.js';

const USAGE = shape({
  input_tokens: nullable(Joi.number()),
  search_units: nullable(Joi.number()),
});

/** The result of a channel test, on the wire. */
export const TESTED = shape({
  ok: Joi.boolean(),
  model: Joi.string(),
  upstream_model: Joi.string(),
  url: nullable(Joi.string()).description('Where the request went.'),
  status: nullable(Joi.number().integer()).description('Of its reply.'),
  latency_ms: Joi.number().min(0),
  order: nullable(choice('right', 'wrong', 'undecided')),
  scores: nullable(shape({ right: Joi.number(), other: Joi.number() })).description(
    'Of the document that answers the query, and of the one that does not.',
  ),
  score_scale: nullable(
    shape({ expected: Joi.string<ScoreScale>(), observed: Joi.string(), fits: Joi.boolean() }),
  ),
  usage: USAGE.description('As the upstream reports it.'),
  problem: nullable(shape({ code: Joi.string(), message: Joi.string() })),
  warnings: arrayOf(Joi.string()),
});
export type TestedWire = Of<typeof TESTED>;

/** The result of a channel test, as the API returns it and as the command line prints it with `--json`. */
export function testedWire(tested: ProbeReport): TestedWire {
  const { ranking, problem } = tested;
  return wireOf(TESTED, {
    ...tested,
    ok: problem === undefined,
    latencyMs: tested.durationMs,
    order: ranking?.order,
    scores: ranking && { ...ranking.scores },
    scoreScale: ranking && { ...ranking.scale },
    usage: wireOf(USAGE, tested.usage),
    problem: problem && { ...problem },
  });
}
