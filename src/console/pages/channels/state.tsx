import type { ItemOf } from '../../api/call.js';
import { isFailing } from '../../../core/attention.js';
import { percent } from '../../lib/format.js';
import { signOfChannel } from '../../lib/verdict.js';
import { State } from '../../parts/values.js';
import { faultWords, wp } from '../../words.js';

export type Channel = ItemOf<'listChannels'>;

/** Why a channel may take no traffic. */
export const REASONS = [
  ...(['disabled', 'auto_disabled', 'tag_disabled'] as const),
  ...(['credentials_locked', 'unusable'] as const),
];

/** Whether the channel takes traffic, and if not, why, in words. */
export function ChannelState({
  channel: { effective },
  recent,
}: {
  readonly channel: Channel;
  /** Its attempts of the last minutes. */
  readonly recent?: { readonly requests: number; readonly failed: number } | undefined;
}) {
  const { states } = wp().channels;
  const pause = effective.live ? pauseOf(effective.paused) : undefined;
  if (effective.live && recent !== undefined && isFailing(recent.requests, recent.failed)) {
    const share = percent(recent.failed / recent.requests);
    return (
      <State sign="bad">
        <span title={pause ?? wp().channels.fails(share)}>{wp().channels.fails(share)}</span>
      </State>
    );
  }
  if (pause !== undefined) return <State sign="busy">{pause}</State>;
  if (effective.live) return <State sign="ok">{states.live}</State>;
  const because = effective.because ?? 'off';
  return (
    <State sign={signOfChannel(effective)}>
      <span title={effective.reason ?? undefined}>
        {effective.reason === null
          ? (states[because] ?? because)
          : wp().channels.because(states[because] ?? because, effective.reason)}
      </span>
    </State>
  );
}

/** Who leaves a channel alone, for how long, and why; nodes tell of pauses that have just ended, too. */
function pauseOf(paused: Channel['effective']['paused']): string | undefined {
  const now = Date.now() / 1000;
  const pause = paused.find(({ until }) => until > now);
  if (pause === undefined) return undefined;
  const left = Math.ceil(pause.until - now);
  return wp().channels.pausedOn(pause.node, left, faultWords(pause.reason));
}
