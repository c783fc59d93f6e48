import { about } from '../../about.js';
import type { ReplyOf } from '../../api/call.js';
import { attentionIn, type Attention } from '../../../core/attention.js';
import { clock, duration, percent } from '../../lib/format.js';
import { Button, Link } from '../../parts/buttons.js';
import { useMuted } from '../../parts/muted.js';
import { recordAddress } from '../../parts/record.js';
import { State, style } from '../../parts/values.js';
import { useAtom } from '../../state.js';
import { faultWords, wp } from '../../words.js';
import { rate, trafficName } from './lists.js';

export type OverviewData = ReplyOf<'getOverview'>;
export type Series = OverviewData['traffic'];

export function countOf(series: Series, outcome: string): number {
  return totalOf(series, outcome)?.requests ?? 0;
}

function totalOf({ series }: Series, outcome: string) {
  return series.find(({ key }) => key === outcome)?.total;
}

/** Latency is that of what went well: a refusal is quick, and says nothing about upstreams. */
export function latencyOf(series: Series) {
  return totalOf(series, 'ok') ?? { p50: null, p95: null, p99: null };
}

/** Whether everything is all right, in one sentence. */
export function Verdict({
  overview,
  tags,
  seconds,
}: {
  readonly overview: OverviewData;
  readonly tags: ReplyOf<'listTags'>;
  readonly seconds: number;
}) {
  const known = useAtom(about);
  const { traffic: series } = overview;
  const failed = countOf(series, 'failed');
  const things = attentionIn(overview, {
    tags,
    nowMs: Date.now(),
    timeOf: (at) => clock(at, style()).slice(0, 5),
    nameOf: trafficName,
    whyOf: faultWords,
    unheardRegistration: known?.registration === true && known.mail === 'outbox',
  });
  const words = wp().overview;
  const { isMuted, mute, unmuteAll } = useMuted();
  const told = things.filter((thing) => !isMuted(keyOf(thing)));
  const quiet = things.length - told.length;
  const again =
    quiet === 0 ? null : (
      <Button kind="quiet" onClick={unmuteAll}>
        {words.muted(quiet)}
      </Button>
    );
  if (told.length > 0) {
    return (
      <div class="notice" role="status">
        <div class="stack tight">
          <strong>{words.look(told.length)}</strong>
          <ul class="stack tight">
            {told.map((thing) => (
              <li key={keyOf(thing)} class="row">
                <State sign={FAILING.has(thing.kind) ? 'bad' : 'warn'}>
                  <Link to={placeOf(thing)}>{words.things(thing)}</Link>
                </State>
                <Button
                  kind="quiet"
                  label={words.muteOne(words.things(thing))}
                  onClick={() => mute(keyOf(thing))}
                >
                  {words.mute}
                </Button>
              </li>
            ))}
          </ul>
          {again}
        </div>
      </div>
    );
  }
  const { requests } = series.total;
  const { p95 } = latencyOf(series);
  return (
    <p role="status" class="row">
      <State sign="ok">
        {requests === 0
          ? words.quiet
          : words.fine(
              rate(requests / seconds),
              percent(failed / requests),
              p95 === null ? '–' : duration(p95),
            )}
      </State>
      {again}
    </p>
  );
}

const FAILING: ReadonlySet<Attention['kind']> = new Set([
  'channel_fails',
  'models_dark',
  'requests_fail',
]);

function keyOf(thing: Attention): string {
  const { kind, name } = thing;
  return thing.kind === 'runs_out' ? `${kind} ${thing.of} ${thing.id}` : `${kind} ${name}`;
}

function placeOf(thing: Attention): string {
  switch (thing.kind) {
    case 'requests_fail':
    case 'requests_failed':
      return 'requests?outcome=failed';
    case 'outbox':
      return 'people';
    case 'models_dark':
      return 'models';
    case 'slow':
      return `requests?span=1h&slower=${Math.round(thing.before * 2)}`;
    case 'keys_end':
      return 'keys?status=soon';
    case 'runs_out':
      return recordAddress(thing.of, thing.id);
    case 'tag_off':
      return `tags?open=${encodeURIComponent(thing.name)}`;
    case 'channel_fails':
    case 'channel_unusable':
      return `channels?keyword=${encodeURIComponent(thing.name)}`;
    case 'node':
    case 'settlements':
      return 'nodes';
  }
}
