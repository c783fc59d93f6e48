import type { Environment } from '../../config/files.js';
import { present } from '../../core/records.js';
import { ruleFor, serverOf, type ProviderRule } from './litellm-providers.js';
import {
  emptyPlan,
  fieldsOf,
  freeName,
  isRerankerName,
  limitIn,
  listIn,
  namesIn,
  numberIn,
  textIn,
  type CarriedChannel,
  type Note,
  type Plan,
} from './plan.js';

type Fields = ReturnType<typeof fieldsOf>;

/** Reads values that may be `os.environ/NAME`, and notes the variables that are not set. */
class Values {
  readonly missing: string[] = [];

  constructor(
    private readonly params: Fields,
    private readonly env: Environment,
  ) {}

  /** The parameter, or else the first variable that is set. */
  of(param: string, variables: readonly string[] = [], required = false): string | undefined {
    const text = textIn(this.params, param);
    const named = text?.startsWith('os.environ/') === true ? [text.slice(11)] : undefined;
    if (text !== undefined && named === undefined) return text;
    const names = named ?? variables;
    const found = names
      .map((name) => this.env[name])
      .find((value) => value !== undefined && value !== '');
    if (found === undefined && (named !== undefined || required))
      this.missing.push(names[0] ?? param);
    return found;
  }
}

/** LiteLLM's config.yaml, as channels here; `env` is what its proxy ran with. */
export function planOfLitellm(config: unknown, env: Environment): Plan {
  const plan = emptyPlan();
  const { model_list: _, ...others } = fieldsOf(config);
  const known = { ...textsIn(fieldsOf(others.environment_variables)), ...env };
  const taken = new Set<string>();
  for (const entry of listIn(fieldsOf(config), 'model_list')) {
    const channel = channelOf(fieldsOf(entry), known, plan);
    if ('why' in channel) {
      plan.notCarried.push(channel);
      continue;
    }
    const name = freeName(channel.name, taken);
    taken.add(name);
    plan.channels.push({ ...channel, name });
  }
  noteSettings(others, plan);
  return plan;
}

function channelOf(entry: Fields, env: Environment, plan: Plan): CarriedChannel | Note {
  const params = fieldsOf(entry.litellm_params);
  const full = textIn(params, 'model') ?? '';
  const alias = textIn(entry, 'model_name') ?? full;
  const what = `model ${alias} (${full})`;
  const mode = textIn(fieldsOf(entry.model_info), 'mode');
  if (mode !== undefined && mode !== 'rerank') return { what, why: 'it is not a reranker' };
  if (mode === undefined && ![full, alias].some(isRerankerName)) {
    const why =
      'it does not look like a reranker; if it is one, set its mode: model_info: {mode: rerank}';
    return { what, why };
  }
  if (`${alias}${full}`.includes('*')) return { what, why: 'a wildcard names no model' };
  const { provider, model } = providerOf(params, full);
  const rule = ruleFor(provider);
  if (rule === undefined) {
    return { what, why: `LiteLLM's provider "${provider}" has no counterpart here that is known` };
  }
  const values = new Values(params, env);
  const channel = channelBy(rule, alias, model, entry, values);
  if (values.missing.length === 0) return channel;
  const names = values.missing.join(' and ');
  plan.toDo.push(
    `Set ${names}, as LiteLLM had it, and run the command again: model ${alias} needs it.`,
  );
  return { what, why: `${names} is not set` };
}

/** The provider by its own member, by the prefix of the model, or else as LiteLLM knows the bare name. */
function providerOf(params: Fields, full: string): { provider: string; model: string } {
  const given = textIn(params, 'custom_llm_provider');
  const at = full.indexOf('/');
  const prefix = full.slice(0, Math.max(0, at));
  if (given !== undefined) {
    return { provider: given, model: prefix === given ? full.slice(at + 1) : full };
  }
  if (at > 0) return { provider: prefix, model: full.slice(at + 1) };
  return { provider: full.startsWith('rerank-') ? 'cohere' : full, model: full };
}

function channelBy(
  rule: ProviderRule,
  alias: string,
  model: string,
  entry: Fields,
  values: Values,
): CarriedChannel {
  const params = fieldsOf(entry.litellm_params);
  const base = values.of('api_base', rule.base === undefined ? [] : [rule.base]);
  const { keys, open = false } = rule;
  const apiKey = values.of('api_key', keys, keys.length > 0 && !open);
  const read = (map: ProviderRule['settings'] = {}, required: boolean): Record<string, string> =>
    Object.fromEntries(
      Object.entries(map).flatMap(([name, [param, variable]]) => {
        const value = values.of(param, variable === undefined ? [] : [variable], required);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const order = numberIn(params, 'order');
  const timeout = numberIn(params, 'timeout');
  const tags = namesIn(params, 'tags');
  return {
    name: alias,
    provider: typeof rule.provider === 'string' ? rule.provider : rule.provider(base, model),
    models: { [alias]: model.replace(/^ranking\//, '') },
    credentials: read(rule.credentials, !open),
    settings: read(rule.settings, false),
    ...present({
      base_url: base === undefined ? undefined : serverOf(base, rule.keepsPath),
      api_key: apiKey,
      tag: tags.length === 0 ? undefined : tags.join('+'),
      // The lowest order comes first there; the highest priority here.
      priority: order === undefined ? undefined : -Math.round(order),
      weight: numberIn(params, 'weight'),
      requests_per_minute: limitIn(params, 'rpm') ?? limitIn(entry, 'rpm'),
      tokens_per_minute: limitIn(params, 'tpm') ?? limitIn(entry, 'tpm'),
      max_concurrency: limitIn(params, 'max_parallel_requests'),
      timeout_ms: timeout === undefined ? undefined : Math.round(timeout * 1_000),
    }),
  };
}

/** Settings with a counterpart in the configuration file are left to do; the others are named. */
function noteSettings(others: Fields, plan: Plan): void {
  const router = fieldsOf(others.router_settings);
  const litellm = fieldsOf(others.litellm_settings);
  const carried = new Set(plan.channels.flatMap(({ models = {} }) => Object.keys(models)));
  for (const entry of [...listIn(router, 'fallbacks'), ...listIn(litellm, 'fallbacks')]) {
    for (const model of Object.keys(fieldsOf(entry))) {
      const to = namesIn(fieldsOf(entry), model).filter((name) => carried.has(name));
      if (!carried.has(model) || to.length === 0) continue;
      plan.toDo.push(
        `Put the fallbacks of ${model} into the configuration: models: {${model}: {fallbacks: [${to.join(', ')}]}}.`,
      );
    }
  }
  for (const [alias, model] of Object.entries(textsIn(fieldsOf(router.model_group_alias)))) {
    if (carried.has(model)) {
      plan.toDo.push(
        `Put the alias ${alias} into the configuration: callers: {aliases: {${alias}: ${model}}}.`,
      );
    }
  }
  const ignored = new Set(['environment_variables']);
  const names = Object.entries(others).flatMap(([group, value]) => {
    if (ignored.has(group)) return [];
    const members = Object.keys(fieldsOf(value));
    return members.length === 0 ? [group] : members.map((member) => `${group}.${member}`);
  });
  const elsewhere = ['fallbacks', 'model_group_alias'].map((name) => `router_settings.${name}`);
  for (const name of names) {
    if (elsewhere.includes(name) || name === 'litellm_settings.fallbacks') continue;
    const why = 'a setting of LiteLLM; docs/configuration.md has those of this gateway';
    plan.notCarried.push({ what: name, why });
  }
}

function textsIn(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const text = textIn(fields, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}
