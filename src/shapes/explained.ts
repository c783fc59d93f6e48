import Joi from 'joi';
import { PASSED_OVER_BECAUSE, type ExplainedModel, type Explanation } from '../core/explanation.js';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { arrayOf, choice, nullable, shape, wireOf, type Of } from './shape.js';

const NAME = nullable(Joi.string());

const CHANNEL = { id: ID, name: Joi.string(), provider: Joi.string(), tag: NAME };
const CANDIDATE = shape({
  ...CHANNEL,
  priority: Joi.number(),
  weight: Joi.number(),
  chance: Joi.number()
    .min(0)
    .max(1)
    .description('Of being asked first among those of its priority.'),
  upstream_model: Joi.string().allow(''),
});
const PASSED_OVER = shape({
  ...CHANNEL,
  because: choice(...PASSED_OVER_BECAUSE),
  message: Joi.string(),
  by: NAME.description('Who switched it off, where that is known.'),
  since: nullable(Joi.number().integer()).description('Unix seconds.'),
  until: nullable(Joi.number()).description('Unix milliseconds.'),
});
const MODEL_MEMBERS = {
  model: Joi.string().allow('').description('As it is called here.'),
  select: NAME.description('How one of several channels of a priority is chosen.'),
  candidates: arrayOf(CANDIDATE).description('In the order in which they are tried.'),
  passed_over: arrayOf(PASSED_OVER),
  more_passed_over: COUNT.default(0).description('Further channels, which serve other models.'),
};
const MODEL = shape(MODEL_MEMBERS);
const OUTGOING = shape({
  url: Joi.string(),
  method: Joi.string(),
  headers: Joi.object<Record<string, string>>().pattern(Joi.string(), Joi.string().allow('')),
  body: Joi.string().allow('').description('Its first kilobyte.'),
  body_bytes: COUNT,
});

/** What would happen to a request, on the wire. */
export const EXPLAINED = shape({
  object: choice('rerank.explanation'),
  dialect: NAME.description('The form that the request was understood in.'),
  asked: Joi.string().allow('').description('The model as the request names it.'),
  tag: NAME,
  documents: COUNT,
  refusal: nullable(
    shape({ code: Joi.string(), status: COUNT, message: Joi.string() }),
  ).description('What the request would be refused with now.'),
  ...MODEL_MEMBERS,
  fallbacks: arrayOf(MODEL).description(
    'Models that are tried in turn if this one returns no ranking.',
  ),
  outgoing: nullable(OUTGOING).description(
    'What the first candidate would be sent, without credentials.',
  ),
  cost: shape({
    per: choice('request', 'search_unit', 'million_tokens'),
    price: Joi.number(),
    estimated: COUNT.description('In units of quota.'),
    reserved: COUNT.description('Set aside until the real cost is known.'),
  }),
});
export type ExplainedWire = Of<typeof EXPLAINED>;

export function explainedWire(explanation: Explanation): ExplainedWire {
  const { refusal, fallbacks, outgoing, cost } = explanation;
  return wireOf(EXPLAINED, {
    ...explanation,
    ...modelMembers(explanation),
    object: 'rerank.explanation',
    refusal: refusal && { ...refusal },
    fallbacks: fallbacks.map((model) => wireOf(MODEL, modelMembers(model))),
    outgoing: outgoing && wireOf(OUTGOING, outgoing),
    cost: {
      per: cost.price.per,
      price: cost.price.units,
      estimated: cost.estimated,
      reserved: cost.reserved,
    },
  });
}

function modelMembers(explained: ExplainedModel) {
  return {
    ...explained,
    candidates: explained.candidates.map((candidate) => wireOf(CANDIDATE, candidate)),
    passedOver: explained.passedOver.map((channel) =>
      wireOf(PASSED_OVER, { ...channel, until: channel.untilMs }),
    ),
  };
}
