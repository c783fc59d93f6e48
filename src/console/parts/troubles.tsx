import { useRead } from '../api/query.js';
import { clock, percent } from '../lib/format.js';
import { signOfChannel, troubleOf, type Trouble } from '../lib/verdict.js';
import { faultWords, wp } from '../words.js';
import { Link } from './buttons.js';
import { State, style } from './values.js';

const EVERY_MS = 10_000;
const MINUTE_S = 60;
const HOUR_S = 3_600;

export type TroubleOf = (channel: { readonly id: number; readonly name: string }) => Trouble;

/** What each channel suffers from now. Every page asks what Overview asks for its last hour, so that all show the same. */
export function useTroubles(): TroubleOf {
  const end = minuteEnd();
  const query = overviewQuery({ start: end - HOUR_S, end });
  const { data } = useRead('getOverview', { query }, { everyMs: EVERY_MS });
  return (channel) =>
    data === undefined
      ? { failing: undefined, pauses: [] }
      : troubleOf(channel, data, Date.now() / 1_000);
}

/** A channel with its sign, and in words why it does not work as it should. */
export function NamedChannel({
  channel,
  trouble,
}: {
  readonly channel: Effective & { readonly id: number; readonly name: string };
  readonly trouble: Trouble;
}) {
  const words = channelWords(channel, trouble);
  return (
    <State sign={signOfChannel(channel, trouble)}>
      <Link to={`channels?open=${channel.id}`}>{channel.name}</Link>
      {words === '' ? '' : ` · ${words}`}
    </State>
  );
}

interface Effective {
  readonly live: boolean;
  readonly because: string | null;
}

/** Why a channel does not work as it should; empty if it does. */
export function channelWords({ live, because }: Effective, trouble: Trouble): string {
  if (live) return troubleWords(trouble);
  return wp().channels.states[because ?? 'off'] ?? because ?? '';
}

function troubleWords({ failing, pauses }: Trouble): string {
  return [
    ...(failing === undefined ? [] : [wp().channels.fails(percent(failing))]),
    ...pauses.map(pauseWords),
  ].join(' · ');
}

/** Which gateway leaves a channel alone, why, and until when. */
export function pauseWords({ node, why, until }: Trouble['pauses'][number]): string {
  const words = faultWords(why);
  const { pause, untilThen } = wp().nodes;
  return pause(node, until === null ? words : untilThen(words, clock(until, style())));
}

/** The end of the current minute, in unix seconds. */
export function minuteEnd(): number {
  return (Math.floor(Date.now() / 1_000 / MINUTE_S) + 1) * MINUTE_S;
}

export function overviewQuery({ start, end }: { readonly start: number; readonly end: number }) {
  const now = new Date();
  // The reader's own day.
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return {
    ...{ start_timestamp: start, end_timestamp: end },
    day_timestamp: day.getTime() / 1_000,
  };
}
