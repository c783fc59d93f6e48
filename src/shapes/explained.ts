import Joi from 'joi';
import {
  PASSED_OVER_BECAUSE,
  type ExplainedCandidate,
  type ExplainedModel,
  type Explanation,
  type PassedOver,
} from '../core/explanation.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';

interface ChannelWire {
  id: number;
  name: string;
  provider: string;
  tag: string | null;
}

interface CandidateWire extends ChannelWire {
  priority: number;
  weight: number;
  chance: number;
  upstream_model: string;
}

interface PassedOverWire extends ChannelWire {
  because: PassedOver['because'];
  message: string;
  by: string | null;
  since: number | null;
  until: number | null;
}

interface ModelWire {
  model: string;
  select: string | null;
  candidates: CandidateWire[];
  passed_over: PassedOverWire[];
  more_passed_over: number;
}

/** What would happen to a request, on the wire. */
export interface ExplainedWire extends ModelWire {
  object: 'rerank.explanation';
  dialect: string | null;
  asked: string;
  tag: string | null;
  documents: number;
  refusal: { code: string; status: number; message: string } | null;
  fallbacks: ModelWire[];
  outgoing: {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: string;
    body_bytes: number;
  } | null;
  cost: {
    per: 'request' | 'search_unit' | 'million_tokens';
    price: number;
    estimated: number;
    reserved: number;
  };
}

const NAME = Joi.string().allow(null).required();

const CHANNEL_MEMBERS = {
  id: ID.required(),
  name: Joi.string().required(),
  provider: Joi.string().required(),
  tag: NAME,
};

const MODEL_MEMBERS = {
  model: Joi.string().allow('').required().description('As it is called here.'),
  select: NAME.description('How one of several channels of a priority is chosen.'),
  candidates: Joi.array()
    .items(
      Joi.object<CandidateWire, true>({
        ...CHANNEL_MEMBERS,
        priority: Joi.number().required(),
        weight: Joi.number().required(),
        chance: Joi.number()
          .min(0)
          .max(1)
          .required()
          .description('Of being asked first among those of its priority.'),
        upstream_model: Joi.string().allow('').required(),
      }),
    )
    .required()
    .description('In the order in which they are tried.'),
  passed_over: Joi.array()
    .items(
      Joi.object<PassedOverWire, true>({
        ...CHANNEL_MEMBERS,
        because: Joi.string<PassedOver['because']>()
          .valid(...PASSED_OVER_BECAUSE)
          .required(),
        message: Joi.string().required(),
        by: NAME.description('Who switched it off, where that is known.'),
        since: Joi.number().integer().allow(null).required().description('Unix seconds.'),
        until: Joi.number().allow(null).required().description('Unix milliseconds.'),
      }),
    )
    .required(),
  more_passed_over: Joi.number()
    .integer()
    .min(0)
    .default(0)
    .description('Further channels, which serve other models.'),
};

export const EXPLAINED = Joi.object<ExplainedWire, true>({
  object: Joi.string<'rerank.explanation'>().valid('rerank.explanation').required(),
  dialect: NAME.description('The form that the request was understood in.'),
  asked: Joi.string().allow('').required().description('The model as the request names it.'),
  tag: NAME,
  documents: REQUIRED_COUNT,
  refusal: Joi.object<NonNullable<ExplainedWire['refusal']>, true>({
    code: Joi.string().required(),
    status: REQUIRED_COUNT,
    message: Joi.string().required(),
  })
    .allow(null)
    .required()
    .description('What the request would be refused with now.'),
  ...MODEL_MEMBERS,
  fallbacks: Joi.array()
    .items(Joi.object<ModelWire, true>(MODEL_MEMBERS))
    .required()
    .description('Models that are tried in turn if this one returns no ranking.'),
  outgoing: Joi.object<NonNullable<ExplainedWire['outgoing']>, true>({
    url: Joi.string().required(),
    method: Joi.string().required(),
    headers: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
    body: Joi.string().allow('').required().description('Its first kilobyte.'),
    body_bytes: REQUIRED_COUNT,
  })
    .allow(null)
    .required()
    .description('What the first candidate would be sent, without credentials.'),
  cost: Joi.object<ExplainedWire['cost'], true>({
    per: Joi.string<ExplainedWire['cost']['per']>()
      .valid('request', 'search_unit', 'million_tokens')
      .required(),
    price: Joi.number().required(),
    estimated: REQUIRED_COUNT.description('In units of quota.'),
    reserved: REQUIRED_COUNT.description('Set aside until the real cost is known.'),
  }).required(),
});

export function explainedWire(explanation: Explanation): ExplainedWire {
  const { dialect, asked, tag, documents, refusal, fallbacks, outgoing, cost } = explanation;
  return {
    object: 'rerank.explanation',
    dialect: dialect ?? null,
    asked,
    tag: tag ?? null,
    documents,
    refusal: refusal === undefined ? null : { ...refusal },
    ...modelWire(explanation),
    fallbacks: fallbacks.map(modelWire),
    outgoing:
      outgoing === undefined
        ? null
        : {
            url: outgoing.url,
            method: outgoing.method,
            headers: { ...outgoing.headers },
            body: outgoing.body,
            body_bytes: outgoing.bodyBytes,
          },
    cost: {
      per: cost.price.per,
      price: cost.price.units,
      estimated: cost.estimated,
      reserved: cost.reserved,
    },
  };
}

function modelWire(explained: ExplainedModel): ModelWire {
  const { model, select, candidates, passedOver, morePassedOver } = explained;
  return {
    model,
    select: select ?? null,
    candidates: candidates.map(candidateWire),
    passed_over: passedOver.map(passedOverWire),
    more_passed_over: morePassedOver,
  };
}

function candidateWire(candidate: ExplainedCandidate): CandidateWire {
  const { id, name, provider, tag, priority, weight, chance, upstreamModel } = candidate;
  const upstream_model = upstreamModel;
  return { id, name, provider, tag: tag ?? null, priority, weight, chance, upstream_model };
}

function passedOverWire(channel: PassedOver): PassedOverWire {
  const { id, name, provider, tag, because, message, by, since, untilMs } = channel;
  return {
    ...{ id, name, provider, tag: tag ?? null, because, message },
    ...{ by: by ?? null, since: since ?? null, until: untilMs ?? null },
  };
}
