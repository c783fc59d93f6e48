import type { ApiError } from '../../api/call.js';
import { duration } from '../../lib/format.js';
import { Dialog, type Closable } from '../../parts/dialog.js';
import { Facts } from '../../parts/facts.js';
import { wp } from '../../words.js';
import type { Lane, Ranked } from './use-runs.js';

type Attempts = Ranked['attempts'];

/** The calls to channels that a failed ranking has beside its message. */
export function attemptsIn(error: ApiError): Attempts {
  const { attempts } = error.body;
  return Array.isArray(attempts) ? (attempts as Attempts) : [];
}

/** The calls to channels that a ranking took, in their order. */
export function Calls({ attempts }: { readonly attempts: Attempts }) {
  const words = wp().requests;
  const { noCalls } = wp().playground;
  if (attempts.length === 0) return <p class="muted small">{noCalls}</p>;
  return (
    <ol class="stack tight">
      {attempts.map(({ channel, outcome, status, duration_ms: ms, message }, at) => (
        <li key={at} class="small wrap">
          {words.attempt(at + 1)} {channel ?? '–'}:{' '}
          <b class={outcome === 'ok' ? '' : 'bad'}>{outcome}</b>
          {status === null ? '' : ` ${status}`}, {duration(ms)}
          {message === '' ? null : <span class="muted"> {message}</span>}
        </li>
      ))}
    </ol>
  );
}

/** Where the time of a lane's ranking went. */
export function LaneDetails({
  name,
  lane,
  onClose,
}: Closable & { readonly name: string; readonly lane: Lane }) {
  const words = wp().playground;
  const reply = lane.state === 'ranked' ? lane.reply : undefined;
  const attempts = reply?.attempts ?? (lane.state === 'failed' ? attemptsIn(lane.error) : []);
  return (
    <Dialog title={words.detailsOf(name)} onClose={onClose}>
      {reply && (
        <Facts
          of={[
            [wp().requests.duration, duration(reply.timing.total_ms)],
            [words.admission, duration(reply.timing.admission_ms)],
            [wp().requests.upstream, duration(reply.timing.upstream_ms)],
            [words.upstreamModel, reply.upstream_model],
            [words.scale, reply.score_scale],
          ]}
        />
      )}
      <Calls attempts={attempts} />
    </Dialog>
  );
}
