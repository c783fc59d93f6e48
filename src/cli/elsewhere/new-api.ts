import { isRecord, present } from '../../core/records.js';
import { counted } from '../text.js';
import { addHolders } from './new-api-holders.js';
import {
  ENABLED,
  groupsOf,
  isLive,
  objectIn,
  whatOf,
  type NewApiRows,
  type Row,
  type Tags,
} from './new-api-rows.js';
import {
  emptyPlan,
  freeName,
  isRerankerName,
  namesIn,
  numberIn,
  textIn,
  type CarriedChannel,
  type Plan,
} from './plan.js';

/** Its types of channels that rerank, by number. */
const PROVIDERS: Readonly<Record<number, string>> = {
  1: 'openai-compatible',
  17: 'dashscope',
  34: 'cohere',
  38: 'jina',
  40: 'siliconflow',
  46: 'baidu',
  47: 'xinference',
};
/** These have no address of their own that reranks. */
const NEEDS_ADDRESS = [1, 47];
const AUTO_DISABLED = 3;

/** What new-api's tables hold, as channels, accounts, keys and codes here. */
export function planOfNewApi(rows: NewApiRows, nowMs: number): Plan {
  const plan = emptyPlan();
  const channels = rows.channels.filter((row) => isLive(row) && canRerank(row, plan));
  const tags = tagsOf(channels);
  const names = new Set<string>();
  for (const row of channels) {
    const name = freeName(textIn(row, 'name') ?? `channel ${textIn(row, 'id') ?? ''}`, names);
    names.add(name);
    plan.channels.push(channelOf(row, name, tags, plan));
  }
  addHolders(plan, rows, tags, nowMs);
  const prices = rows.options.map((row) => textIn(row, 'key') ?? '');
  if (prices.some((key) => /^(ModelRatio|ModelPrice|GroupRatio)$/.test(key))) {
    plan.toDo.push(
      'Set the prices of the models: ratios of models and groups are not carried over.',
    );
  }
  if (plan.users.length > 0) {
    plan.toDo.push(
      'Passwords cannot be carried over: accounts ask for a reset at the login page, or "users update" sets one.',
    );
  }
  return plan;
}

function canRerank(row: Row, plan: Plan): boolean {
  const type = numberIn(row, 'type') ?? 0;
  const why =
    Object.keys(rerankersOf(row)).length === 0
      ? 'none of its models looks like a reranker'
      : !('auto_ban' in row)
        ? 'it is of one-api, which does not rerank'
        : PROVIDERS[type] === undefined
          ? `new-api's channels of type ${type} have no counterpart here that is known`
          : NEEDS_ADDRESS.includes(type) && textIn(row, 'base_url') === undefined
            ? 'it has no address that reranks'
            : undefined;
  if (why !== undefined) plan.notCarried.push({ what: whatOf('channel', row), why });
  return why === undefined;
}

function tagsOf(channels: readonly Row[]): Tags {
  return new Map(channels.map((row) => [groupsOf(row).join('+'), groupsOf(row)]));
}

function channelOf(row: Row, name: string, tags: Tags, plan: Plan): CarriedChannel {
  const what = `channel ${name}`;
  const status = numberIn(row, 'status') ?? ENABLED;
  if (status === AUTO_DISABLED) plan.toDo.push(`Test and enable ${what}: new-api had disabled it.`);
  const models = rerankersOf(row);
  const others = namesIn(row, 'models').filter((model) => !Object.hasOwn(models, model));
  if (others.length > 0) {
    const why = 'they do not look like rerankers; "channels update --models" adds those that are';
    plan.notCarried.push({ what: `${others.join(', ')} of ${what}`, why });
  }
  if (isSet(row, 'model_mapping') && objectIn(row, 'model_mapping') === undefined) {
    plan.notCarried.push({ what: `model_mapping of ${what}`, why: 'it is not a JSON object' });
  }
  for (const column of ['param_override', 'header_override', 'status_code_mapping']) {
    if (isSet(row, column)) {
      plan.notCarried.push({ what: `${column} of ${what}`, why: 'there is no such setting here' });
    }
  }
  const proxy = objectIn(row, 'setting')?.proxy;
  if (typeof proxy === 'string' && proxy !== '') {
    plan.notCarried.push({ what: `proxy of ${what}`, why: 'there is no such setting here' });
  }
  const keys = keysOf(row, what, plan);
  return {
    name,
    models,
    status: status === ENABLED ? 1 : 2,
    // A weight of 0 takes part there; here it is the last resort.
    weight: Math.max(1, numberIn(row, 'weight') ?? 0),
    priority: numberIn(row, 'priority') ?? 0,
    ...(keys.length > 1 ? { api_keys: keys } : present({ api_key: keys[0] })),
    ...serverOf(row),
    ...present({ tag: tags.size > 1 ? groupsOf(row).join('+') : textIn(row, 'tag') }),
  };
}

/** Whether a column of JSON or text says anything. */
function isSet(row: Row, column: string): boolean {
  return !['', '{}', 'null'].includes(textIn(row, column) ?? '');
}

/** Where its requests go. new-api asks a server of one's own that is like Cohere's for its first API. */
function serverOf(row: Row): Pick<CarriedChannel, 'provider' | 'base_url'> {
  const type = numberIn(row, 'type') ?? 0;
  const provider = PROVIDERS[type] ?? '';
  const url = textIn(row, 'base_url')?.replace(/\/+$/, '');
  if (url === undefined) return { provider };
  const isForeign = provider === 'cohere' && !/^https:\/\/api\.cohere\.(ai|com)$/.test(url);
  return { provider: isForeign ? 'cohere-v1' : provider, base_url: url };
}

/** Its rerankers by their names here and upstream. A name may be mapped to one that is mapped again. */
function rerankersOf(row: Row): Record<string, string> {
  const mapping = new Map(Object.entries(objectIn(row, 'model_mapping') ?? {}));
  function upstreamOf(name: string): string {
    const seen = new Set<unknown>();
    let at: unknown = name;
    for (; mapping.get(String(at)) && !seen.has(at); at = mapping.get(String(at))) seen.add(at);
    return String(at);
  }
  const models = namesIn(row, 'models').map((name): [string, string] => [name, upstreamOf(name)]);
  return Object.fromEntries(models.filter((names) => names.some(isRerankerName)));
}

/** Its keys, one a line, without those that new-api has stopped using, unless it has stopped using all of them. */
function keysOf(row: Row, what: string, plan: Plan): string[] {
  const keys = (textIn(row, 'key') ?? '').split('\n').map((line) => line.trim());
  const statuses = objectIn(row, 'channel_info')?.multi_key_status_list;
  const isOn = (at: number): boolean =>
    !isRecord(statuses) || (statuses[String(at)] ?? ENABLED) === ENABLED;
  const on = keys.filter((key, at) => key !== '' && isOn(at));
  const all = keys.filter((key) => key !== '');
  if (on.length === 0 || on.length === all.length) return all;
  const off = all.length - on.length;
  plan.notCarried.push({
    what: `${counted(off, 'key')} of ${what}`,
    why: `new-api had disabled ${off === 1 ? 'it' : 'them'}`,
  });
  return on;
}
