import Joi from 'joi';
import { CERTAINTIES, type Discovery, type ProposedChannel } from '../core/discovery.js';
import { snakeCase, snakeKeys } from '../core/records.js';
import { arrayOf, choice, nullable, shape, wireOf, type Of } from './shape.js';

const PROPOSED = shape({
  name: Joi.string(),
  provider: Joi.string(),
  base_url: Joi.string(),
  models: arrayOf(Joi.string().allow('')),
  credentials: Joi.object<Record<string, string>>().pattern(Joi.string(), Joi.string()),
  settings: Joi.object<Record<string, string | number | boolean>>().pattern(
    Joi.string(),
    Joi.alternatives(Joi.string(), Joi.number(), Joi.boolean()),
  ),
});
/** A channel as configuration files have it. */
export type ProposedWire = Of<typeof PROPOSED>;

const CANDIDATE = shape({
  provider: Joi.string(),
  certainty: choice(...CERTAINTIES),
  because: Joi.string(),
  model: nullable(Joi.string())
    .default(null)
    .description('The one that ranked, where it is an embedding or chat model.'),
});

/** What was found out about a server, on the wire. */
export const DISCOVERED = shape({
  candidates: arrayOf(CANDIDATE).description(
    'Providers whose requests it answers, the best first.',
  ),
  channel: nullable(PROPOSED)
    .default(null)
    .description(
      'For the first candidate, as configuration files have it: variables stand for secrets.',
    ),
  models: arrayOf(Joi.string().allow('')).description('Those that it lists.'),
  max_documents: nullable(Joi.number()).description('In one request, if it reports a limit.'),
  score_scale: nullable(Joi.string()),
  order: nullable(choice('right', 'wrong', 'undecided')),
  requests: Joi.number().integer().min(0).description('How many it took.'),
  problem: nullable(shape({ code: Joi.string(), message: Joi.string() })),
});
export type DiscoveredWire = Of<typeof DISCOVERED>;

export function discoveredWire(discovery: Discovery): DiscoveredWire {
  const { candidates, channel, mostDocuments, scale, problem } = discovery;
  return wireOf(DISCOVERED, {
    ...discovery,
    candidates: candidates.map((candidate) => wireOf(CANDIDATE, candidate)),
    channel: channel && proposedWire(channel),
    maxDocuments: mostDocuments,
    scoreScale: scale,
    problem: problem && { ...problem },
  });
}

function proposedWire(channel: ProposedChannel): ProposedWire {
  const { provider, credentials, settings } = channel;
  const variables = credentials.map((name) => [name, `\${${snakeCase(name).toUpperCase()}}`]);
  return wireOf(PROPOSED, {
    ...channel,
    name: provider,
    credentials: snakeKeys(Object.fromEntries(variables) as Record<string, string>),
    settings: snakeKeys(settings),
  });
}
