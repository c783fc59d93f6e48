import Joi from 'joi';
import { MAX_TIMER_MS, text } from './checks.js';
import { DEFAULT_RULES, RULE_ROWS, type ModelRules } from '../core/model-rules.js';
import { camelKeys, mapValues, snakeCase, type SnakeCase } from '../core/records.js';

/** Rules for models: by name, and for those that are not named. */
export interface ModelRulesSettings {
  readonly fallback: ModelRules;
  readonly named: Readonly<Record<string, ModelRules>>;
}

/** The rules of one model as in a file, where it may leave some out. */
export type FileRules = {
  readonly [K in keyof ModelRules as SnakeCase<K>]?: ModelRules[K];
};

const MAX_FALLBACKS = 16;

export const MODEL_RULES_SCHEMA = Joi.object<FileRules>(
  Object.fromEntries(RULE_ROWS.map((row) => [snakeCase(row.name), ruleSchema(row)])),
);

function ruleSchema(row: (typeof RULE_ROWS)[number]): Joi.Schema {
  switch (row.type) {
    case 'choice':
      return Joi.string().valid(...row.choices);
    case 'boolean':
      return Joi.boolean();
    case 'milliseconds':
      return Joi.number().integer().min(0).max(MAX_TIMER_MS);
    case 'models':
      return Joi.array().items(text().max(256)).max(MAX_FALLBACKS).unique();
  }
}

/** Each model's own rules over those under `default`, and these over the defaults of the gateway. */
export function modelRulesOf({
  default: given,
  ...named
}: Readonly<Record<string, FileRules>>): ModelRulesSettings {
  const fallback = over(DEFAULT_RULES, given);
  return { fallback, named: mapValues(named, (rules) => over(fallback, rules)) };
}

function over(base: ModelRules, rules: FileRules = {}): ModelRules {
  // The schema has checked each value by its row.
  return { ...base, ...(camelKeys(rules) as unknown as Partial<ModelRules>) };
}
