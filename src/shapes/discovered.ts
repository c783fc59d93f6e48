import Joi from 'joi';
import {
  CERTAINTIES,
  type Certainty,
  type Discovery,
  type ProposedChannel,
} from '../core/discovery.js';
import { snakeCase, snakeKeys } from '../core/records.js';

/** A channel as configuration files have it. */
export interface ProposedWire {
  name: string;
  provider: string;
  base_url: string;
  models: string[];
  credentials: Record<string, string>;
  settings: Record<string, string | number | boolean>;
}

/** What was found out about a server, on the wire. */
export interface DiscoveredWire {
  candidates: { provider: string; certainty: Certainty; because: string; model: string | null }[];
  channel: ProposedWire | null;
  models: string[];
  max_documents: number | null;
  score_scale: string | null;
  order: 'right' | 'wrong' | 'undecided' | null;
  requests: number;
  problem: { code: string; message: string } | null;
}

export const DISCOVERED = Joi.object<DiscoveredWire, true>({
  candidates: Joi.array()
    .items(
      Joi.object<DiscoveredWire['candidates'][number], true>({
        provider: Joi.string().required(),
        certainty: Joi.string<Certainty>()
          .valid(...CERTAINTIES)
          .required(),
        because: Joi.string().required(),
        model: Joi.string()
          .allow(null)
          .default(null)
          .description('The one that ranked, where it is an embedding or chat model.'),
      }),
    )
    .required()
    .description('Providers whose requests it answers, the best first.'),
  channel: Joi.object<ProposedWire, true>({
    name: Joi.string().required(),
    provider: Joi.string().required(),
    base_url: Joi.string().required(),
    models: Joi.array().items(Joi.string().allow('')).required(),
    credentials: Joi.object().pattern(Joi.string(), Joi.string()).required(),
    settings: Joi.object()
      .pattern(Joi.string(), Joi.alternatives(Joi.string(), Joi.number(), Joi.boolean()))
      .required(),
  })
    .allow(null)
    .default(null)
    .description(
      'For the first candidate, as configuration files have it: variables stand for secrets.',
    ),
  models: Joi.array().items(Joi.string().allow('')).required().description('Those that it lists.'),
  max_documents: Joi.number()
    .allow(null)
    .required()
    .description('In one request, if it reports a limit.'),
  score_scale: Joi.string().allow(null).required(),
  order: Joi.string<'right' | 'wrong' | 'undecided'>()
    .valid('right', 'wrong', 'undecided')
    .allow(null)
    .required(),
  requests: Joi.number().integer().min(0).required().description('How many it took.'),
  problem: Joi.object<{ code: string; message: string }, true>({
    code: Joi.string().required(),
    message: Joi.string().required(),
  })
    .allow(null)
    .required(),
});

export function discoveredWire(discovery: Discovery): DiscoveredWire {
  const { candidates, channel, models, mostDocuments, scale, order, requests, problem } = discovery;
  return {
    candidates: candidates.map(({ model, ...candidate }) => ({
      ...candidate,
      model: model ?? null,
    })),
    channel: channel === undefined ? null : proposedWire(channel),
    models: [...models],
    max_documents: mostDocuments ?? null,
    score_scale: scale ?? null,
    order: order ?? null,
    requests,
    problem: problem === undefined ? null : { ...problem },
  };
}

function proposedWire(channel: ProposedChannel): ProposedWire {
  const { provider, baseUrl, models, credentials, settings } = channel;
  const variables = credentials.map((name) => [name, `\${${snakeCase(name).toUpperCase()}}`]);
  return {
    name: provider,
    provider,
    base_url: baseUrl,
    models: [...models],
    credentials: snakeKeys(Object.fromEntries(variables) as Record<string, string>),
    settings: snakeKeys(settings),
  };
}
