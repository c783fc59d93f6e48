import Joi from 'joi';
import type { Offer } from '../gateway/rank.js';
import type { RerankReply } from '../gateway/rerank.js';
import type { AttemptEnd, Trace } from '../gateway/trace.js';
import { REQUIRED_COUNT } from '../shapes/counts.js';
import { ID } from '../shapes/lists.js';
import type { OperationDeps } from './operation.js';

type ScoreScale = Offer['scale'];

/** One call to a channel. */
interface AttemptWire {
  channel: string | null;
  outcome: AttemptEnd;
  status: number | null;
  duration_ms: number;
  message: string;
}

/** A ranking as the playground shows it. */
export interface RankWire {
  request_id: string;
  model: string;
  channel: { id: number; name: string; provider: string; tag: string | null } | null;
  upstream_model: string | null;
  score_scale: ScoreScale | null;
  results: { index: number; relevance_score: number }[];
  usage: { input_tokens: number; search_units: number; estimated: boolean };
  quota: number;
  timing: { total_ms: number; upstream_ms: number; admission_ms: number };
  attempts: AttemptWire[];
  warnings: string[];
}

const SCORE_SCALES: readonly ScoreScale[] = [
  ...(['probability', 'logit', 'cosine', 'unbounded', 'order'] as const),
];
const MS = Joi.number().min(0).required();
const TEXT = Joi.string().allow('').required();

export const ATTEMPTS = Joi.array<AttemptWire[]>()
  .items(
    Joi.object<AttemptWire, true>({
      channel: Joi.string()
        .allow(null)
        .required()
        .description('Null for those who are not admins.'),
      outcome: Joi.string().required().description('`ok`, or what went wrong.'),
      status: Joi.number().integer().allow(null).required().description('Of the upstream.'),
      duration_ms: MS,
      message: TEXT.description('In the upstream’s words, for admins alone.'),
    }),
  )
  .description('The calls to channels, in their order.');

export const RANKED = Joi.object<RankWire>({
  request_id: Joi.string().required(),
  model: TEXT,
  channel: Joi.object({
    id: ID.required(),
    name: Joi.string().required(),
    provider: Joi.string().required(),
    tag: Joi.string().allow(null).required(),
  })
    .allow(null)
    .required()
    .description('Which one ranked; null for those who are not admins.'),
  upstream_model: Joi.string()
    .allow(null)
    .required()
    .description('What that channel calls the model; null for those who are not admins.'),
  score_scale: Joi.string()
    .valid(...SCORE_SCALES)
    .allow(null)
    .required()
    .description('What its scores are as far as is known; null where several channels ranked.'),
  results: Joi.array()
    .items(Joi.object({ index: REQUIRED_COUNT, relevance_score: Joi.number().required() }))
    .required(),
  usage: Joi.object({
    input_tokens: REQUIRED_COUNT,
    search_units: REQUIRED_COUNT,
    estimated: Joi.boolean().required(),
  }).required(),
  quota: REQUIRED_COUNT.description('Charged, in units.'),
  timing: Joi.object<RankWire['timing'], true>({
    total_ms: MS,
    upstream_ms: MS.description('Waiting for upstreams, all told.'),
    admission_ms: MS.description('Until the key was admitted.'),
  }).required(),
  attempts: ATTEMPTS.required(),
  warnings: Joi.array().items(Joi.string()).required(),
});

/** Users see no channels. */
export function rankedWire(
  deps: OperationDeps,
  trace: Trace,
  { rows, usage, warnings, model }: RerankReply,
  isAdmin: boolean,
): Omit<RankWire, 'request_id' | 'timing'> {
  const { byId, plans } = deps.gateway.channels.current;
  const [served, ...others] = trace.servedBy;
  const route = served === undefined ? undefined : byId.get(served.channelId);
  const answered = model ?? trace.model ?? '';
  const offer = plans.get(answered)?.offers.find(({ id }) => id === served?.channelId);
  const isNormalized = offer?.scale === 'logit' && route?.channel.scores === 'normalized';
  return {
    model: trace.model ?? '',
    channel:
      !isAdmin || served === undefined
        ? null
        : {
            id: served.channelId,
            name: route?.channel.name ?? `#${served.channelId}`,
            provider: served.provider,
            tag: served.tag ?? null,
          },
    upstream_model: isAdmin ? (offer?.upstreamModel ?? null) : null,
    score_scale: others.length > 0 ? null : isNormalized ? 'probability' : (offer?.scale ?? null),
    results: rows.map(({ index, score }) => ({ index, relevance_score: score })),
    usage: {
      input_tokens: usage.inputTokens,
      search_units: usage.searchUnits,
      estimated: usage.estimated,
    },
    quota: trace.quota,
    attempts: attemptsOf(deps, trace, isAdmin),
    warnings: [...warnings],
  };
}

/** The calls that were made. Users see no channels, and none of the upstream's words. */
export function attemptsOf(deps: OperationDeps, trace: Trace, isAdmin: boolean): AttemptWire[] {
  const { byId } = deps.gateway.channels.current;
  return trace.made
    .filter(({ outcome }) => outcome !== 'withdrawn')
    .map(({ channelId, outcome, status = null, message, durationMs }) => ({
      channel: isAdmin ? (byId.get(channelId)?.channel.name ?? `#${channelId}`) : null,
      ...{ outcome, status, duration_ms: durationMs, message: isAdmin ? message : '' },
    }));
}
