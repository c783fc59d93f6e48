import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_DISABLED,
  CHANNEL_ENABLED,
  type ChannelStatus,
} from '../core/channel.js';
import type { ChannelWire, EffectiveWire } from '../shapes/channel.js';
import type { TestedWire } from '../shapes/tested.js';
import { memberFacts } from './members.js';
import { counted, facts, moment, names } from './text.js';

export const STATUS: Readonly<Record<ChannelStatus, string>> = {
  [CHANNEL_ENABLED]: 'enabled',
  [CHANNEL_DISABLED]: 'disabled',
  [CHANNEL_AUTO_DISABLED]: 'disabled automatically',
};

export function describe(channel: ChannelWire): string {
  const settings = Object.entries(channel.settings).map(
    ([name, value]) => `${name}=${String(value)}`,
  );
  const credentials =
    channel.origin === 'config' ? 'in the configuration' : names(channel.credential_names, 'none');
  const keys = channel.key_count ?? 0;
  return facts([
    ['id', String(channel.id)],
    ['name', channel.name],
    ['provider', channel.provider],
    ['base URL', channel.base_url ?? "the provider's"],
    ['credentials', credentials],
    ...(keys > 1 ? [['API keys', `${keys}, which take turns`] as const] : []),
    ['settings', names(settings, 'none')],
    ['models', modelsText(channel)],
    ['tag', channel.tag ?? 'none'],
    ...memberFacts(CHANNEL_MEMBERS, channel),
    ['status', STATUS[channel.status]],
    ['in effect', inEffect(channel)],
    ...pauseFacts(channel.effective),
    ['origin', channel.origin],
  ]);
}

/** Whether it takes traffic, and how many gateways leave it alone for now. */
export function inEffect({ effective: state }: ChannelWire): string {
  const { paused: pauses, next_try: nextTry } = state;
  const next = nextTry === null ? '' : `, next try at ${moment(nextTry)}`;
  const whole = pauses.filter(({ key }) => key === null);
  if (!state.live || pauses.length === 0) return effective(state) + next;
  if (whole.length === 0)
    return `live, ${pauses.length === 1 ? 'one key rests' : 'some keys rest'}`;
  const gateways = whole.length === 1 ? 'one gateway' : `${whole.length} gateways`;
  return `live, paused by ${gateways}`;
}

function pauseFacts({ paused }: EffectiveWire): [string, string][] {
  return paused.map(({ node, key, state, reason, since, until }) => [
    key === null ? `on ${node}` : `key ${key} on ${node}`,
    `${state.replace('_', '-')} since ${moment(since)} (${reason}), until ${moment(until)}`,
  ]);
}

export function effective({ because, reason }: EffectiveWire): string {
  switch (because) {
    case null:
      return 'live';
    case 'disabled':
      return 'off: disabled';
    case 'auto_disabled':
      return `off: disabled automatically${reason === null ? '' : `, ${reason}`}`;
    case 'tag_disabled':
      return `off: its tag is switched off${reason === null ? '' : ` (${reason})`}`;
    case 'credentials_locked':
      return 'off: its credentials cannot be read with this encryption key';
    case 'unusable':
      return `off: ${reason ?? 'unusable'}`;
  }
}

export function modelsText({ models: served }: ChannelWire): string {
  return Object.entries(served)
    .map(([name, upstream]) => (name === upstream ? name : `${name}=${upstream}`))
    .join(', ');
}

export function describeTest(channel: string, tested: TestedWire): string {
  const { order, scores, score_scale: scale, usage, problem, warnings } = tested;
  const { upstream_model: upstreamModel } = tested;
  const model =
    tested.model === upstreamModel ? upstreamModel : `${tested.model} (${upstreamModel})`;
  const told = [
    ...(usage.input_tokens === null ? [] : [counted(usage.input_tokens, 'token')]),
    ...(usage.search_units === null ? [] : [counted(usage.search_units, 'search unit')]),
  ];
  const rows: [string, string][] = [
    ['model', model],
    ['sent to', tested.url ?? 'nowhere'],
    ['status', tested.status === null ? 'none' : String(tested.status)],
    ['latency', `${tested.latency_ms} ms`],
  ];
  if (order !== null && scores !== null && scale !== null) {
    rows.push(
      ['order', order],
      ['scores', `${scores.right} for the answer, ${scores.other} for the other`],
      ['scale', `${scale.observed}, expected ${scale.expected}`],
      ['usage told', names(told, 'none')],
    );
  }
  return [
    `${channel} ${problem === null ? 'works' : 'does not work'}.`,
    facts(rows),
    ...warnings,
  ].join('\n');
}
