import Joi from 'joi';
import type { Channel } from '../core/channel.js';
import type { SharedEdit } from '../management/channels.js';
import { SCORES } from './channel-view.js';
import { mapOf } from './lists.js';

/** Models as an object of the callers' names and the upstream's, or as names alone: an array, or between commas. */
export type Models = Readonly<Record<string, string>> | readonly string[] | string;

/** What one channel and many alike may be given. */
export interface SharedBody {
  models?: Models;
  priority?: number;
  weight?: number;
  /** Null: the gateway's own. */
  timeout_ms?: number | null;
  max_concurrency?: number;
  scores?: Channel['scores'];
}

const NAME = Joi.string().max(1_024);

export const MODELS = Joi.alternatives<Models>()
  .try(mapOf<string>(NAME), Joi.array().items(NAME).max(10_000), Joi.string().max(100_000))
  .description(
    'The callers’ names, each with the upstream’s; or names alone, listed or with commas.',
  );

/** The members of `SharedBody` for the schema of a body. */
export const SHARED_BODY = {
  models: MODELS,
  priority: Joi.number().integer().description('Higher is tried first.'),
  weight: Joi.number().min(0).description('Its share among equal priorities.'),
  timeout_ms: Joi.number().integer().min(1).allow(null).description('Of one attempt.'),
  max_concurrency: Joi.number()
    .integer()
    .min(0)
    .description('Attempts at once on one node; 0: no bound.'),
  scores: SCORES,
};

export function sharedEdit(body: SharedBody): SharedEdit {
  const { models, priority, weight, timeout_ms, max_concurrency, scores } = body;
  return {
    ...(models === undefined ? {} : { models: modelMap(models) }),
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms ?? undefined }),
    ...(max_concurrency === undefined ? {} : { maxConcurrency: max_concurrency }),
    ...(scores === undefined ? {} : { scores }),
  };
}

export function modelMap(models: Models): Record<string, string> {
  if (typeof models !== 'string' && !Array.isArray(models)) {
    return { ...(models as Readonly<Record<string, string>>) };
  }
  const names = typeof models === 'string' ? models.split(',') : (models as readonly string[]);
  return Object.fromEntries(
    names
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => [name, name]),
  );
}
