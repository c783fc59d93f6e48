import type { ItemOf } from '../../api/call.js';
import { signOfChannel, type Trouble } from '../../lib/verdict.js';
import { channelWords } from '../../parts/troubles.js';
import { State } from '../../parts/values.js';
import { wp } from '../../words.js';

export type Channel = ItemOf<'listChannels'>;

/** Why a channel may take no traffic. */
export const REASONS = [
  ...(['disabled', 'auto_disabled', 'tag_disabled'] as const),
  ...(['credentials_locked', 'unusable'] as const),
];

/** Whether the channel takes traffic, and if not, why, in words. */
export function ChannelState({
  channel: { effective },
  trouble,
}: {
  readonly channel: Channel;
  readonly trouble: Trouble;
}) {
  const { reason } = effective;
  const state = channelWords(effective, trouble) || (wp().channels.states.live ?? '');
  return (
    <State sign={signOfChannel(effective, trouble)}>
      <span title={reason ?? undefined}>
        {reason === null ? state : wp().channels.because(state, reason)}
      </span>
    </State>
  );
}
