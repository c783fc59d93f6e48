import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_DISABLED,
  CHANNEL_ENABLED,
  type ChannelStatus,
} from '../core/channel.js';
import type { ProbeReport } from '../core/probe.js';
import { snakeCase } from '../core/records.js';
import type { ChannelState, ChannelView } from '../management/channel-views.js';
import { memberFacts } from './members.js';
import { counted, facts, names } from './text.js';

export const STATUS: Readonly<Record<ChannelStatus, string>> = {
  [CHANNEL_ENABLED]: 'enabled',
  [CHANNEL_DISABLED]: 'disabled',
  [CHANNEL_AUTO_DISABLED]: 'disabled automatically',
};

export function describe(channel: ChannelView): string {
  const settings = Object.entries(channel.settings).map(
    ([name, value]) => `${snakeCase(name)}=${String(value)}`,
  );
  const credentials =
    channel.origin === 'config'
      ? 'in the configuration'
      : names(channel.credentialNames.map(snakeCase), 'none');
  return facts([
    ['id', String(channel.id)],
    ['name', channel.name],
    ['provider', channel.provider],
    ['base URL', channel.baseUrl ?? "the provider's"],
    ['credentials', credentials],
    ...((channel.keyCount ?? 0) > 1 ? [keyFact(channel.keyCount)] : []),
    ['settings', names(settings, 'none')],
    ['models', modelsText(channel)],
    ['tag', channel.tag ?? 'none'],
    ...memberFacts(CHANNEL_MEMBERS, channel),
    ['status', STATUS[channel.status]],
    ['in effect', inEffect(channel)],
    ...pauseFacts(channel),
    ['origin', channel.origin],
  ]);
}

function keyFact(count = 0): [string, string] {
  return ['API keys', `${count}, which take turns`];
}

/** Whether it takes traffic, and how many gateways leave it alone for now. */
export function inEffect({ state, sighted }: ChannelView): string {
  const { pauses, nextTryMs } = sighted;
  const next = nextTryMs === undefined ? '' : `, next try at ${timeText(nextTryMs)}`;
  const whole = pauses.filter(({ key }) => key === undefined);
  if (!state.live || pauses.length === 0) return effective(state) + next;
  if (whole.length === 0)
    return `live, ${pauses.length === 1 ? 'one key rests' : 'some keys rest'}`;
  const gateways = whole.length === 1 ? 'one gateway' : `${whole.length} gateways`;
  return `live, left alone by ${gateways}`;
}

function pauseFacts({ sighted: { pauses } }: ChannelView): [string, string][] {
  return pauses.map(({ node, key, state, reason, sinceMs, untilMs }) => [
    key === undefined ? `on ${node}` : `key ${key} on ${node}`,
    `${state.replace('_', '-')} since ${timeText(sinceMs)} (${reason}), until ${timeText(untilMs)}`,
  ]);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function effective(state: ChannelState): string {
  if (state.live) return 'live';
  switch (state.because) {
    case 'disabled':
      return 'off: disabled';
    case 'auto_disabled':
      return `off: disabled automatically${state.reason === undefined ? '' : `, ${state.reason}`}`;
    case 'tag_disabled':
      return `off: its tag is switched off${state.reason === undefined ? '' : ` (${state.reason})`}`;
    case 'credentials_locked':
      return 'off: its credentials cannot be read with this encryption key';
    case 'unusable':
      return `off: ${state.reason}`;
  }
}

export function modelsText({ models: served }: ChannelView): string {
  return Object.entries(served)
    .map(([name, upstream]) => (name === upstream ? name : `${name}=${upstream}`))
    .join(', ');
}

export function describeTest(channel: string, tested: ProbeReport): string {
  const { ranking, usage, problem, warnings, upstreamModel } = tested;
  const model =
    tested.model === upstreamModel ? upstreamModel : `${tested.model} (${upstreamModel})`;
  const told = [
    ...(usage.inputTokens === undefined ? [] : [counted(usage.inputTokens, 'token')]),
    ...(usage.searchUnits === undefined ? [] : [counted(usage.searchUnits, 'search unit')]),
  ];
  const rows: [string, string][] = [
    ['model', model],
    ['sent to', tested.url ?? 'nowhere'],
    ['status', tested.status === undefined ? 'none' : String(tested.status)],
    ['latency', `${tested.durationMs} ms`],
  ];
  if (ranking !== undefined) {
    const { order, scores, scale } = ranking;
    rows.push(
      ['order', order],
      ['scores', `${scores.right} for the answer, ${scores.other} for the other`],
      ['scale', `${scale.observed}, expected ${scale.expected}`],
      ['usage told', names(told, 'none')],
    );
  }
  return [
    `${channel} ${problem === undefined ? 'works' : 'does not work'}.`,
    facts(rows),
    ...warnings,
  ].join('\n');
}
