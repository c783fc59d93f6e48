import Joi from 'joi';
import type { Route } from '../gateway/channels/route.js';
import type { Offer } from '../gateway/rank.js';
import type { RerankReply } from '../gateway/rerank.js';
import type { Trace } from '../gateway/trace.js';
import { COUNT } from '../shapes/counts.js';
import { ID } from '../shapes/lists.js';
import type { OperationDeps } from './operation.js';
import { arrayOf, choice, nullable, shape, type Of } from '../shapes/shape.js';

type ScoreScale = Offer['scale'];

const SCORE_SCALES: readonly ScoreScale[] = [
  ...(['probability', 'logit', 'cosine', 'unbounded', 'order'] as const),
];
const MS = Joi.number().min(0);
const TEXT = Joi.string().allow('');

const ATTEMPT = shape({
  channel: nullable(Joi.string()).description('Null for those who are not admins.'),
  outcome: Joi.string().description('`ok`, or what went wrong.'),
  status: nullable(Joi.number().integer()).description('Of the upstream.'),
  duration_ms: MS,
  message: TEXT.description('In the upstream’s words, for admins alone.'),
});
export const ATTEMPTS = arrayOf(ATTEMPT).description('The calls to channels, in their order.');

/** A ranking as the playground shows it. */
export const RANKED = shape({
  request_id: Joi.string(),
  model: TEXT,
  channel: nullable(
    shape({ id: ID, name: Joi.string(), provider: Joi.string(), tag: nullable(Joi.string()) }),
  ).description('Which one ranked; null for those who are not admins.'),
  upstream_model: nullable(Joi.string()).description(
    'What that channel calls the model; null for those who are not admins.',
  ),
  score_scale: nullable(choice(...SCORE_SCALES)).description(
    'What its scores are as far as is known; null where several channels ranked.',
  ),
  results: arrayOf(shape({ index: COUNT, relevance_score: Joi.number() })),
  usage: shape({ input_tokens: COUNT, search_units: COUNT, estimated: Joi.boolean() }),
  quota: COUNT.description('Charged, in units.'),
  timing: shape({
    total_ms: MS,
    upstream_ms: MS.description('Waiting for upstreams, all told.'),
    admission_ms: MS.description('Until the key was admitted.'),
  }),
  attempts: ATTEMPTS,
  warnings: arrayOf(Joi.string()),
});
export type RankWire = Of<typeof RANKED>;

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
  return {
    model: trace.model ?? '',
    channel: !isAdmin || served === undefined ? null : channelOf(served, route),
    upstream_model: isAdmin ? (offer?.upstreamModel ?? null) : null,
    score_scale: others.length > 0 ? null : scaleOf(offer, route),
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

function channelOf(
  served: Trace['servedBy'][number],
  route: Route | undefined,
): RankWire['channel'] {
  return {
    id: served.channelId,
    name: route?.channel.name ?? `#${served.channelId}`,
    provider: served.provider,
    tag: served.tag ?? null,
  };
}

function scaleOf(offer: Offer | undefined, route: Route | undefined): RankWire['score_scale'] {
  const isNormalized = offer?.scale === 'logit' && route?.channel.scores === 'normalized';
  return isNormalized ? 'probability' : (offer?.scale ?? null);
}

/** The calls that were made. Users see no channels, and none of the upstream's words. */
export function attemptsOf(
  deps: OperationDeps,
  trace: Trace,
  isAdmin: boolean,
): Of<typeof ATTEMPT>[] {
  const { byId } = deps.gateway.channels.current;
  return trace.made
    .filter(({ outcome }) => outcome !== 'withdrawn')
    .map(({ channelId, outcome, status = null, message, durationMs }) => ({
      channel: isAdmin ? (byId.get(channelId)?.channel.name ?? `#${channelId}`) : null,
      ...{ outcome, status, duration_ms: durationMs, message: isAdmin ? message : '' },
    }));
}
